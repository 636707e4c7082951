"""A run that ended early, or whose steps are others than the history's, is no pass."""

from __future__ import annotations

import pytest


def _judge(build, points, counts, expect=None, steps="last"):
    rows = build.rows([{-1: 1.0} for _ in counts], counts)
    spec = build.spec(steps=steps, expect=expect)
    return build.judge(spec, build.record(m=dict.fromkeys(range(points), 1.0)), build.reader(m=rows))


@pytest.mark.parametrize(
    ("points", "counts", "trusted"),
    [
        (8, [10, 10, 10], True),
        (7, [10, 10, 10], False),
        (1, [10, 10, 10], False),
        (4, [5, 5, 5, 5, 5], True),
        (7, [10, 9, 8, 9, 10, 100, 100], False),
        (8, [10, 9, 8, 9, 10, 100, 100], True),
        (1, [10, 10], True),
    ],
)
def test_fewer_points_than_usual_are_an_error(build, points, counts, trusted):
    """Under 0.8 of the median of the newest five, from three runs on."""
    assert _judge(build, points, counts).trusted is trusted


def test_the_sentence_gives_both_numbers(build):
    """What there was and what is needed."""
    reason = _judge(build, 1, [10, 10, 10]).specs[0].checks["selection"].reason
    assert reason == "m ended early: 1 point, needs 8 (0.8 of the usual 10)"


def test_with_a_short_history_it_is_a_warning(build):
    """Two runs do not say what is usual, but somebody should look."""
    (notice,) = _judge(build, 1, [10, 10]).warnings
    assert (notice.kind, notice.metric_key) == ("few_points", "m")


def test_expected_points_replace_the_rule(build):
    """Who says how many points there must be is believed."""
    assert _judge(build, 1, [10, 10, 10], expect=(1, False)).trusted


@pytest.mark.parametrize("ratio", [0.7, 0.29, 0.57])
def test_the_ratio_is_decimal(build, ratio):
    """0.7 x 10 is 7, not a hair more: exactly enough points are enough."""
    rows = build.rows([{-1: 1.0}] * 3, [100] * 3)
    record = build.record(m=dict.fromkeys(range(round(100 * ratio)), 1.0))
    policy = type(build.STRICT)(min_points_ratio=ratio)
    assert build.judge(build.spec(steps="last"), record, build.reader(m=rows), policy).trusted


@pytest.mark.parametrize(
    ("first", "runs", "trusted"), [(0, 3, True), (2, 3, True), (3, 3, False), (100, 3, False), (100, 2, True)]
)
def test_steps_that_do_not_meet_history_are_an_error(build, first, runs, trusted):
    """Half of this run's steps must have a baseline; otherwise a shifted run would be one big cold start."""
    rows = build.rows([dict.fromkeys(range(4), 1.0)] * runs)
    verdict = build.judge(
        build.spec(), build.record(m=dict.fromkeys(range(first, first + 4), 1.0)), build.reader(m=rows)
    )
    assert verdict.trusted is trusted
    if not trusted:
        assert "steps do not match history" in verdict.specs[0].checks["selection"].reason


def test_a_bad_coordinate_alone_is_counted(build):
    """The gate spec says how many of its coordinates could not be judged."""
    judged = build.judge(build.spec(), build.record(m={0: 1.0, 1: float("nan")})).specs[0]
    assert judged.checks["selection"].reason == "1 of 2 cannot be judged"

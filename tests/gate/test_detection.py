"""What drift checks are for, on simulated nights; the measured rates are those of ``benchmarks/detection``."""

from __future__ import annotations

import numpy as np
import pytest

from gate.spec import DRIFT_CHECKS
from gate.verdict import Status

KL = {"rel_up": 0.5, "abs_floor_up": 0.02, "rel_down": 0.8, "abs_floor_down": 0.02}
STEPS, ANCHOR, NIGHTS, HISTORIES = 20, 20, 30, 8


def _nights(seed, drift=0.0, growth=1.0):
    """Levels of 0.05 with noise of sd 0.002 at each step; from the night after the anchor on a drift per night, and
    noise that is ``growth`` times as large.
    """
    noise = np.random.default_rng(seed).normal(0.0, 0.002, (ANCHOR + NIGHTS, STEPS))
    noise[ANCHOR:] *= growth
    return 0.05 + noise + drift * np.maximum(0, np.arange(1, ANCHOR + NIGHTS + 1) - ANCHOR)[:, None]


def _red_nights(build, values, checks):
    """The nights, counted from the anchor, that fail when each is judged against those before it and trusted ones stay
    in the baseline; a night that fails leaves it.
    """
    kept, red = [dict(enumerate(row)) for row in values[:ANCHOR]], []
    for night in range(ANCHOR, len(values)):
        points = dict(enumerate(values[night]))
        reader = build.reader(m=build.past(build.rows(kept[::-1])))
        judged = build.judge(build.spec(constraint=KL, checks=checks), build.record(m=points), reader, build.BALANCED)
        if judged.trusted:
            kept.append(points)
        else:
            red.append((night - ANCHOR + 1, judged.specs[0]))
    return red


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_a_slow_drift_is_caught_and_the_corridor_alone_never_sees_it(build, seed):
    """0.001 a night at sd 0.002: caught well before night 30, while the rolling corridor follows it."""
    values = _nights(seed, 0.001)
    first, judged = _red_nights(build, values, ("anchor", "shift"))[0]
    assert first < NIGHTS
    assert judged.checks["shift"].status is Status.FAIL
    assert _red_nights(build, values, ()) == []


@pytest.mark.parametrize("growth", [1.6, 0.6])
def test_noise_that_grows_or_shrinks_is_caught_by_the_spread_alone(build, growth):
    """By three fifths: within 25 nights in most histories, where anchor and shift see nothing."""
    caught = 0
    for seed in range(HISTORIES):
        values = _nights(200 + seed, growth=growth)[: ANCHOR + 25]
        assert len(_red_nights(build, values, ("anchor", "shift"))) <= 1
        red = _red_nights(build, values, ("spread",))
        caught += bool(red) and red[0][1].checks["spread"].status is Status.FAIL
    assert caught >= HISTORIES - 2


def test_noise_alone_is_left_in_peace(build):
    """240 nights without drift: the expected number of false alarms is below one, and there are no more than three."""
    assert sum(len(_red_nights(build, _nights(100 + seed), DRIFT_CHECKS)) for seed in range(HISTORIES)) <= 3

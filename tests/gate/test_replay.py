"""A stored verdict judged again comes out the same."""

from __future__ import annotations

import math

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.errors import DriftgateError
from gate.replay import referenced_runs, replay
from gate.verdict_json import to_json, to_stored

VALUES = st.one_of(st.floats(0.8, 1.3), st.floats(), st.sampled_from([1.7e308, -0.0, 5e-324]))
FINITE = VALUES.filter(math.isfinite)
STEPS = st.integers(0, 12)
POINTS = st.lists(st.tuples(st.one_of(STEPS, STEPS, STEPS, st.none()), VALUES), max_size=16)
RUNS = st.lists(st.tuples(st.dictionaries(st.integers(-1, 12), FINITE, min_size=1), st.integers(1, 13)), max_size=9)
RULES = st.sampled_from(["all", "last", [0, 3], {"reduce": "mean", "last": 2}, {"reduce": "max"}])
POLICIES = st.tuples(st.sampled_from(["strict", "balanced"]), st.integers(1, 4))


def _again(build, verdict, rows):
    """Through JSON, and with the rows of the referenced runs only."""
    stored = orjson.loads(orjson.dumps(to_stored(verdict)))
    wanted = referenced_runs(stored)
    key = verdict.specs[0].spec.key
    runs = [build.stored_run(key, row) for row in reversed(rows) if row.run.run_id in wanted]
    return replay(stored, build.stored_values(verdict), runs)


@given(rule=RULES, points=POINTS, runs=RUNS, facts=POLICIES, limits=st.sampled_from([None, (0.9, 1.2)]))
def test_replay_gives_the_same_verdict(build, rule, points, runs, facts, limits):
    """From what is stored, the run's values and the named runs alone: to the last digit of the JSON form."""
    policy = type(build.STRICT)(profile=facts[0], history=facts[1])
    rows = build.rows([values for values, _ in runs], [count for _, count in runs])
    verdict = build.judge(build.spec("m", rule, limits=limits), build.record(m=points), build.reader(m=rows), policy)
    assert to_json(_again(build, verdict, rows)) == to_json(verdict)


@given(
    levels=st.lists(st.sampled_from([1.0, 1.0, 1.01, 0.99, 1.06, 1.2, 1.7e308, 5e-324]), min_size=9, max_size=36),
    gaps=st.frozensets(st.tuples(st.integers(0, 35), st.integers(0, 3)), max_size=6),
    facts=st.tuples(st.sampled_from(["strict", "balanced"]), st.integers(2, 20), st.sampled_from([10, 12, 20])),
    checks=st.sampled_from([("anchor", "shift", "spread"), ("anchor",), ("shift",), ()]),
)
def test_replay_gives_the_same_drift(build, levels, gaps, facts, checks):
    """Anchor and shift too, with the run where a move began, from the named runs alone."""
    policy = type(build.STRICT)(profile=facts[0], history=facts[1], anchor_runs=facts[2])
    runs = [{s: level for s in range(4) if (n, s) not in gaps} or {4: 1.0} for n, level in enumerate(levels)]
    rows = build.rows(runs[1:])
    history = build.past(rows, policy.anchor_runs)
    verdict = build.judge(build.spec(checks=checks), build.record(m=runs[0]), build.reader(m=history), policy)
    assert to_json(_again(build, verdict, rows)) == to_json(verdict)


@given(
    sizes=st.lists(st.sampled_from([0.01, 0.01, 0.011, 0.012, 0.03, 1e308]), min_size=31, max_size=36),
    later=st.sampled_from([0.2, 1.0, 3.0]),
)
def test_replay_gives_the_same_spread(build, sizes, later):
    """With the run where it began, from the named runs alone."""
    grown = [size * (later if number >= 20 and size < 1 else 1.0) for number, size in enumerate(sizes)]
    runs = [{s: size * (-1) ** (s + number) for s in range(8)} for number, size in enumerate(grown)]
    rows = build.rows(runs[-2::-1])
    verdict = build.judge(build.spec(), build.record(m=runs[-1]), build.reader(m=build.past(rows)))
    assert to_json(_again(build, verdict, rows)) == to_json(verdict)


def test_a_drift_check_that_a_stored_verdict_does_not_know_is_not_asked(build):
    """A verdict from before there was the check replays as what it was, although the check would fail the run today."""
    runs = [{s: size * (-1) ** (s + n) for s in range(8)} for n, size in enumerate([0.01] * 20 + [0.03] * 10)]
    rows = build.rows(runs[-2::-1])
    asked = build.reader(m=build.past(rows))
    today, before = (
        build.judge(build.spec(**declared), build.record(m=runs[-1]), asked)
        for declared in ({}, {"checks": ("anchor", "shift")})
    )
    assert (today.trusted, before.trusted) == (False, True)
    assert to_json(_again(build, before, rows)) == to_json(before)


def test_replay_needs_the_runs_of_the_anchor(build):
    """As those of the baseline: a pruned one is named."""
    rows = build.rows([{0: 1.0}] * 45)
    verdict = build.judge(build.spec(), build.record(m={0: 1.0}), build.reader(m=build.past(rows)))
    assert len(referenced_runs(to_stored(verdict))) == 40
    with pytest.raises(DriftgateError, match=f"m: the values of run {1:032x} are not in the store"):
        _again(build, verdict, rows[:-1])


def test_replay_is_a_judgement_and_no_echo(build):
    """Negative control: with another baseline value the verdict differs."""
    rows = build.rows([{0: 1.0}] * 3)
    verdict = build.judge(build.spec(), build.record(m={0: 1.05}), build.reader(m=rows))
    assert _again(build, verdict, rows).trusted
    assert not _again(build, verdict, build.rows([{0: 0.5}] * 3)).trusted


def test_replay_of_a_missing_metric_and_of_no_declaration(build):
    """What the record alone showed is taken from the stored verdict."""
    for verdict in (build.judge(build.spec(), build.record()), build.judge([], build.record())):
        assert to_json(replay(to_stored(verdict), build.stored_values(verdict), [])) == to_json(verdict)


def test_replay_without_a_row_says_which(build):
    """A pruned run cannot be made up for."""
    rows = build.rows([{0: 1.0}] * 3)
    verdict = build.judge(build.spec(), build.record(m={0: 1.0}), build.reader(m=rows))
    with pytest.raises(DriftgateError, match=f"m: the values of run {3:032x} are not in the store"):
        _again(build, verdict, rows[1:])

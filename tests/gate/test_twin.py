"""The vectorised gate and its slow plain twin agree on every status."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

STEPS = st.integers(0, 14)
TINY = 5e-324
EDGES = [
    0.0,
    -0.0,
    TINY,
    -TINY,
    2.3e-308,
    1e308,
    -1e308,
    1.7e308,
    -1.7e308,
    sys.float_info.max,
    0.1,
    1.0,
    1.05,
    1.1,
    1.2,
]
FINITE = st.one_of(st.sampled_from(EDGES), st.floats(0.5, 1.5), st.floats(allow_nan=False, allow_infinity=False))
VALUES = st.one_of(FINITE, FINITE, FINITE, st.floats())
RUNS = st.lists(st.tuples(st.dictionaries(STEPS, FINITE, min_size=1), st.integers(1, 20)), max_size=8)
PLACED = st.dictionaries(STEPS, VALUES).map(lambda found: list(found.items()))
POINTS = st.one_of(PLACED, st.lists(st.tuples(st.one_of(STEPS, st.none()), VALUES), max_size=12))
WIDTHS = st.sampled_from([0.0, TINY, 0.1, 0.5, 1.0, 1e300, 1e308])
CONSTRAINTS = st.fixed_dictionaries(dict.fromkeys(("rel_up", "abs_floor_up", "rel_down", "abs_floor_down"), WIDTHS))
REDUCTIONS = st.fixed_dictionaries(
    {"reduce": st.sampled_from(["mean", "median", "min", "max", "p50", "p95"])},
    optional={"last": st.integers(1, 6), "from": st.integers(0, 10)},
)
RULES = st.one_of(st.just("all"), st.just("last"), st.lists(STEPS, min_size=1, unique=True), REDUCTIONS)
LIMITS = st.one_of(st.none(), st.sampled_from([(0.0, 1.0), (None, 1.0), (-1e308, None)]))
EXPECTED = st.one_of(st.none(), st.tuples(st.integers(1, 12), st.booleans()))
POLICIES = st.tuples(st.sampled_from(["strict", "balanced"]), st.integers(1, 6), st.sampled_from([0.8, 0.7, 1.0]))


def _statuses(judged):
    spec = {name: check.status.label for name, check in judged.checks.items()}
    coordinates = {}
    for index, step in enumerate(judged.steps.tolist()):
        from_checks = {name: type(judged.status)(column.status[index]).label for name, column in judged.columns.items()}
        coordinates[step] = {n: label for n, label in from_checks.items() if n != "selection" or label == "error"}
    return spec, coordinates


@pytest.fixture(scope="session")
def policy_of(build):
    return lambda facts: type(build.STRICT)(profile=facts[0], history=facts[1], min_points_ratio=facts[2])


@given(declared=st.tuples(RULES, CONSTRAINTS, LIMITS, EXPECTED), points=POINTS, past=st.tuples(RUNS, POLICIES))
def test_twin_agrees(build, twin, policy_of, declared, points, past):
    """Same statuses for every coordinate and every gate spec, whatever the record and the history hold."""
    runs, facts = past
    spec, policy = build.spec("m", *declared), policy_of(facts)
    stored = build.rows([values for values, _ in runs], [count for _, count in runs])
    judged = build.judge(spec, build.record(m=points), build.reader(m=build.past(stored)), policy).specs[0]
    assert _statuses(judged) == twin.verdict(spec, points, runs, policy)


@given(base=st.lists(st.floats(0.9, 1.1), min_size=20, max_size=60), data=st.data())
def test_twin_agrees_on_the_quorum(build, twin, policy_of, base, data):
    """The same over enough coordinates for the quorum to matter, a few of them far out."""
    size = len(base)
    moved = data.draw(st.dictionaries(st.integers(0, size - 1), st.sampled_from([1.15, 1.19, 1.3, 0.85]), max_size=5))
    points = [(step, moved.get(step, 1.0)) for step in range(size)]
    runs = [(dict(enumerate(base)), size)] * 3
    spec, policy = build.spec(), policy_of(("balanced", 20, 0.8))
    stored = build.rows([values for values, _ in runs])
    judged = build.judge(spec, build.record(m=points), build.reader(m=build.past(stored)), policy).specs[0]
    assert _statuses(judged) == twin.verdict(spec, points, runs, policy)


LEVELS = st.sampled_from([0.0, -0.0, 1.0, 1.0, 1.004, 1.01, 1.05, 0.96, 1.2, TINY, 3 * TINY, 1e308, -1.7e308])
GAPS = st.one_of(st.just(frozenset()), st.just(frozenset()), st.frozensets(st.integers(0, 3), max_size=3))
PAST = st.lists(st.tuples(LEVELS, GAPS), max_size=32)
DRIFT_POLICIES = st.tuples(
    st.sampled_from(["strict", "balanced"]), st.sampled_from([1, 2, 10, 12, 15, 20, 20, 30]), st.integers(5, 11)
)


@given(past=PAST, points=st.dictionaries(st.integers(0, 3), VALUES), facts=DRIFT_POLICIES, declared=CONSTRAINTS)
def test_twin_agrees_on_drift(build, twin, past, points, facts, declared):
    """Anchor and shift too: levels that move or stand still, steps that come and go, histories of any length."""
    policy = type(build.STRICT)(profile=facts[0], history=12, anchor_runs=facts[1], shift_runs=facts[2])
    runs = [({s: level for s in range(4) if s not in gaps} or {9: 1.0}, 4) for level, gaps in past]
    spec = build.spec("m", "all", declared)
    history = build.past(build.rows([values for values, _ in runs], [4] * len(runs)), policy.anchor_runs)
    judged = build.judge(spec, build.record(m=points), build.reader(m=history), policy).specs[0]
    assert _statuses(judged) == twin.verdict(spec, list(points.items()), runs, policy)


@given(
    move=st.sampled_from([0.0, 0.0019, 0.002, 0.0021, -0.003, 0.01, 0.06]),
    noise=st.lists(st.floats(-0.01, 0.01), min_size=40, max_size=40),
    size=st.integers(1, 12),
    profile=st.sampled_from(["strict", "balanced"]),
)
def test_twin_agrees_on_a_full_anchor(build, twin, move, noise, size, profile):
    """Noise shared by the steps, and a move after the anchor, so that the threshold is met from both sides."""
    policy = type(build.STRICT)(profile=profile)
    levels = [1 + shared + (move if number >= 20 else 0.0) for number, shared in enumerate(noise)]
    runs = [({step: level + step / 100 for step in range(size)}, size) for level in reversed(levels[:-1])]
    points = {step: levels[-1] + step / 100 for step in range(size)}
    spec = build.spec("m", "all", {"abs_floor_up": 0.05, "abs_floor_down": 0.04})
    history = build.past(build.rows([values for values, _ in runs]))
    judged = build.judge(spec, build.record(m=points), build.reader(m=history), policy).specs[0]
    assert _statuses(judged) == twin.verdict(spec, list(points.items()), runs, policy)


SIZES = st.lists(st.sampled_from([0.0, 0.1, 0.11, 0.15, 0.2, 1e-9, 1e308]), min_size=31, max_size=40)
GROWTHS = st.sampled_from([0.5, 0.7, 1.0, 1.0, 1.2, 1.5, 3.0])
ANCHORS = st.tuples(st.sampled_from(["strict", "balanced"]), st.sampled_from([10, 15, 20]), st.integers(9, 11))


@given(noise=st.tuples(SIZES, GROWTHS), size=st.integers(7, 12), facts=ANCHORS, width=WIDTHS)
def test_twin_agrees_on_spread(build, twin, noise, size, facts, width):
    """Curves around which the noise stands still, grows, shrinks or vanishes, on both sides of the fewest steps."""
    policy = type(build.STRICT)(profile=facts[0], anchor_runs=facts[1], shift_runs=facts[2])
    spreads = [spread * (noise[1] if number >= 20 and spread < 1 else 1.0) for number, spread in enumerate(noise[0])]
    curves = [
        {step: spread * ((-1) ** (step + number) * (1 + step / 9) / 3) for step in range(size)}
        for number, spread in enumerate(spreads)
    ]
    spec = build.spec("m", "all", {"abs_floor_up": width, "abs_floor_down": width})
    runs = [(curve, size) for curve in reversed(curves[:-1])]
    history = build.past(build.rows([curve for curve, _ in runs]), policy.anchor_runs)
    judged = build.judge(spec, build.record(m=curves[-1]), build.reader(m=history), policy).specs[0]
    assert _statuses(judged) == twin.verdict(spec, list(curves[-1].items()), runs, policy)


@given(runs=st.lists(st.dictionaries(STEPS, FINITE, min_size=1), min_size=1, max_size=9), history=st.integers(1, 6))
def test_twin_means_are_bit_identical(build, twin, runs, history):
    """The reference itself agrees to the last bit, not only the status it leads to."""
    from gate.baseline import Baseline

    steps = sorted({step for values in runs for step in values})
    baseline = Baseline.of(build.rows(runs), build.np.array(steps), history)
    expected = [twin.reference(runs, step, history) for step in steps]
    assert list(zip(baseline.n.tolist(), baseline.mean.tolist(), strict=True)) == expected

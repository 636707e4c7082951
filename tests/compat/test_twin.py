"""The judgement equals a plain twin of the reference's rule, over driftgate's store and over one of somebody's own."""

import json
import uuid

import compat_builders as build
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftgate.compat import CIRegistry, GateStatus, HWBackend, RunIdentity, SQLiteMetricHistoryStore, evaluate_gate

LAWS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
STEPS = range(4)
NUMBERS = st.integers(-400, 400).map(lambda number: number / 64)
"""Sums of these are exact in any order, so that twins agree on the bounds themselves."""
WIDTHS = st.sampled_from([0.0, 0.125, 0.25, 0.3, 0.5, 1.0])
CONSTRAINTS = st.fixed_dictionaries(
    {"rel_up": WIDTHS, "rel_down": WIDTHS}, optional={"abs_floor_up": WIDTHS, "abs_floor_down": WIDTHS}
)
VALUES = st.dictionaries(st.sampled_from(STEPS), NUMBERS, min_size=1)
RUNS = st.lists(st.tuples(st.integers(1, 9), st.booleans(), VALUES), max_size=8)
"""Night, trust, values by step."""


@pytest.fixture(scope="module")
def shared():
    """One store for all examples: each has a test path of its own."""
    with SQLiteMetricHistoryStore() as opened:
        yield opened


def _twin(runs, step, value, constraint, limit):
    """Mean of at most ``limit`` newest trusted values, a closed interval around it, strict; status, n, mean."""
    newest_first = sorted(enumerate(runs), key=lambda row: (row[1][0], row[0]), reverse=True)
    values = [by_step[step] for _, (_, trusted, by_step) in newest_first if trusted and step in by_step][:limit]
    if not values:
        return GateStatus.INACTIVE, 0, None
    mean = sum(values) / len(values)
    up = max(constraint["rel_up"] * abs(mean), constraint.get("abs_floor_up", 0.0))
    down = max(constraint["rel_down"] * abs(mean), constraint.get("abs_floor_down", 0.0))
    inside = mean - down <= value <= mean + up
    return GateStatus.PASS if inside else GateStatus.FAIL, len(values), mean


@LAWS
@given(runs=RUNS, current=VALUES, constraint=CONSTRAINTS, limit=st.integers(1, 5))
def test_every_coordinate_is_judged_as_the_twin_says(shared, tmp_path, runs, current, constraint, limit):
    """Status, count and mean, in both kinds of store; the run is trusted if none fails."""
    test = tmp_path / "test_a.py"
    test.write_text(f'register_ci_gate(metric_key="m", steps="all", constraint={constraint!r})\n')
    record = tmp_path / "merged.jsonl"
    record.write_text(json.dumps({"metric": "m", "series": sorted(current.items())}))
    ran = CIRegistry(HWBackend.CUDA, f"tests/{uuid.uuid4()}.py", 1.0, "suite")
    band = json.dumps(constraint, sort_keys=True, separators=(",", ":"))
    expected = [(step, *_twin(runs, step, value, constraint, limit)) for step, value in sorted(current.items())]
    for store in (shared, build.OwnStore()):
        for night, trusted, values in runs:
            samples = [build.sample(value, steps='"all"', band=band, step=step) for step, value in values.items()]
            identity = RunIdentity(ran.filename, "cuda", "suite")
            build.write(store, 0.0, night, identity=identity, trusted=trusted, values=samples)
        result = evaluate_gate(str(test), str(record), store, registry=ran, history_limit=limit)
        found = [(row.step, row.historical_status, row.baseline_n, row.baseline_mean) for row in result.metrics]
        assert found == expected
        assert result.trusted is all(status is not GateStatus.FAIL for _, status, _, _ in expected)


@pytest.mark.parametrize(("value", "status"), [(1.5, GateStatus.PASS), (1.515625, GateStatus.FAIL)])
def test_the_twin_can_tell(value, status):
    """Negative control: on the bound it passes, one grid step above it fails."""
    runs = [(1, True, {0: 1.0}), (2, False, {0: 9.0})]
    assert _twin(runs, 0, value, {"rel_up": 0.5, "rel_down": 0.5}, 20) == (status, 1, 1.0)

"""Short ways to the values that the gate's tests need."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import numpy as np

from gate.canonical import canonical_json
from gate.evaluate import evaluate
from gate.history import History, RunRef, SpecHistory, StoredSeries
from gate.identity import SeriesIdentity, SpecKey
from gate.policy import GatePolicy
from gate.provenance import Provenance
from gate.record import MetricSeries, Record
from gate.spec import Constraint, ExpectPoints, GateSpec, Limits, Reduction

IDENTITY = SeriesIdentity("default", "tests/e2e/test_a.py", "cuda", "stage-c-8-gpu-h100")
STRICT, BALANCED = GatePolicy("strict"), GatePolicy("balanced")
TENTH = {"abs_floor_up": 0.1, "abs_floor_down": 0.1}
START = datetime(2026, 1, 1, tzinfo=UTC)


def spec(metric="m", steps="all", constraint=TENTH, limits=None, expect=None, **policy) -> GateSpec:
    """A declaration; ``steps`` and ``constraint`` as literals, ``limits`` and ``expect`` as values or None."""
    parsed = steps
    if isinstance(steps, list):
        parsed = tuple(steps)
    elif isinstance(steps, dict):
        parsed = Reduction(steps["reduce"], steps.get("last"), steps.get("from"))
    key = SpecKey(metric, canonical_json(steps), canonical_json(constraint))
    return GateSpec(
        key, parsed, Constraint(**constraint), limits and Limits(*limits), expect and ExpectPoints(*expect), **policy
    )


def record(**metrics) -> Record:
    """Metrics as {step: value} or [(step, value), ...]."""
    return Record({name: series(points) for name, points in metrics.items()})


def series(points) -> MetricSeries:
    pairs = list(points.items()) if isinstance(points, dict) else list(points)
    return MetricSeries(tuple(step for step, _ in pairs), tuple(float(value) for _, value in pairs))


def row(number, points, count=None) -> StoredSeries:
    """A stored run; a higher number is newer. ``points`` as {step: value}."""
    steps = sorted(points)
    ref = RunRef(f"{number:032x}", START + timedelta(days=number), trusted=True, counting=True, valid=True)
    values = np.array([points[step] for step in steps], np.float64)
    return StoredSeries(ref, np.array(steps, np.int64), values, len(points) if count is None else count)


def rows(runs, counts=None) -> tuple[StoredSeries, ...]:
    """Stored runs newest first, from a list of {step: value} newest first."""
    counts = counts or [None] * len(runs)
    return tuple(
        row(len(runs) - index, points, count) for index, (points, count) in enumerate(zip(runs, counts, strict=True))
    )


def past(stored, anchor_runs=20, **facts) -> SpecHistory:
    """What a store reads of ``stored`` (newest first) where every run counts."""
    return SpecHistory(tuple(stored), tuple(stored[::-1][:anchor_runs]), tuple(stored[:20]), epoch_id="e1", **facts)


class Reader:
    """Hands out a fixed history and remembers how it was asked."""

    def __init__(self, history=None):
        self.history = history or History()
        self.calls = []

    def read_history(self, *question):
        self.calls.append(question)
        return self.history


def reader(**baselines) -> Reader:
    """A reader for specs made by ``spec(metric)``: metric to rows of a baseline, or to a whole history, under every key
    of that metric.
    """
    return Reader(_AnySpec({metric: _history(stored) for metric, stored in baselines.items()}))


def _history(stored):
    return stored if isinstance(stored, SpecHistory) else SpecHistory(tuple(stored), epoch_id="e1")


class _AnySpec(History):
    """A history that does not care about steps and constraint."""

    __slots__ = ()

    def of(self, key):
        return self.specs.get(key.metric_key, SpecHistory())


def judge(specs, rec, asked=None, policy=STRICT, provenance=None):
    specs = [specs] if isinstance(specs, GateSpec) else specs
    return evaluate(
        specs, rec, identity=IDENTITY, policy=policy, reader=asked or Reader(), provenance=provenance or Provenance()
    )


def stored_values(verdict):
    """What a store would keep of a judged run: one value object per gate spec."""
    return [
        SimpleNamespace(
            key=judged.spec.key,
            steps=tuple(judged.steps[np.isfinite(judged.values)].tolist()),
            values=tuple(judged.values[np.isfinite(judged.values)].tolist()),
            points=judged.points,
        )
        for judged in verdict.specs
    ]


def stored_run(key, stored):
    """A row as a store hands it to a replay."""
    values = SimpleNamespace(
        key=key, steps=tuple(stored.steps.tolist()), values=tuple(stored.values.tolist()), points=stored.points
    )
    return SimpleNamespace(run=stored.run, series=[values])

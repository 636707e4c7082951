"""One interface over everything that can say of each run of a history, in order, whether it is red."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.simulate import Floats
from benchmarks.detection.stored import as_stored
from gate.canonical import canonical_json
from gate.evaluate import evaluate
from gate.identity import SeriesIdentity, SpecKey
from gate.past import Past, SeriesPast
from gate.policy import GatePolicy
from gate.record import MetricSeries, Record
from gate.spec import DRIFT_CHECKS, Constraint, GateSpec
from gate.verdict import Verdict

IDENTITY = SeriesIdentity("default", "tests/e2e/test_detection.py", "cuda", "stage-c-8-gpu-h100")
HELD = "driftgate balanced"
"""The judge that is held to the targets."""


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One history to judge. ``values`` float64 (runs, metrics, steps), NaN where a run had no such step.

    ``stop_from``: once a run from there on is red, the rest need not be judged; None judges all.
    """

    values: Floats
    specs: tuple[GateSpec, ...]
    stop_from: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Reds:
    """``red`` bool (judged runs,), at most one per run of the trial; ``seconds`` of processor time for judging them."""

    red: NDArray[np.bool_]
    seconds: float


class Judge(Protocol):
    @property
    def name(self) -> str: ...

    def judge(self, trials: Sequence[Trial]) -> list[Reds]:
        """The answer on each trial, in order. A judge sees a run and those before it, never one after it."""
        ...


@dataclass(frozen=True, slots=True)
class GateJudge:
    """Our gate, each verdict fed back: a red run enters no baseline. ``checks``: which drift checks apply."""

    name: str
    policy: GatePolicy
    checks: tuple[str, ...] = DRIFT_CHECKS

    def judge(self, trials: Sequence[Trial]) -> list[Reds]:
        return [self._judged(trial) for trial in trials]

    def configured(self, spec: GateSpec) -> GateSpec:
        return replace(spec, checks=self.checks)

    def _judged(self, trial: Trial) -> Reds:
        specs = tuple(map(self.configured, trial.specs))
        records = records_of(trial.values, [spec.metric_key for spec in specs])
        red: list[bool] = []
        started = time.process_time()
        for verdict in verdicts(specs, records, self.policy):
            red.append(not verdict.trusted)
            if trial.stop_from is not None and red[-1] and len(red) > trial.stop_from:
                break
        return Reds(np.array(red), time.process_time() - started)


def verdicts(specs: Sequence[GateSpec], records: Iterator[Record], policy: GatePolicy) -> Iterator[Verdict]:
    """Each record judged against the ones before it, as nights follow each other."""
    past = Past(SeriesPast(IDENTITY))
    for night, record in enumerate(records):
        verdict = evaluate(specs, record, identity=IDENTITY, policy=policy, reader=past)
        past.admit(as_stored(night, verdict))
        yield verdict


def ours() -> tuple[GateJudge, ...]:
    balanced, strict = GatePolicy("balanced"), GatePolicy("strict")
    return (
        GateJudge(HELD, balanced),
        GateJudge("driftgate strict", strict),
        GateJudge("corridor alone", balanced, checks=()),
    )


def declare(metric: str, constraint: dict[str, float]) -> GateSpec:
    """The gate spec of ``register_ci_gate(metric_key=metric, steps="all", constraint=constraint)``."""
    key = SpecKey(metric, canonical_json("all"), canonical_json(constraint))
    return GateSpec(key, "all", Constraint(**constraint))


def run_means(values: Floats) -> Floats:
    """The mean over the steps that each run had, float64 (runs, metrics)."""
    return np.asarray(np.nanmean(values, axis=2))


def records_of(values: Floats, names: Sequence[str]) -> Iterator[Record]:
    """One for each run of ``values`` float64 (runs, metrics, steps), whose metrics are ``names``."""
    for run in values:
        yield Record({name: _series(points) for name, points in zip(names, run, strict=True)})


def _series(points: Floats) -> MetricSeries:
    there = np.flatnonzero(~np.isnan(points))
    return MetricSeries(tuple(there.tolist()), tuple(points[there].tolist()))

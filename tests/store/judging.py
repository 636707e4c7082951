"""Nights as they really come: a record judged against the store, and written with its verdict."""

from __future__ import annotations

from dataclasses import astuple, replace
from datetime import UTC, datetime, timedelta

from driftgate.harness.new_run import new_run
from gate.canonical import canonical_json
from gate.evaluate import evaluate
from gate.history import History
from gate.identity import Coordinate, SeriesIdentity, SpecKey
from gate.policy import GatePolicy
from gate.provenance import Provenance
from gate.record import MetricSeries, Record
from gate.spec import Constraint, GateSpec

IDENTITY = SeriesIdentity("default", "tests/test_ppo.py", "cuda", "nightly-8-gpu")
START = datetime(2024, 1, 1, tzinfo=UTC)
TENTH = {"abs_floor_down": 0.1, "abs_floor_up": 0.1}


def spec(metric: str = "loss") -> GateSpec:
    """Every step within a tenth of the mean."""
    return GateSpec(SpecKey(metric, '"all"', canonical_json(TENTH)), "all", Constraint(**TENTH))


class Kept:
    """Passes a read on and keeps its answer."""

    def __init__(self, reader) -> None:
        self._reader = reader
        self.history = History()

    def read_history(self, *question):
        self.history = self._reader.read_history(*question)
        return self.history


def judged(
    store, number: int, levels: dict[str, float] | float, *, points: int = 3, suite: str = IDENTITY.suite, **facts
):
    """The run of night ``number``, judged now, to be written now or later. ``levels``: metric to the value at each of
    its steps.
    """
    by_metric = levels if isinstance(levels, dict) else {"loss": levels}
    steps = tuple(range(points))
    record = Record({metric: MetricSeries(steps, (level,) * points) for metric, level in by_metric.items()})
    provenance = Provenance(**{"ci_run_id": number, "ci_run_attempt": 1, "test_attempt": 1} | facts)
    specs = [spec(metric) for metric in by_metric]
    return judge(store, replace(IDENTITY, suite=suite), specs, record, provenance, START + timedelta(days=number))


def judge(store, identity: SeriesIdentity, specs: list[GateSpec], record: Record, provenance, created_at: datetime):
    """A run as the gate hands it to the store."""
    reader = Kept(store)
    verdict = evaluate(
        specs, record, identity=identity, policy=GatePolicy("strict"), reader=reader, provenance=provenance
    )
    return new_run(verdict, reader.history, created_at, None)


def night(store, number: int, levels: dict[str, float] | float, **facts):
    return store.write_run(judged(store, number, levels, **facts))


def nights(store, levels: list) -> list[str]:
    """Nights 1, 2, ...; the ids of their runs."""
    return [night(store, number, level).run_id for number, level in enumerate(levels, 1)]


def recent(store, metric: str) -> list[float]:
    """The newest counting values at step 0, newest first."""
    (found,) = store.recent_trusted_values(IDENTITY, [Coordinate(*astuple(spec(metric).key), step=0)]).values()
    return found

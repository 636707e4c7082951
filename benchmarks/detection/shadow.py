"""The bands that ``driftgate suggest`` prints once a test has run in shadow for its first nights."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.detection.judges import IDENTITY, declare, verdicts
from benchmarks.detection.stored import as_stored
from gate.past import SeriesPast
from gate.policy import GatePolicy
from gate.record import Record
from gate.suggest import Suggestion, suggest_one

SHADOW_RUNS = 20
UNJUDGED = {"abs_floor_up": 1e9, "abs_floor_down": 1e9}
"""A first declaration whose band nothing leaves: the noise alone decides what is suggested."""


def suggestions(metrics: Sequence[str], records: Sequence[Record]) -> list[Suggestion]:
    """For each metric over all its steps, from the first `SHADOW_RUNS` of ``records``."""
    specs = [declare(metric, UNJUDGED) for metric in metrics]
    nights = verdicts(specs, iter(records[:SHADOW_RUNS]), GatePolicy())
    series = SeriesPast(IDENTITY, tuple(as_stored(night, verdict) for night, verdict in enumerate(nights)))
    return [suggest_one(series, spec) for spec in specs]

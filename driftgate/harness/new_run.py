"""A judged attempt as the store takes it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import numpy as np

from gate.history import History
from gate.identity import AGGREGATE_STEP
from gate.verdict import SpecVerdict, Verdict
from gate.verdict_json import to_stored
from store.contract import NewRun, SeriesValues


def new_run(verdict: Verdict, history: History, created_at: datetime, key: str | None) -> NewRun:
    """What `write_run` needs of a verdict. ``history`` is what it was judged against: it says in which epochs.

    Values that are not finite are left out: the store refuses them, and the verdict tells of them.
    """
    return NewRun(
        identity=verdict.identity,
        created_at=created_at,
        trusted=verdict.trusted,
        has_error=verdict.has_error,
        series=tuple(map(series_values, verdict.specs)),
        provenance=verdict.provenance,
        verdict=to_stored(verdict),
        idempotency_key=key,
        epochs=judged_under(verdict, history),
    )


def series_values(judged: SpecVerdict) -> SeriesValues:
    """The finite values of one gate spec."""
    finite = np.isfinite(judged.values)
    return SeriesValues(
        key=judged.spec.key,
        steps=tuple(judged.steps[finite].tolist()),
        values=tuple(judged.values[finite].tolist()),
        trusted=judged.trusted,
        points=judged.points,
        at_step=_at_step(judged),
    )


def judged_under(verdict: Verdict, history: History) -> Mapping[str, str | None]:
    """The epoch of each metric at the time of the read."""
    return {judged.spec.metric_key: history.of(judged.spec.key).epoch_id for judged in verdict.specs}


def _at_step(judged: SpecVerdict) -> int | None:
    if judged.steps.tolist() != [AGGREGATE_STEP]:
        return None
    at = int(judged.at_steps[0])
    return None if at == AGGREGATE_STEP else at

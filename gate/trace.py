"""One number of a gate spec run by run, beside the corridor and the anchor that each run met."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from gate.baseline import Baseline
from gate.corridor import Corridor
from gate.history import SpecHistory
from gate.identity import SpecKey
from gate.past import Past, PastRun, PastValues, SeriesPast, TrustGrain
from gate.policy import GatePolicy
from gate.stored_literals import stored_constraint

RunState = Literal["trusted", "untrusted", "marked", "superseded"]
COLUMNS = ("value", "mean", "lo", "hi", "anchor", "anchor_lo", "anchor_hi")


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Oldest run first. ``columns`` float64 (r,) by the names of `COLUMNS`, NaN where a run met no reference.

    ``step`` None: each number is the mean over the run's steps. ``marked``: untrusted by an operator's decision.
    ``epochs``: index of the first run of each epoch, in order.
    """

    key: SpecKey
    step: int | None
    run_ids: tuple[str, ...]
    created_at: tuple[datetime, ...]
    states: tuple[RunState, ...]
    columns: dict[str, NDArray[np.float64]]
    epochs: tuple[int, ...]


def trace(
    series: SeriesPast, key: SpecKey, policy: GatePolicy, *, step: int | None = None, grain: TrustGrain = "run"
) -> Trace:
    """The runs that carry the gate spec (and the step, where one is given), with what counted before each of them."""
    past = Past(series, grain)
    carriers: list[PastRun] = []
    rows: list[tuple[float, ...]] = []
    for run in series.runs:
        values = next((values for values in run.values if values.key == key), None)
        chosen = _chosen(values, step)
        if values is not None and chosen.size:
            history = past.read_history(
                series.identity, [key], policy.newest_needed, policy.anchor_runs, run.ci_run_id, at=run.place
            )
            carriers.append(run)
            rows.append(_row(values, chosen, history.of(key), policy))
        past.admit(run)
    columns = np.array(rows, np.float64).reshape(len(rows), len(COLUMNS)).T
    return Trace(
        key=key,
        step=step,
        run_ids=tuple(run.run_id for run in carriers),
        created_at=tuple(run.created_at for run in carriers),
        states=tuple(map(_state, carriers)),
        columns=dict(zip(COLUMNS, columns, strict=True)),
        epochs=_epochs(series, key, carriers),
    )


def _chosen(values: PastValues | None, step: int | None) -> NDArray[np.intp]:
    """Which of the values are shown, as indices."""
    if values is None:
        return np.empty(0, np.intp)
    return np.arange(values.steps.size) if step is None else np.flatnonzero(values.steps == step)


def _row(values: PastValues, chosen: NDArray[np.intp], history: SpecHistory, policy: GatePolicy) -> tuple[float, ...]:
    steps, rule = values.steps[chosen], stored_constraint(values.key)
    recent = Baseline.of(history.baseline, steps, policy.history).mean
    anchor = np.full(steps.size, np.nan)
    if len(history.anchor) >= policy.anchor_runs:
        anchor = Baseline.of(history.anchor, steps, policy.anchor_runs).mean
    corridors = [(ref, Corridor.around(ref, rule)) for ref in (recent, anchor)]
    references = [column for ref, corridor in corridors for column in (ref, corridor.lo, corridor.hi)]
    return tuple(map(_mean, (values.values[chosen], *references)))


def _mean(numbers: NDArray[np.float64]) -> float:
    """Over the steps that have a number."""
    known = numbers[~np.isnan(numbers)]
    with np.errstate(over="ignore"):
        return float(np.mean(known)) if known.size else np.nan


def _state(run: PastRun) -> RunState:
    if run.superseded_by is not None:
        return "superseded"
    if run.trusted:
        return "trusted"
    return "untrusted" if run.marked is None else "marked"


def _epochs(series: SeriesPast, key: SpecKey, carriers: list[PastRun]) -> tuple[int, ...]:
    ids = [epoch and epoch.epoch_id for run in carriers for epoch in [series.epoch_of(key.metric_key, run.place)]]
    return tuple(index for index, (before, after) in enumerate(zip([None, *ids], ids, strict=False)) if before != after)

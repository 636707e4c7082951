"""A stored verdict judged again, from the run's stored values and the rows of the runs it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Protocol

import numpy as np

from gate.case import Case
from gate.errors import DriftgateError
from gate.evaluate import judge, outcome_of
from gate.history import RunRef, SpecHistory, StoredSeries
from gate.identity import SpecKey
from gate.selection import Selection
from gate.stored_selection import stored_selection
from gate.verdict import SpecVerdict, Verdict
from gate.verdict_reading import from_json


class SpecValues(Protocol):
    """The stored values of one gate spec in one run: ``steps`` ascending, as long as ``values``."""

    @property
    def key(self) -> SpecKey: ...
    @property
    def steps(self) -> Sequence[int]: ...
    @property
    def values(self) -> Sequence[float]: ...
    @property
    def points(self) -> int: ...


class RunFacts(Protocol):
    """What `gate.history.RunRef` holds."""

    @property
    def run_id(self) -> str: ...
    @property
    def created_at(self) -> datetime: ...
    @property
    def trusted(self) -> bool: ...
    @property
    def counting(self) -> bool: ...
    @property
    def valid(self) -> bool: ...


class RunRow(Protocol):
    """A stored run with its values."""

    @property
    def run(self) -> RunFacts: ...
    @property
    def series(self) -> Sequence[SpecValues]: ...


def referenced_runs(stored: Mapping[str, Any]) -> list[str]:
    """The ids of the runs whose rows `replay` needs, each once."""
    return list(dict.fromkeys(run_id for run_ids in stored["run_lists"].values() for run_id in run_ids))


def replay(stored: Mapping[str, Any], series: Sequence[SpecValues], runs: Sequence[RunRow]) -> Verdict:
    """The verdict in full, judged again; equal to the one that was stored as long as the rows are the same.

    ``stored``: what `gate.verdict_json.to_stored` made; ``series``: the run's own stored values; ``runs``: the
    referenced runs in any order, whatever counts today. Of the drift checks only those that ``stored`` names are asked,
    so that one added since changes no old verdict. What the record alone showed (errors, warnings) is taken from
    ``stored``. Raises DriftgateError for a missing row or a document that is no verdict.
    """
    before = from_json(stored)
    own = {values.key: dict(zip(values.steps, values.values, strict=True)) for values in series}
    rows = {(run.run.run_id, values.key): _row(run.run, values) for run in runs for values in run.series}
    judged = tuple(
        judge(_case(before, spec, stored_selection(spec, own.get(spec.spec.key, {}), document.get("at_step")), rows))
        for spec, document in zip(before.specs, stored["specs"], strict=True)
    )
    outcome = outcome_of(judged) if judged else before.outcome
    return replace(before, specs=judged, outcome=outcome)


_Rows = Mapping[tuple[str, SpecKey], StoredSeries]


def _case(before: Verdict, spec: SpecVerdict, selection: Selection, rows: _Rows) -> Case:
    key = spec.spec.key
    missing = [run_id for run_id in (*spec.baseline, *spec.anchor) if (run_id, key) not in rows]
    if missing:
        raise DriftgateError(f"{key.metric_key}: the values of run {missing[0]} are not in the store; cannot replay")
    baseline, anchor = (tuple(rows[run_id, key] for run_id in ids) for ids in (spec.baseline, spec.anchor))
    history = SpecHistory(baseline, anchor, epoch_id=spec.epoch_id)
    return Case.prepare(spec.spec, selection, history, before.policy)


def _row(run: RunFacts, values: SpecValues) -> StoredSeries:
    ref = RunRef(run.run_id, run.created_at, run.trusted, run.counting, run.valid)
    return StoredSeries(ref, np.array(values.steps, np.int64), np.array(values.values, np.float64), values.points)

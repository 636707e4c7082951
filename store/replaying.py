"""The verdict of a stored run, in full, from the store's rows."""

from __future__ import annotations

from dataclasses import dataclass

from gate.errors import DriftgateError
from gate.replay import referenced_runs, replay
from gate.verdict import Verdict
from gate.verdict_json import to_stored
from store.contract import MetricHistoryStore, StoredRun


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """A stored run judged again. ``same``: it came out as it was stored."""

    run: StoredRun
    verdict: Verdict
    same: bool


def replay_run(store: MetricHistoryStore, project: str, run_id: str) -> Replayed:
    """Judge a stored run again from its rows and those of the runs that its verdict names.

    Raises: NotFound, DriftgateError (stored without a verdict, or a row is missing), StoreUnavailable.
    """
    found = store.get_run(project, run_id)
    if not found.run.verdict:
        raise DriftgateError(f"run {run_id} was stored without a verdict; there is nothing to replay")
    named = store.get_runs(project, referenced_runs(found.run.verdict))
    verdict = replay(found.run.verdict, found.series, named)
    return Replayed(found.run, verdict, to_stored(verdict) == found.run.verdict)

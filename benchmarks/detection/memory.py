"""A history in memory that grows run by run, as a store would hand it to the gate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from gate.history import HISTORY_WINDOW, RECENT_RUNS, VALID_RUNS, History, RunRef, SpecHistory, StoredSeries
from gate.identity import SeriesIdentity, SpecKey
from gate.verdict import SpecVerdict, Verdict

START = datetime(2026, 1, 1, tzinfo=UTC)


class MemoryHistory:
    """A `gate.history.HistoryReader` of the runs given to `add`: trusted ones count, those without ERROR are valid."""

    def __init__(self) -> None:
        self._runs: list[RunRef] = []
        self._rows: dict[SpecKey, list[StoredSeries]] = defaultdict(list)

    def add(self, verdict: Verdict) -> None:
        number = len(self._runs)
        run = RunRef(
            run_id=f"{number:032x}",
            created_at=START + timedelta(days=number),
            trusted=verdict.trusted,
            counting=verdict.trusted,
            valid=not verdict.has_error,
        )
        self._runs.append(run)
        for judged in verdict.specs:
            rows = self._rows[judged.spec.key]
            row = _stored(run, judged, rows[-1] if rows else None)
            if row.steps.size:
                rows.append(row)

    def read_history(
        self,
        identity: SeriesIdentity,  # noqa: ARG002 - one series is all there is
        specs: Sequence[SpecKey],
        limit: int,  # noqa: ARG002 - the whole window is handed out
        anchor_runs: int,
        exclude_ci_run_id: int | None,  # noqa: ARG002 - no run here belongs to a CI run
    ) -> History:
        return History(
            {key: _past(self._rows[key], anchor_runs) for key in specs}, tuple(self._runs[: -RECENT_RUNS - 1 : -1])
        )


def _past(rows: Sequence[StoredSeries], anchor_runs: int) -> SpecHistory:
    counting = [row for row in rows if row.run.counting]
    valid = [row for row in rows if row.run.valid]
    return SpecHistory(
        baseline=tuple(counting[: -HISTORY_WINDOW - 1 : -1]),
        anchor=tuple(counting[:anchor_runs]),
        valid=tuple(valid[: -VALID_RUNS - 1 : -1]),
    )


def _stored(run: RunRef, judged: SpecVerdict, before: StoredSeries | None) -> StoredSeries:
    finite = np.isfinite(judged.values)
    steps = judged.steps[finite]
    if before is not None and np.array_equal(before.steps, steps):
        steps = before.steps
    return StoredSeries(run, steps, judged.values[finite], judged.points)

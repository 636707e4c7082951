"""What the gate reads before it judges: the trusted past of one series, as arrays.

The reader is injected (`HistoryReader`); a store implements it with one query. Nothing here touches a database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gate.identity import SeriesIdentity, SpecKey

HISTORY_WINDOW = 500
"""At most so many of the newest counting runs of a series are looked at."""
POINT_COUNT_RUNS = 5
"""From so many of the newest counting runs the usual number of points is taken."""
VALID_RUNS = 20
"""From so many of the newest valid runs noise is estimated."""
RECENT_RUNS = 20
"""So many of the newest runs of the series, whatever became of them, come along for `starved`."""


@dataclass(frozen=True, slots=True)
class RunRef:
    """One stored run as the gate sees it. ``counting`` and ``valid`` are the glossary's words.

    ``ci_run_id`` None: it came from no CI run, or the reader does not say.
    """

    run_id: str
    created_at: datetime
    trusted: bool
    counting: bool
    valid: bool
    ci_run_id: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class StoredSeries:
    """The values of one gate spec in one run.

    ``steps`` int64 (m,) strictly ascending; ``values`` float64 (m,) finite; ``points`` is how many points the metric
    had in the record, selected or not. Rows with equal steps may share one ``steps`` array (an identity that
    vectorised readers exploit).
    """

    run: RunRef
    steps: NDArray[np.int64]
    values: NDArray[np.float64]
    points: int


@dataclass(frozen=True, slots=True)
class SpecHistory:
    """The past of one gate spec in its present epoch.

    ``baseline``: newest first, ordered by (created_at, seq); holds at least the newest ``limit`` counting values of
    every step and the newest `POINT_COUNT_RUNS` counting runs that carry the spec (never outside the newest
    `HISTORY_WINDOW` counting runs of the series). It may hold more rows than ``limit``: a reader of one coordinate
    takes the first ``limit`` rows that have its step.
    ``anchor``: oldest first, the first ``anchor_runs`` counting runs of the epoch that carry the spec.
    ``valid``: newest first, the newest `VALID_RUNS` valid runs that carry the spec, red ones too.
    ``epoch_id``: the epoch in force for this metric, None before the first was started.
    ``anchor_ever``: how many runs of the epoch that carry the spec count or once did (trusted by the gate before a
    mark or a rerun), the attempts of one CI run as one, counted up to ``anchor_runs``.
    ``others``: where ``baseline`` is empty, newest first, newest counting runs of the epoch under other declarations of
    the same metric; `AGGREGATE_STEP` only of the same steps.
    """

    baseline: tuple[StoredSeries, ...] = ()
    anchor: tuple[StoredSeries, ...] = ()
    valid: tuple[StoredSeries, ...] = ()
    epoch_id: str | None = None
    anchor_ever: int = 0
    others: tuple[StoredSeries, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """The answer to the gate's one read. A spec the store has never seen maps to an empty `SpecHistory`."""

    specs: Mapping[SpecKey, SpecHistory] = field(default_factory=dict)
    recent_runs: tuple[RunRef, ...] = ()

    def of(self, key: SpecKey) -> SpecHistory:
        return self.specs.get(key, SpecHistory())


def last_trusted_run(history: History) -> str | None:
    """The id of the newest counting run that the gate has seen in its one read."""
    baselines = (row.run for spec in history.specs.values() for row in spec.baseline)
    counting = [run for run in (*history.recent_runs, *baselines) if run.counting]
    return max(counting, key=lambda run: run.created_at).run_id if counting else None


class HistoryReader(Protocol):
    """The one thing the gate asks of a store."""

    def read_history(
        self,
        identity: SeriesIdentity,
        specs: Sequence[SpecKey],
        limit: int,
        anchor_runs: int,
        exclude_ci_run_id: int | None,
    ) -> History:
        """Everything needed to judge one run, in one round trip.

        Runs of ``exclude_ci_run_id`` are left out everywhere (they never judge each other); None leaves out nothing.
        """
        ...

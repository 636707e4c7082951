"""What is written to a store and read from it: runs with their values, attempts, listings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from gate.identity import SeriesIdentity, SpecKey
from gate.provenance import Provenance


@dataclass(frozen=True, slots=True)
class SeriesValues:
    """The selected values of one gate spec in one run.

    ``steps`` strictly ascending, as long as ``values``; ``trusted``: no check of this spec failed; ``points``: how
    many points the metric had; ``at_step``: where the single value of ``"last"`` or a reduction came from.
    """

    key: SpecKey
    steps: tuple[int, ...]
    values: tuple[float, ...]
    trusted: bool
    points: int
    at_step: int | None = None


@dataclass(frozen=True, slots=True)
class NewRun:
    """One passing attempt, judged, ready to be stored.

    ``idempotency_key`` None means the default: (series, CI run id, CI attempt, test attempt); without a CI run id a
    key must be given. ``epochs`` maps each metric key to the epoch id it was judged under (None: before the first);
    the whole mapping None skips the check. ``has_error``: some check was ERROR, so the run is not *valid*.
    ``beside_others``: it takes the place of no run of its CI run that is stored already, and none of them takes its.
    """

    identity: SeriesIdentity
    created_at: datetime
    trusted: bool
    has_error: bool
    series: tuple[SeriesValues, ...]
    provenance: Provenance
    verdict: Mapping[str, Any]
    idempotency_key: str | None = None
    epochs: Mapping[str, str | None] | None = None
    beside_others: bool = False


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run as stored, without its values. ``repeat`` is true only in the answer to a repeated `write_run`.

    ``trusted`` is what counts now; ``gate_trusted`` what the gate said when it was written; ``untrusted_reason`` why
    the store kept it untrusted although the gate trusted it (a standing mark, `epoch changed`), or an operator's
    reason. ``superseded_by`` is the run id of a higher attempt of the same CI run, which may be superseded itself.
    """

    run_id: str
    identity: SeriesIdentity
    created_at: datetime
    trusted: bool
    gate_trusted: bool
    has_error: bool
    provenance: Provenance
    verdict: Mapping[str, Any]
    superseded_by: str | None = None
    untrusted_reason: str | None = None
    marked: bool | None = None
    repeat: bool = False

    @property
    def counting(self) -> bool:
        return self.trusted and self.superseded_by is None

    @property
    def valid(self) -> bool:
        return not self.has_error and self.marked is None and self.superseded_by is None


@dataclass(frozen=True, slots=True)
class RunValues:
    """A stored run with the values of its gate specs."""

    run: StoredRun
    series: tuple[SeriesValues, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of one test file, whatever came of it. ``attempt_class``: pass, timeout, assertion, ..."""

    identity: SeriesIdentity
    ci_run_id: int | None
    ci_run_attempt: int | None
    test_attempt: int
    attempt_class: str
    duration_s: float
    started_at: datetime
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class AttemptFilter:
    """Which attempts to read; None does not filter. ``since``: started at or after it.

    ``newest``: at most so many of each series, of those that the other fields let through.
    """

    since: datetime | None = None
    attempt_class: str | None = None
    backend: str | None = None
    suite: str | None = None
    newest: int | None = None
    test_path: str | None = None
    ci_run_id: int | None = None


@dataclass(frozen=True, slots=True)
class SeriesSummary:
    """One row of a listing of series. ``untrusted_streak``: how many runs came after the newest trusted one.

    ``last_verdict``: what the gate said of the last run, None where it was stored without a verdict. ``warnings``, each
    with kind, metric_key and text: those of that verdict, and ``starved`` as it stands today.
    """

    identity: SeriesIdentity
    runs: int
    counting: int
    last_run_id: str | None
    last_run_at: datetime | None
    last_trusted: bool | None
    untrusted_streak: int = 0
    last_verdict: str | None = None
    warnings: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class SeriesFilter:
    """Which series to list; None does not filter. ``search``: a part of the test path, in upper or lower case."""

    test_path: str | None = None
    backend: str | None = None
    suite: str | None = None
    search: str | None = None


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs to list; None does not filter. Newest first, at most ``limit``.

    By ``run_id`` it is `get_run` without the values: one statement, and an empty list for an unknown run.
    """

    test_path: str | None = None
    backend: str | None = None
    suite: str | None = None
    trusted: bool | None = None
    ci_run_id: int | None = None
    commit_sha: str | None = None
    limit: int = 50
    run_id: str | None = None

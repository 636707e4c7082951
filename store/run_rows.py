"""Between a row of ``runs`` and a `StoredRun`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from sqlalchemy import Select, select

from gate.identity import SeriesIdentity
from gate.provenance import Provenance
from store.contract import StoredRun
from store.schema import runs, series

_OWN_COLUMNS = ("ci_run_id", "ci_run_attempt", "test_attempt")
RUN_COLUMNS = (
    runs.c.seq,
    runs.c.run_id,
    runs.c.created_at,
    runs.c.trusted,
    runs.c.gate_trusted,
    runs.c.has_error,
    runs.c.marked,
    runs.c.superseded_by,
    runs.c.untrusted_reason,
    *(runs.c[name] for name in _OWN_COLUMNS),
    runs.c.environment,
    runs.c.verdict,
    series.c.project,
    series.c.test_path,
    series.c.backend,
    series.c.suite,
)


def select_runs() -> Select[Any]:
    return select(*RUN_COLUMNS).join(series, series.c.id == runs.c.series_id)


def environment_of(provenance: Provenance) -> dict[str, Any]:
    """The known facts that have no column of their own."""
    facts = asdict(provenance)
    return {name: fact for name, fact in facts.items() if fact is not None and name not in _OWN_COLUMNS}


def stored_run(row: Any, *, repeat: bool = False) -> StoredRun:
    own = {name: getattr(row, name) for name in _OWN_COLUMNS}
    return StoredRun(
        run_id=row.run_id,
        identity=SeriesIdentity(row.project, row.test_path, row.backend, row.suite),
        created_at=row.created_at,
        trusted=row.trusted,
        gate_trusted=row.gate_trusted,
        has_error=row.has_error,
        provenance=Provenance(**row.environment, **own),
        verdict=row.verdict,
        superseded_by=row.superseded_by,
        untrusted_reason=row.untrusted_reason,
        marked=row.marked,
        repeat=repeat,
    )

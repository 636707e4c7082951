"""A run checked and addressed, before the database is asked."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from store.checks import check_json, check_key, check_run
from store.contract import NewRun
from store.hashing import content_hash, series_hash
from store.run_rows import environment_of


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A checked run with everything that is known before the database is asked."""

    run: NewRun
    run_id: str
    key: str
    content_hash: str
    environment: dict[str, Any]


def prepare(run: NewRun) -> PreparedRun:
    """Raises ValueError as `write_run` promises."""
    check_run(run, datetime.now(UTC))
    environment = environment_of(run.provenance)
    check_json("provenance", environment)
    return PreparedRun(
        run=run,
        run_id=uuid.uuid4().hex,
        key=_idempotency_key(run),
        content_hash=content_hash(run.identity, run.series),
        environment=environment,
    )


def _idempotency_key(run: NewRun) -> str:
    if run.idempotency_key is not None:
        return check_key(run.idempotency_key)
    facts = run.provenance
    if facts.ci_run_id is None:
        raise ValueError("a run without a CI run id needs an idempotency key, so that a retry is not stored twice")
    return f"{series_hash(run.identity)} {facts.ci_run_id} {facts.ci_run_attempt} {facts.test_attempt}"

"""`write_run`: what is known about the run's place is read under the lock, then run, values and trust are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC
from typing import Any

from sqlalchemy import Connection, select

from store.addressing import address, this_series
from store.connections import queue
from store.contract import NewRun, StoredRun
from store.epoch_chain import EpochStart, in_force
from store.errors import StoreConflict
from store.prepared import PreparedRun
from store.run_rows import select_runs, stored_run
from store.schema import runs, trust_events
from store.series_row import lock_series
from store.surroundings import Surroundings, read_surroundings
from store.trust import MARK_UNTRUSTED, Action, Change, Trust, event_row, held_by_rule
from store.values_rows import insert_values

EPOCH_CHANGED = "epoch changed"


@dataclass(frozen=True, slots=True)
class Terms:
    """On which a run is taken. ``judge``: the run as it is to be stored, asked under the series' lock. ``held_back``:
    why it is stored untrusted, whatever the gate says of it.
    """

    judge: Callable[[Connection], NewRun] | None = None
    held_back: str | None = None


AS_GIVEN = Terms()


@dataclass(frozen=True, slots=True)
class Decision:
    """How the run is stored: its trust, and the standing mark that covers it and then outweighs that trust."""

    trust: Trust
    rule: Any | None
    superseded_by: str | None

    @property
    def effective(self) -> Trust:
        return self.trust if self.rule is None else held_by_rule(self.rule.id, self.rule.detail)


def write_run(connection: Connection, prepared: PreparedRun, terms: Terms = AS_GIVEN) -> StoredRun:
    """The transaction of `write_run`; safe to repeat with the same prepared run."""
    lock_series(connection, prepared.run.identity)
    found = read_surroundings(connection, prepared)
    if found.same_key is not None:
        return _repeated(connection, prepared, found.same_key)
    if terms.judge is not None:
        prepared = replace(prepared, run=terms.judge(connection))
    decision = _decide(prepared, found, terms.held_back)
    _insert_run(connection, prepared, decision)
    insert_values(connection, prepared.run_id, prepared.run)
    if decision.rule is not None:
        _log_rule(connection, prepared, decision.rule, decision.trust)
    if decision.superseded_by is None and found.rivals:
        _supersede(connection, prepared.run_id, [rival.id for rival in found.rivals])
    return _as_stored(prepared, decision)


def _repeated(connection: Connection, prepared: PreparedRun, same_key: Any) -> StoredRun:
    if same_key.detail != prepared.content_hash:
        raise StoreConflict(_conflict(prepared, same_key))
    row = connection.execute(select_runs().where(runs.c.run_id == same_key.id)).one()
    # The run may be this very call's, stored before its connection was lost: then this is its first answer.
    return stored_run(row, repeat=same_key.id != prepared.run_id)


def _conflict(prepared: PreparedRun, same_key: Any) -> str:
    facts = prepared.run.provenance
    where = f"{prepared.run.identity.test_path} in {prepared.run.identity.suite}"
    key = (
        f"CI run {facts.ci_run_id}, CI attempt {facts.ci_run_attempt}, test attempt {facts.test_attempt}"
        if prepared.run.idempotency_key is None
        else f"key {prepared.key!r}"
    )
    advice = (
        "another attempt needs a key of its own"
        if facts.ci_run_id is None
        else "two variants of a test in one CI run need two suite names"
    )
    return (
        f"{where}: {key} is already stored as run {same_key.id} with other content "
        f"(stored {same_key.detail[:12]}, given {prepared.content_hash[:12]}); {advice}"
    )


def _decide(prepared: PreparedRun, found: Surroundings, held_back: str | None) -> Decision:
    run = prepared.run
    reason = EPOCH_CHANGED if _is_stale(run, found.epochs) else held_back
    winner = max(found.rivals, key=lambda rival: _rank(rival.first, rival.second), default=None)
    mine = _rank(run.provenance.ci_run_attempt, run.provenance.test_attempt)
    beaten = winner is not None and _rank(winner.first, winner.second) > mine
    return Decision(
        trust=Trust(run.trusted and reason is None, None, reason),
        rule=found.rules[0] if found.rules else None,
        superseded_by=winner.id if winner is not None and beaten else None,
    )


def _is_stale(run: NewRun, starts: Sequence[EpochStart]) -> bool:
    judged_under = run.epochs or {}
    return any(in_force(starts, metric) != epoch_id for metric, epoch_id in judged_under.items())


def _rank(ci_run_attempt: int | None, test_attempt: int | None) -> tuple[int, int]:
    return (ci_run_attempt or 0, test_attempt or 0)


def _insert_run(connection: Connection, prepared: PreparedRun, decision: Decision) -> None:
    run, facts, trust = prepared.run, prepared.run.provenance, decision.effective
    queue(
        connection,
        runs.insert().values(series_id=this_series()).inline(),
        address(run.identity)
        | {
            "project": run.identity.project,
            "run_id": prepared.run_id,
            "created_at": run.created_at,
            "trusted": trust.trusted,
            "gate_trusted": run.trusted,
            "has_error": run.has_error,
            "marked": trust.marked,
            "marked_by": trust.marked_by,
            "superseded_by": decision.superseded_by,
            "ci_run_id": facts.ci_run_id,
            "ci_run_attempt": facts.ci_run_attempt,
            "test_attempt": facts.test_attempt,
            "commit_sha": facts.commit_sha.lower() if facts.commit_sha else None,
            "untrusted_reason": trust.reason,
            "idempotency_key": prepared.key,
            "content_hash": prepared.content_hash,
            "epochs": run.epochs,
            "environment": prepared.environment,
            "verdict": run.verdict,
        },
    )


def _log_rule(connection: Connection, prepared: PreparedRun, rule: Any, before: Trust) -> None:
    """The line that tells later what the run would be without the standing mark."""
    action = Action(
        project=prepared.run.identity.project,
        selector=rule.id,
        reason=rule.detail,
        actor=rule.actor,
        name=MARK_UNTRUSTED,
        operation=prepared.run_id,
    )
    seq = select(runs.c.seq).where(runs.c.run_id == prepared.run_id).scalar_subquery()
    line = event_row(action, Change(prepared.run_id, before, held_by_rule(rule.id, rule.detail)))
    queue(connection, trust_events.insert().values(run_seq=seq).inline(), line)


def _supersede(connection: Connection, run_id: str, beaten: Sequence[str]) -> None:
    queue(connection, runs.update().where(runs.c.run_id.in_(beaten)).values(superseded_by=run_id))


def _as_stored(prepared: PreparedRun, decision: Decision) -> StoredRun:
    run, trust = prepared.run, decision.effective
    return StoredRun(
        run_id=prepared.run_id,
        identity=run.identity,
        created_at=run.created_at.astimezone(UTC),
        trusted=trust.trusted,
        gate_trusted=run.trusted,
        has_error=run.has_error,
        provenance=run.provenance,
        verdict=run.verdict,
        superseded_by=decision.superseded_by,
        untrusted_reason=trust.reason,
        marked=trust.marked,
    )

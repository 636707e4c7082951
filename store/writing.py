"""`write_run`: what is known about the run's place is read under the lock, then run, values and trust are written."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, Text, bindparam, cast, literal, null, select, union_all

from store.addressing import address, this_series
from store.checks import check_json, check_key, check_run
from store.connections import queue
from store.contract import NewRun, StoredRun
from store.epoch_chain import EpochStart, in_force
from store.errors import StoreConflict
from store.hashing import content_hash, series_hash
from store.run_rows import environment_of, select_runs, stored_run
from store.schema import epochs, mark_rules, runs, trust_events
from store.selectors import covering
from store.series_row import lock_series
from store.trust import MARK_UNTRUSTED, Action, Change, Trust, event_row, held_by_rule
from store.values_rows import insert_values

EPOCH_CHANGED = "epoch changed"


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """A checked run with everything that is known before the database is asked."""

    run: NewRun
    run_id: str
    key: str
    content_hash: str
    environment: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the database holds that bears on a run: read under the series' lock."""

    same_key: Any | None
    rules: Sequence[Any]
    rivals: Sequence[Any]
    epochs: Sequence[EpochStart]


@dataclass(frozen=True, slots=True)
class Decision:
    """How the run is stored: its trust, and the standing mark that covers it and then outweighs that trust."""

    trust: Trust
    rule: Any | None
    superseded_by: str | None

    @property
    def effective(self) -> Trust:
        return self.trust if self.rule is None else held_by_rule(self.rule.id, self.rule.detail)


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


def write_run(connection: Connection, prepared: PreparedRun) -> StoredRun:
    """The transaction of `write_run`; safe to repeat with the same prepared run."""
    lock_series(connection, prepared.run.identity)
    found = _surroundings(connection, prepared)
    if found.same_key is not None:
        return _repeated(connection, prepared, found.same_key)
    decision = _decide(prepared, found)
    _insert_run(connection, prepared, decision)
    insert_values(connection, prepared.run_id, prepared.run)
    if decision.rule is not None:
        _log_rule(connection, prepared, decision.rule, decision.trust)
    if decision.superseded_by is None and found.rivals:
        _supersede(connection, prepared.run_id, [rival.id for rival in found.rivals])
    return _as_stored(prepared, decision)


def _idempotency_key(run: NewRun) -> str:
    if run.idempotency_key is not None:
        return check_key(run.idempotency_key)
    facts = run.provenance
    if facts.ci_run_id is None:
        raise ValueError("a run without a CI run id needs an idempotency key, so that a retry is not stored twice")
    return f"{series_hash(run.identity)} {facts.ci_run_id} {facts.ci_run_attempt} {facts.test_attempt}"


@cache
def _surroundings_query() -> Select[Any]:
    """Parameters: identity, key, selectors (expanding), ci_run_id."""
    same_key = select(
        literal("same_key", Text).label("kind"),
        runs.c.run_id.label("id"),
        runs.c.content_hash.label("detail"),
        cast(null(), Text).label("actor"),
        cast(null(), epochs.c.position.type).label("first"),
        cast(null(), epochs.c.position.type).label("second"),
    ).where(runs.c.project == bindparam("at_project"), runs.c.idempotency_key == bindparam("key"))
    rules = select(
        literal("rule", Text), mark_rules.c.selector, mark_rules.c.reason, mark_rules.c.actor, null(), null()
    ).where(
        mark_rules.c.project == bindparam("at_project"),
        mark_rules.c.selector.in_(bindparam("selectors", expanding=True)),
        mark_rules.c.lifted_at.is_(None),
    )
    rivals = select(
        literal("rival", Text), runs.c.run_id, null(), null(), runs.c.ci_run_attempt, runs.c.test_attempt
    ).where(
        runs.c.project == bindparam("at_project"),
        runs.c.ci_run_id == bindparam("ci_run_id", type_=runs.c.ci_run_id.type),
        runs.c.series_id == this_series(),
        runs.c.superseded_by.is_(None),
    )
    starts = select(
        literal("epoch", Text), epochs.c.epoch_id, epochs.c.metric_key, null(), epochs.c.position, null()
    ).where(epochs.c.series_id == this_series(), epochs.c.undone_at.is_(None))
    return select(union_all(same_key, rules, rivals, starts).subquery())


def _surroundings(connection: Connection, prepared: PreparedRun) -> Surroundings:
    facts = prepared.run.provenance
    parameters = address(prepared.run.identity) | {
        "key": prepared.key,
        "selectors": covering(facts.ci_run_id, facts.commit_sha),
        "ci_run_id": facts.ci_run_id,
    }
    by_kind: dict[str, list[Any]] = {"same_key": [], "rule": [], "rival": [], "epoch": []}
    for row in connection.execute(_surroundings_query(), parameters):
        by_kind[row.kind].append(row)
    return Surroundings(
        same_key=next(iter(by_kind["same_key"]), None),
        rules=by_kind["rule"],
        rivals=by_kind["rival"],
        epochs=[EpochStart(row.first, row.id, row.detail) for row in by_kind["epoch"]],
    )


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
    return (
        f"{where}: {key} is already stored as run {same_key.id} with other content "
        f"(stored {same_key.detail[:12]}, given {prepared.content_hash[:12]}); "
        "two variants of a test in one CI run need two suite names"
    )


def _decide(prepared: PreparedRun, found: Surroundings) -> Decision:
    run = prepared.run
    stale = _is_stale(run, found.epochs)
    winner = max(found.rivals, key=lambda rival: _rank(rival.first, rival.second), default=None)
    mine = _rank(run.provenance.ci_run_attempt, run.provenance.test_attempt)
    beaten = winner is not None and _rank(winner.first, winner.second) > mine
    return Decision(
        trust=Trust(run.trusted and not stale, None, EPOCH_CHANGED if stale else None),
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

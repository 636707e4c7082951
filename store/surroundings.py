"""What the database holds that bears on a new run: its earlier self, marks, other attempts, epochs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, Text, bindparam, cast, literal, null, select, union_all

from store.addressing import address, this_series
from store.epoch_chain import EpochStart
from store.prepared import PreparedRun
from store.schema import epochs, mark_rules, runs
from store.selectors import covering


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the database holds that bears on a run: read under the series' lock. ``rivals``: other attempts."""

    same_key: Any | None
    rules: Sequence[Any]
    rivals: Sequence[Any]
    epochs: Sequence[EpochStart]


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


def read_surroundings(connection: Connection, prepared: PreparedRun) -> Surroundings:
    """One statement; call it under the series' lock."""
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
        rivals=() if prepared.run.beside_others else by_kind["rival"],
        epochs=[EpochStart(row.first, row.id, row.detail) for row in by_kind["epoch"]],
    )

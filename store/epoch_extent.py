"""The rows of gate specs inside the epoch in force for each."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    FromClause,
    Select,
    UnaryExpression,
    bindparam,
    func,
    or_,
    select,
    true,
    tuple_,
)

from store.addressing import this_series
from store.column_types import UtcDateTime
from store.predicates import not_excluded
from store.schema import epochs, gate_specs, packed_series, runs


def with_epoch(name: str, *conditions: ColumnElement[bool]) -> CTE:
    """The series' gate specs that meet the conditions, each with the first place of its epoch: the latest start that
    was not undone.
    """
    applies = or_(epochs.c.metric_key.is_(None), epochs.c.metric_key == gate_specs.c.metric_key)
    latest = (
        select(func.max(epochs.c.position))
        .where(epochs.c.series_id == gate_specs.c.series_id, epochs.c.undone_at.is_(None), applies)
        .correlate(gate_specs)
        .scalar_subquery()
    )
    beginning = bindparam("beginning", type_=UtcDateTime)
    return (
        select(
            gate_specs.c.id,
            gate_specs.c.key_hash,
            gate_specs.c.metric_key,
            gate_specs.c.steps_key,
            func.coalesce(epochs.c.start_created_at, beginning, type_=UtcDateTime).label("start_at"),
            func.coalesce(epochs.c.start_seq, 0).label("start_seq"),
        )
        .select_from(gate_specs.outerjoin(epochs, epochs.c.position == latest))
        .where(gate_specs.c.series_id == this_series(), *conditions)
        .cte(name)
    )


def not_before(start_at: ColumnElement[datetime], start_seq: ColumnElement[int]) -> ColumnElement[bool]:
    return tuple_(packed_series.c.created_at, packed_series.c.run_seq) >= tuple_(start_at, start_seq)


def first_rows(dialect: str, specs: CTE, condition: ColumnElement[bool], limit: Any) -> FromClause:
    """For each of ``specs`` the first ``limit`` rows of its epoch that meet the condition."""
    return _each(dialect, specs, _picked(specs, condition).order_by(*_PLACE).limit(limit), "first")


def newest_rows(dialect: str, specs: CTE, condition: ColumnElement[bool], limit: Any) -> FromClause:
    """The newest likewise."""
    newest: list[UnaryExpression[Any]] = [column.desc() for column in _PLACE]
    return _each(dialect, specs, _picked(specs, condition).order_by(*newest).limit(limit), "newest")


_PLACE = (packed_series.c.created_at, packed_series.c.run_seq)


def _picked(specs: CTE, condition: ColumnElement[bool]) -> Select[Any]:
    return (
        select(packed_series.c.gate_spec_id, packed_series.c.run_seq, packed_series.c.step_set_id)
        .join(runs, runs.c.seq == packed_series.c.run_seq)
        .where(
            packed_series.c.gate_spec_id == specs.c.id,
            not_before(specs.c.start_at, specs.c.start_seq),
            condition,
            not_excluded,
        )
        .correlate(specs)
    )


def _each(dialect: str, specs: CTE, picked: Select[Any], name: str) -> FromClause:
    """``picked`` once for every row of ``specs``. SQLite has no LATERAL, but unfolds a JSON list beside a row."""
    name = f"{name}_of_{specs.name}"
    if dialect == "postgresql":
        lateral = picked.lateral(f"picked_{name}")
        return select(lateral).select_from(specs.join(lateral, true())).subquery(name)
    inner = picked.subquery()
    pairs = func.json_group_array(func.json_array(inner.c.run_seq, inner.c.step_set_id))
    listed = (
        func.json_each(select(pairs).correlate(specs).scalar_subquery()).table_valued("value").alias(f"each_{name}")
    )
    return (
        select(
            specs.c.id.label("gate_spec_id"),
            func.json_extract(listed.c.value, "$[0]").label("run_seq"),
            func.json_extract(listed.c.value, "$[1]").label("step_set_id"),
        )
        .select_from(specs.join(listed, true()))
        .subquery(name)
    )

"""The gate's one read as one statement.

Exact where runs lack steps: among the newest counting runs, the newest ``limit`` rows of every distinct step set hold
the newest ``limit`` values of every coordinate. Rows are chosen on the narrow index first; values are fetched once for
each chosen row, and a step set's steps with its first row.
"""

from __future__ import annotations

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import (
    CTE,
    ColumnElement,
    FromClause,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    case,
    false,
    func,
    literal,
    literal_column,
    null,
    or_,
    select,
    true,
    tuple_,
    union_all,
)
from sqlalchemy import cast as sql_cast
from sqlalchemy.types import TypeEngine

from gate.history import HISTORY_WINDOW, RECENT_RUNS, VALID_RUNS
from store.addressing import among, this_series
from store.column_types import RowId, UtcDateTime
from store.contract import TrustGrain
from store.predicates import counting_run, counting_spec, is_valid, not_excluded
from store.schema import epochs, gate_specs, metric_series, runs, step_sets

USES = ("baseline", "anchor", "valid")
SERIES_ROW, RUN_ROW, EPOCH_ROW = "series", "run", "epoch"


@cache
def history_query(dialect: str, grain: TrustGrain) -> Select[Any]:
    """Parameters: `address`, key_hashes (a `bound_list`), rows, anchor_runs, exclude_ci_run_id, beginning."""
    asked = _asked(dialect)
    chosen = _chosen(dialect, grain, asked)
    rows = union_all(_series_rows(grain, asked, chosen), _run_rows(grain), _epoch_rows())
    return select(rows.subquery())


def _asked(dialect: str) -> CTE:
    """The gate specs asked for, each with the first place of its epoch: the latest start that was not undone."""
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
            func.coalesce(epochs.c.start_created_at, beginning, type_=UtcDateTime).label("start_at"),
            func.coalesce(epochs.c.start_seq, 0).label("start_seq"),
        )
        .select_from(gate_specs.outerjoin(epochs, epochs.c.position == latest))
        .where(gate_specs.c.series_id == this_series(), among(dialect, gate_specs.c.key_hash, "key_hashes"))
        .cte("asked")
    )


def _from(start_at: ColumnElement[datetime], start_seq: ColumnElement[int]) -> ColumnElement[bool]:
    return tuple_(metric_series.c.created_at, metric_series.c.run_seq) >= tuple_(start_at, start_seq)


def _chosen(dialect: str, grain: TrustGrain, asked: CTE) -> CTE:
    """Which rows of `metric_series` are needed, and for what."""
    uses = union_all(
        _baseline(grain, asked),
        _first_or_last(dialect, asked, counting_spec(grain), "anchor"),
        _first_or_last(dialect, asked, is_valid, "valid"),
    ).subquery("uses")
    return (
        select(
            uses.c.gate_spec_id,
            uses.c.run_seq,
            uses.c.step_set_id,
            *(func.max(uses.c[use]).label(use) for use in USES),
            func.row_number().over(partition_by=uses.c.step_set_id).label("occurrence"),
        )
        .group_by(uses.c.gate_spec_id, uses.c.run_seq, uses.c.step_set_id)
        .cte("chosen")
    )


def _uses(source: FromClause, use: str) -> Select[Any]:
    flags: list[ColumnElement[int]] = [literal_column(str(int(name == use))).label(name) for name in USES]
    return select(source.c.gate_spec_id, source.c.run_seq, source.c.step_set_id, *flags)


def _baseline(grain: TrustGrain, asked: CTE) -> Select[Any]:
    """The newest rows of each spec and step set, inside the epoch and the window of newest counting runs."""
    newest = (
        select(runs.c.created_at, runs.c.seq)
        .where(runs.c.series_id == this_series(), counting_run(grain), not_excluded)
        .order_by(runs.c.created_at.desc(), runs.c.seq.desc())
        .limit(HISTORY_WINDOW)
        .cte("newest")
    )
    oldest = select(newest).order_by(newest.c.created_at, newest.c.seq).limit(1).subquery("oldest")
    epoch_began_later = tuple_(asked.c.start_at, asked.c.start_seq) > tuple_(oldest.c.created_at, oldest.c.seq)
    place = func.row_number().over(
        partition_by=(metric_series.c.gate_spec_id, metric_series.c.step_set_id),
        order_by=(metric_series.c.created_at.desc(), metric_series.c.run_seq.desc()),
    )
    rows = asked.join(oldest, true()).join(metric_series, metric_series.c.gate_spec_id == asked.c.id)
    ranked = select(
        metric_series.c.gate_spec_id, metric_series.c.run_seq, metric_series.c.step_set_id, place.label("place")
    ).where(
        metric_series.c.run_seq.in_(select(newest.c.seq)),
        # Bounds the walk along the index, which the list of newest runs alone would not.
        _from(
            case((epoch_began_later, asked.c.start_at), else_=oldest.c.created_at),
            case((epoch_began_later, asked.c.start_seq), else_=oldest.c.seq),
        ),
    )
    if grain == "metric":
        rows = rows.join(runs, runs.c.seq == metric_series.c.run_seq)
        ranked = ranked.where(counting_spec(grain))
    found = ranked.select_from(rows).subquery("ranked")
    return _uses(found, "baseline").where(found.c.place <= bindparam("rows", type_=Integer))


def _first_or_last(dialect: str, asked: CTE, condition: ColumnElement[bool], use: str) -> Select[Any]:
    """For each spec the first runs of its epoch (``anchor``) or the newest (``valid``) that meet the condition."""
    place = (metric_series.c.created_at, metric_series.c.run_seq)
    limit = bindparam("anchor_runs", type_=Integer) if use == "anchor" else VALID_RUNS
    picked = (
        select(metric_series.c.gate_spec_id, metric_series.c.run_seq, metric_series.c.step_set_id)
        .join(runs, runs.c.seq == metric_series.c.run_seq)
        .where(
            metric_series.c.gate_spec_id == asked.c.id,
            _from(asked.c.start_at, asked.c.start_seq),
            condition,
            not_excluded,
        )
        .order_by(*(place if use == "anchor" else (column.desc() for column in place)))
        .limit(limit)
        .correlate(asked)
    )
    return _each(dialect, asked, picked, use)


def _each(dialect: str, asked: CTE, picked: Select[Any], use: str) -> Select[Any]:
    """``picked`` once for every row of ``asked``. SQLite has no LATERAL, but unfolds a JSON list beside a row."""
    if dialect == "postgresql":
        lateral = picked.lateral(f"picked_{use}")
        return _uses(lateral, use).select_from(asked.join(lateral, true()))
    inner = picked.subquery()
    pairs = func.json_group_array(func.json_array(inner.c.run_seq, inner.c.step_set_id))
    listed = func.json_each(select(pairs).correlate(asked).scalar_subquery()).table_valued("value").alias(f"each_{use}")
    unfolded = (
        select(
            asked.c.id.label("gate_spec_id"),
            func.json_extract(listed.c.value, "$[0]").label("run_seq"),
            func.json_extract(listed.c.value, "$[1]").label("step_set_id"),
        )
        .select_from(asked.join(listed, true()))
        .subquery(f"picked_{use}")
    )
    return _uses(unfolded, use)


def _series_rows(grain: TrustGrain, asked: CTE, chosen: CTE) -> Select[Any]:
    source = (
        chosen.join(asked, asked.c.id == chosen.c.gate_spec_id)
        .join(
            metric_series,
            and_(
                metric_series.c.run_seq == chosen.c.run_seq,
                metric_series.c.gate_spec_id == chosen.c.gate_spec_id,
            ),
        )
        .join(runs, runs.c.seq == chosen.c.run_seq)
        .join(step_sets, step_sets.c.id == chosen.c.step_set_id)
    )
    return select(
        literal(SERIES_ROW, Text).label("kind"),
        runs.c.seq.label("place"),
        runs.c.run_id.label("id"),
        runs.c.created_at,
        runs.c.trusted,
        counting_spec(grain).label("counting"),
        is_valid.label("valid"),
        asked.c.key_hash.label("key"),
        (chosen.c.baseline + 2 * chosen.c.anchor + 4 * chosen.c.valid).label("uses"),
        metric_series.c.points,
        chosen.c.step_set_id,
        case((chosen.c.occurrence == 1, step_sets.c.steps), else_=null()).label("steps"),
        metric_series.c["values"],
    ).select_from(source)


def _run_rows(grain: TrustGrain) -> Select[Any]:
    recent = (
        select(
            runs.c.seq,
            runs.c.run_id,
            runs.c.created_at,
            runs.c.trusted,
            counting_run(grain).label("counting"),
            is_valid.label("valid"),
        )
        .where(runs.c.series_id == this_series(), not_excluded)
        .order_by(runs.c.created_at.desc(), runs.c.seq.desc())
        .limit(RECENT_RUNS)
        .subquery("recent")
    )
    return select(literal(RUN_ROW, Text), *recent.c, *_no_values())


def _epoch_rows() -> Select[Any]:
    return select(
        literal(EPOCH_ROW, Text),
        epochs.c.position,
        epochs.c.epoch_id,
        epochs.c.start_created_at,
        false(),
        false(),
        false(),
        epochs.c.metric_key,
        *_no_values()[1:],
    ).where(epochs.c.series_id == this_series(), epochs.c.undone_at.is_(None))


def _no_values() -> list[ColumnElement[Any]]:
    types: dict[str, TypeEngine[Any]] = {
        "key": Text(),
        "uses": Integer(),
        "points": RowId,
        "step_set_id": RowId,
        "steps": step_sets.c.steps.type,
        "values": metric_series.c["values"].type,
    }
    return [sql_cast(null(), type_).label(name) for name, type_ in types.items()]

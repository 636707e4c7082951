"""The gate's one read as one statement.

Exact where runs lack steps: among the newest counting runs, the newest ``limit`` rows of every distinct step set hold
the newest ``limit`` values of every coordinate. Rows are chosen on the narrow index first; values are fetched once for
each chosen row, and a step set's steps with its first row.
"""

from __future__ import annotations

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
from store.epoch_extent import first_rows, newest_rows, not_before, with_epoch
from store.predicates import counting_run, counting_spec, is_valid, not_excluded, once_counting_spec
from store.schema import epochs, gate_specs, packed_series, runs, step_sets

VALUE_COLUMNS = ("key", "steps_key", "uses", "points", "step_set_id", "steps", "values")
USES = ("baseline", "anchor", "valid", "other")
SERIES_ROW, RUN_ROW, EPOCH_ROW, ONCE_ROW = "series", "run", "epoch", "once"


@cache
def history_query(dialect: str, grain: TrustGrain) -> Select[Any]:
    """Parameters: `address`, key_hashes and metric_keys (each a `bound_list`), rows, anchor_runs, exclude_ci_run_id,
    beginning.
    """
    asked = with_epoch("asked", among(dialect, gate_specs.c.key_hash, "key_hashes"))
    chosen = _chosen(dialect, grain, asked)
    rows = union_all(_series_rows(grain, chosen), _run_rows(grain), _epoch_rows(), _once_counting_rows(grain, asked))
    return select(rows.subquery())


def _chosen(dialect: str, grain: TrustGrain, asked: CTE) -> CTE:
    """Which rows of `packed_series` are needed, and for what."""
    baseline = _baseline(grain, asked).cte("baseline")
    counting, limit = counting_spec(grain), bindparam("anchor_runs", type_=Integer)
    others = _others(dialect, asked, baseline)
    uses = union_all(
        _uses(baseline, "baseline"),
        _uses(first_rows(dialect, asked, counting, limit), "anchor"),
        _uses(newest_rows(dialect, asked, is_valid, VALID_RUNS), "valid"),
        _uses(newest_rows(dialect, others, counting, bindparam("rows", type_=Integer)), "other"),
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


def _others(dialect: str, asked: CTE, baseline: CTE) -> CTE:
    """Gate specs of the same metrics that are not asked for, where none with their steps that is has a baseline."""
    warm = asked.join(baseline, baseline.c.gate_spec_id == asked.c.id)
    replaced = (
        select(literal_column("1"))
        .select_from(warm)
        .where(asked.c.metric_key == gate_specs.c.metric_key, asked.c.steps_key == gate_specs.c.steps_key)
        .correlate(gate_specs)
        .exists()
    )
    return with_epoch(
        "others",
        among(dialect, gate_specs.c.metric_key, "metric_keys"),
        ~among(dialect, gate_specs.c.key_hash, "key_hashes"),
        ~replaced,
    )


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
        partition_by=(packed_series.c.gate_spec_id, packed_series.c.step_set_id),
        order_by=(packed_series.c.created_at.desc(), packed_series.c.run_seq.desc()),
    )
    rows = asked.join(oldest, true()).join(packed_series, packed_series.c.gate_spec_id == asked.c.id)
    ranked = select(
        packed_series.c.gate_spec_id, packed_series.c.run_seq, packed_series.c.step_set_id, place.label("place")
    ).where(
        packed_series.c.run_seq.in_(select(newest.c.seq)),
        # Bounds the walk along the index, which the list of newest runs alone would not.
        not_before(
            case((epoch_began_later, asked.c.start_at), else_=oldest.c.created_at),
            case((epoch_began_later, asked.c.start_seq), else_=oldest.c.seq),
        ),
    )
    if grain == "metric":
        rows = rows.join(runs, runs.c.seq == packed_series.c.run_seq)
        ranked = ranked.where(counting_spec(grain))
    found = ranked.select_from(rows).subquery("ranked")
    columns = (found.c.gate_spec_id, found.c.run_seq, found.c.step_set_id)
    return select(*columns).where(found.c.place <= bindparam("rows", type_=Integer))


def _series_rows(grain: TrustGrain, chosen: CTE) -> Select[Any]:
    """Rows of specs asked for have the spec's hash as key, rows of others the metric, and say which steps."""
    is_other = chosen.c.other == 1
    source = (
        chosen.join(gate_specs, gate_specs.c.id == chosen.c.gate_spec_id)
        .join(
            packed_series,
            and_(
                packed_series.c.run_seq == chosen.c.run_seq,
                packed_series.c.gate_spec_id == chosen.c.gate_spec_id,
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
        runs.c.ci_run_id,
        case((is_other, gate_specs.c.metric_key), else_=gate_specs.c.key_hash).label("key"),
        case((is_other, gate_specs.c.steps_key), else_=null()).label("steps_key"),
        (chosen.c.baseline + 2 * chosen.c.anchor + 4 * chosen.c.valid + 8 * chosen.c.other).label("uses"),
        packed_series.c.points,
        chosen.c.step_set_id,
        case((chosen.c.occurrence == 1, step_sets.c.steps), else_=null()).label("steps"),
        packed_series.c["values"],
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
            runs.c.ci_run_id,
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
        sql_cast(null(), RowId),
        epochs.c.metric_key,
        *_no_values()[1:],
    ).where(epochs.c.series_id == this_series(), epochs.c.undone_at.is_(None))


def _once_counting_rows(grain: TrustGrain, asked: CTE) -> Select[Any]:
    """For each spec asked for, in place of points: how many runs of its epoch count or once did, up to those wanted.
    The attempts of one CI run are one.
    """
    once = (
        select(func.coalesce(sql_cast(runs.c.ci_run_id, Text), runs.c.run_id).label("run"))
        .distinct()
        .join(runs, runs.c.seq == packed_series.c.run_seq)
        .where(
            packed_series.c.gate_spec_id == asked.c.id,
            not_before(asked.c.start_at, asked.c.start_seq),
            once_counting_spec(grain),
            not_excluded,
        )
        .limit(bindparam("anchor_runs", type_=Integer))
        .correlate(asked)
        .subquery("once")
    )
    number = select(func.count()).select_from(once).correlate(asked).scalar_subquery()
    columns = dict(zip(VALUE_COLUMNS, _no_values(), strict=True)) | {
        "key": asked.c.key_hash,
        "points": number.label("points"),
    }
    nowhere = (literal(0), sql_cast(null(), Text), bindparam("beginning", type_=UtcDateTime))
    no_run = (false(), false(), false(), sql_cast(null(), RowId))
    return select(literal(ONCE_ROW, Text), *nowhere, *no_run, *columns.values()).select_from(asked)


def _no_values() -> list[ColumnElement[Any]]:
    types: dict[str, TypeEngine[Any]] = {
        "key": Text(),
        "steps_key": Text(),
        "uses": Integer(),
        "points": RowId,
        "step_set_id": RowId,
        "steps": step_sets.c.steps.type,
        "values": packed_series.c["values"].type,
    }
    return [sql_cast(null(), type_).label(name) for name, type_ in types.items()]

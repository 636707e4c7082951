"""Histories as DataFrames, one row per stored value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection, Select, select

from gate.identity import SeriesIdentity
from store.addressing import address, this_series
from store.schema import gate_specs, packed_series, runs, step_sets

if TYPE_CHECKING:
    import pandas as pd

PER_ROW = {
    "run_id": "str",
    "created_at": "datetime64[us, UTC]",
    "steps_key": "str",
    "constraint_key": "str",
    "trusted": "bool",
    "superseded": "bool",
    "commit_sha": "str",
    "ci_run_id": "Int64",
}
COLUMNS = (
    "run_id",
    "created_at",
    "steps_key",
    "constraint_key",
    "step",
    "value",
    "trusted",
    "superseded",
    "commit_sha",
    "ci_run_id",
)


def metric_history(connection: Connection, identity: SeriesIdentity, metric_key: str, step: int | None) -> pd.DataFrame:
    """Oldest first, by (created_at, order of arrival), gate spec and step."""
    rows = connection.execute(_select_metric(metric_key), address(identity)).all()
    frame = _frame(rows)
    return frame if step is None else frame[frame["step"] == step].reset_index(drop=True)


def _select_metric(metric_key: str) -> Select[Any]:
    return (
        select(
            runs.c.run_id,
            runs.c.created_at,
            gate_specs.c.steps_key,
            gate_specs.c.constraint_key,
            runs.c.trusted,
            runs.c.superseded_by.is_not(None).label("superseded"),
            runs.c.commit_sha,
            runs.c.ci_run_id,
            step_sets.c.steps,
            packed_series.c["values"],
        )
        .select_from(gate_specs)
        .join(packed_series, packed_series.c.gate_spec_id == gate_specs.c.id)
        .join(runs, runs.c.seq == packed_series.c.run_seq)
        .join(step_sets, step_sets.c.id == packed_series.c.step_set_id)
        .where(gate_specs.c.series_id == this_series(), gate_specs.c.metric_key == metric_key)
        .order_by(runs.c.created_at, runs.c.seq, gate_specs.c.id)
    )


def _frame(rows: Sequence[Any]) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415 - half a second that only callers of this function should pay

    lengths = [len(row.steps) for row in rows]
    columns: dict[str, Any] = {
        name: pd.Series([getattr(row, name) for row in rows], dtype=dtype).repeat(lengths).reset_index(drop=True)
        for name, dtype in PER_ROW.items()
    }
    columns["step"] = np.concatenate([np.empty(0, np.int64), *(np.array(row.steps, np.int64) for row in rows)])
    columns["value"] = np.concatenate([np.empty(0), *(np.array(row.values, np.float64) for row in rows)])
    return pd.DataFrame(columns, columns=list(COLUMNS))

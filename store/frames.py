"""Histories as DataFrames, one row per stored value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import Connection

from store.metric_rows import COLUMNS, MetricQuery, MetricRow, metric_rows

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


def metric_history(connection: Connection, query: MetricQuery) -> pd.DataFrame:
    """Oldest first, by (created_at, order of arrival), gate spec and step."""
    return values_frame(metric_rows(connection, query), query.step)


def values_frame(rows: Sequence[MetricRow], step: int | None) -> pd.DataFrame:
    """One row per value of ``rows``, as `store.metric_rows` reads them; of ``step`` alone where one is given."""
    import pandas as pd  # noqa: PLC0415 - half a second that only callers of this function should pay

    lengths = [len(row.steps) for row in rows]
    columns: dict[str, Any] = {
        name: pd.Series([getattr(row, name) for row in rows], dtype=dtype).repeat(lengths).reset_index(drop=True)
        for name, dtype in PER_ROW.items()
    }
    columns["step"] = np.concatenate([np.empty(0, np.int64), *(np.array(row.steps, np.int64) for row in rows)])
    columns["value"] = np.concatenate([np.empty(0), *(np.array(row.values, np.float64) for row in rows)])
    frame = pd.DataFrame(columns, columns=list(COLUMNS))
    return frame if step is None else frame[frame["step"] == step].reset_index(drop=True)


def records_frame(records: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """The same of values that came as records, one per value, with times in ISO 8601."""
    import pandas as pd  # noqa: PLC0415 - as above

    kinds = {**PER_ROW, "step": "int64", "value": "float64"}
    columns = {
        name: pd.Series([_moment(name, record[name]) for record in records], dtype=kinds[name]) for name in COLUMNS
    }
    return pd.DataFrame(columns, columns=list(COLUMNS))


def _moment(name: str, value: Any) -> Any:
    return datetime.fromisoformat(value) if name == "created_at" else value


def frame_csv(frame: pd.DataFrame) -> bytes:
    """Comma-separated, with a line of names. A text that a spreadsheet would run as a formula begins with ``'``."""
    texts = {
        name: frame[name].str.replace(_FORMULA, r"'\1", regex=True) for name, kind in PER_ROW.items() if kind == "str"
    }
    return frame.assign(**texts).to_csv(index=False).encode()


_FORMULA = r"^([=+\-@\t\r])"

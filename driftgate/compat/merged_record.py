"""The merged record of an attempt."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gate.record import Record


def parse_merged_record(record_path: str | PathLike[str]) -> dict[str, list[list[float | None]]]:
    """The points ``[step, value]`` of each metric by step, those without a step last; values may be NaN or infinite.

    Values that are no numbers are left out. Raises: OSError (no such file), ValueError (lines that are no record).
    """
    return {
        name: [[step, value] for step, value in zip(series.steps, series.values, strict=True)]
        for name, series in read_record(record_path).metrics.items()
    }


def read_record(record_path: str | PathLike[str]) -> Record:
    """As `parse_merged_record`, with what is wrong with single metrics."""
    from gate.record import load_record

    record = load_record(Path(record_path).read_bytes())
    if record.damaged is not None:
        raise ValueError(f"{record_path}: the record is damaged ({record.damaged})")
    return record

"""Where output goes: data for machines and tables for people on stdout, everything else on stderr."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table
from rich.text import Text

PIPE_WIDTH = 200
"""Columns where stdout is no terminal: wide enough that tables in logs are not folded."""


def print_json(data: Mapping[str, Any]) -> None:
    """One JSON document on stdout. Non-finite numbers become null, aware datetimes ISO 8601."""
    sys.stdout.buffer.write(orjson.dumps(data, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY))
    sys.stdout.buffer.flush()


def say(text: str) -> None:
    """A line for people, on stderr."""
    print(text, file=sys.stderr)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on stdout. Cells are plain text: nothing in them is taken for markup."""
    table = Table(*columns, box=None, pad_edge=False, show_header=any(columns))
    for row in rows:
        table.add_row(*map(Text, row))
    console().print(table)


def console() -> Console:
    """Colours and the terminal's width on a terminal, plain wide text in a pipe."""
    return Console(width=None if sys.stdout.isatty() else PIPE_WIDTH, highlight=False)


def number(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else "-"


def moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%SZ")

"""Where output goes: data for machines and tables for people on stdout, everything else on stderr."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from io import StringIO
from typing import Any

from driftgate.streams import pass_on, print_text, say
from gate.wording import printable

__all__ = ["counted", "moment", "number", "pass_on", "print_json", "print_table", "print_text", "say"]

TABLE_WIDTH = 10_000
"""Columns a table may take. Never folded or cut: an id must be copied whole, and ``grep`` looks at lines."""


def print_json(data: Mapping[str, Any]) -> None:
    """One JSON document on stdout. Non-finite numbers become null, aware datetimes ISO 8601."""
    import orjson

    pass_on(orjson.dumps(data, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY), sys.stdout)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on stdout, each row one line. Nothing in a cell is taken for markup, the unprintable is escaped."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, pad_edge=False, show_header=any(columns))
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    rendered = StringIO()
    on_terminal = sys.stdout is not None and sys.stdout.isatty()
    Console(file=rendered, force_terminal=on_terminal, width=TABLE_WIDTH, highlight=False).print(table)
    print_text("".join(f"{line.rstrip()}\n" for line in rendered.getvalue().splitlines()))


def counted(number: int, noun: str) -> str:
    """``1 run``, ``2 runs``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def number(value: float) -> str:
    return f"{value + 0.0:.6g}" if math.isfinite(value) else "-"  # + 0.0: no -0


def moment(at: datetime) -> str:
    return at.strftime("%Y-%m-%d %H:%M:%SZ")

"""Where output goes: data for machines and tables for people on stdout, everything else on stderr."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from io import StringIO
from typing import Any, TextIO

from gate.errors import DriftgateError

TABLE_WIDTH = 10_000
"""Columns a table may take. Never folded or cut: an id must be copied whole, and ``grep`` looks at lines."""


def pass_on(data: bytes, stream: TextIO | None) -> None:
    """Bytes on a standard stream, at once. A reader that has gone (``| head``) is no error: the rest is dropped.

    Raises DriftgateError where the stream cannot be written for another reason.
    """
    if stream is None:  # closed by whoever started us
        return
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    except BrokenPipeError:
        _silence(stream)
    except OSError as error:
        _silence(stream)
        raise DriftgateError(f"the output cannot be written: {error.strerror}") from error


def _silence(stream: TextIO) -> None:
    """Lead the descriptor to nothing, so that Python's own flush at its end does not fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def print_text(text: str, stream: TextIO | None = None) -> None:
    """Lines as they are, on stdout unless told otherwise; what its encoding lacks is written as an escape."""
    target = stream or sys.stdout
    pass_on(text.encode(getattr(target, "encoding", None) or "utf-8", "backslashreplace"), target)


def say(text: str) -> None:
    """A line for people, on stderr."""
    print_text(f"{text}\n", sys.stderr)


def print_json(data: Mapping[str, Any]) -> None:
    """One JSON document on stdout. Non-finite numbers become null, aware datetimes ISO 8601."""
    import orjson

    pass_on(orjson.dumps(data, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY), sys.stdout)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on stdout, each row one line. Cells are plain text: nothing in them is taken for markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, pad_edge=False, show_header=any(columns))
    for row in rows:
        table.add_row(*map(Text, row))
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

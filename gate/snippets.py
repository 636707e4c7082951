"""What stands at a place of a source, for messages. Standard library only."""

from __future__ import annotations

import ast
from functools import lru_cache

from gate.wording import clipped

_SHOWN_BYTES = 400
"""More than a message shows, whatever the characters are."""


def snippet(text: str, node: ast.expr) -> str:
    """The beginning of ``node`` in the source ``text``, on one line. Takes no longer where the source is large."""
    lines = _lines(text)
    first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
    parts: list[bytes] = []
    for number in range(first, min(last, first + _SHOWN_BYTES) + 1):
        end = node.end_col_offset if number == last else None
        start = node.col_offset if number == first else 0
        parts.append(lines[number][start:end][:_SHOWN_BYTES])
        if sum(map(len, parts)) >= _SHOWN_BYTES:
            break
    return clipped(b"\n".join(parts).decode(errors="ignore"))


@lru_cache(maxsize=1)
def _lines(text: str) -> list[bytes]:
    """Columns of a syntax tree count bytes of UTF-8. Bytes are split where Python sees the end of a line."""
    return text.encode(errors="replace").splitlines()

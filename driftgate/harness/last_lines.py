"""The end of an output of any length, in bounded memory."""

from __future__ import annotations

from collections import deque

KEPT_LINES = 200
KEPT_BYTES_PER_LINE = 4096


class LastLines:
    """Keeps the last lines of a byte stream, each cut after `KEPT_BYTES_PER_LINE` bytes.

    Of a line that was overwritten after a carriage return (a progress bar) only what it was last is kept.
    """

    def __init__(self, limit: int = KEPT_LINES) -> None:
        self._limit = limit
        self._lines: deque[bytes] = deque(maxlen=limit)
        self._open = bytearray()
        self._cut = 0
        self._returned = False

    def feed(self, data: bytes) -> None:
        first, *others = data.split(b"\n")
        self._extend(first)
        for part in others[-(self._limit + 1) :]:  # those before would be pushed out again
            self._lines.append(self._line())
            self._start_over()
            self._extend(part)

    def lines(self) -> tuple[str, ...]:
        """Oldest first; bytes that are not UTF-8 are shown as U+FFFD."""
        rows = list(self._lines)
        if self._open or self._cut:
            rows = [*rows, self._line()][-self._limit :]
        return tuple(row.decode("utf-8", "replace") for row in rows)

    def _extend(self, part: bytes) -> None:
        text = part.rstrip(b"\r")
        _, mark, newest = text.rpartition(b"\r")
        if mark or (text and self._returned):
            self._start_over()
        self._returned = len(text) < len(part) or (self._returned and not text)
        self._append(newest)

    def _start_over(self) -> None:
        self._open.clear()
        self._cut = 0
        self._returned = False

    def _append(self, part: bytes) -> None:
        room = KEPT_BYTES_PER_LINE - len(self._open)
        self._open += part[:room]
        self._cut += max(0, len(part) - room)

    def _line(self) -> bytes:
        note = b" ... (%d bytes more)" % self._cut if self._cut else b""
        return bytes(self._open) + note

"""One line at the bottom of a terminal that says how far a run is, and makes way for whatever is printed.

Not a library's live display: those redraw what is printed above them as text, and what tests print must pass as bytes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from threading import Event, RLock, Thread
from typing import TextIO

from driftgate.cli.output import pass_on
from gate.errors import DriftgateError

TICK_S = 0.5
_ERASE = b"\r\x1b[2K"
_DUMB = ("", "dumb", "unknown")
_USUAL_COLUMNS = 80


def is_live(stream: TextIO | None, environment: Mapping[str, str]) -> bool:
    """Whether a line can be drawn and erased there."""
    return stream is not None and stream.isatty() and environment.get("TERM", "") not in _DUMB


class Screen:
    """A stream that bytes go through unchanged, with a line below them where ``status`` is given.

    The line is drawn only where the cursor stands at the beginning of a line, every half second at most, and erased
    before anything else is written. Output that cannot be written is dropped.
    """

    def __init__(self, stream: TextIO | None, status: Callable[[], str] | None = None) -> None:
        self._stream = stream
        self._status = status
        self._lock = RLock()
        self._drawn = False
        self._at_line_start = True
        self._closing = Event()
        self._ticker = Thread(target=self._tick, name="driftgate-progress", daemon=True) if status else None

    def open(self) -> None:
        if self._ticker is not None:
            self._ticker.start()

    def close(self) -> None:
        """Leave the terminal without the line."""
        self._closing.set()
        if self._ticker is not None and self._ticker.is_alive():
            self._ticker.join()
        with self._lock:
            self._erase()

    def write(self, data: bytes) -> None:
        """Bytes as they are."""
        if not data:
            return
        with self._lock:
            self._erase()
            self._pass_on(data)
            self._at_line_start = data.endswith(b"\n")

    def write_lines(self, text: str) -> None:
        """Lines of our own, which begin at the beginning of a line whatever a test has left there."""
        with self._lock:
            self.write((b"" if self._at_line_start else b"\n") + text.encode("utf-8", "backslashreplace"))

    def _tick(self) -> None:
        while not self._closing.wait(TICK_S):
            with self._lock:
                self._draw()

    def _draw(self) -> None:
        if self._status is None or not self._at_line_start:
            return
        line = self._status()[: self._columns() - 1]
        self._pass_on(_ERASE + line.encode("ascii", "backslashreplace"))
        self._drawn = True

    def _erase(self) -> None:
        if self._drawn:
            self._pass_on(_ERASE)
            self._drawn = False

    def _pass_on(self, data: bytes) -> None:
        with suppress(DriftgateError):
            pass_on(data, self._stream)

    def _columns(self) -> int:
        if self._stream is not None:
            with suppress(OSError):
                return os.get_terminal_size(self._stream.fileno()).columns or _USUAL_COLUMNS
        return _USUAL_COLUMNS

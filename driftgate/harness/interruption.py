"""A request to stop, noted instead of obeyed at once, so that no process of a test is left behind."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self

POLL_S = 0.1

_Handler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None


class Interruption:
    """While entered, the first SIGINT, SIGTERM or SIGHUP sets ``requested``; the second raises KeyboardInterrupt.

    Further ones change nothing: they must not keep it from ending the processes of a test, which takes seconds at most.

    Handlers can be set in the main thread only; elsewhere entering it changes nothing. A SIGHUP that was ignored
    (nohup) stays ignored.
    """

    def __init__(self) -> None:
        self.requested: signal.Signals | None = None
        self._broken_off = False
        self._previous: dict[signal.Signals, _Handler] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in self._watched():
                self._previous[number] = signal.signal(number, self._note)
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)
        self._previous.clear()

    def wait(self, seconds: float) -> bool:
        """Sleep so long, less where a stop is requested; returns whether none is."""
        deadline = time.monotonic() + seconds
        while self.requested is None and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(POLL_S, left))
        return self.requested is None

    @staticmethod
    def _watched() -> tuple[signal.Signals, ...]:
        always = (signal.SIGINT, signal.SIGTERM)
        return always if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (*always, signal.SIGHUP)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if self.requested is None:
            self.requested = signal.Signals(number)
        elif not self._broken_off:
            self._broken_off = True
            raise KeyboardInterrupt

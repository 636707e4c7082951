"""Can the store be reached? Asked at most once every few seconds, however often a load balancer wants to know."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

KEPT_S = 5.0


class Readiness:
    """``check`` raises where the store cannot be used. Threads that ask while it runs get what was known before."""

    def __init__(
        self, check: Callable[[], None], kept_s: float = KEPT_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._check = check
        self._kept_s = kept_s
        self._clock = clock
        self._turn = threading.Lock()
        self._known: tuple[float, Exception | None] | None = None

    def error(self) -> Exception | None:
        """What keeps the store from being used, None where it can be."""
        if self._known is not None and self._clock() - self._known[0] < self._kept_s:
            return self._known[1]
        if not self._turn.acquire(blocking=self._known is None):
            return None if self._known is None else self._known[1]
        try:
            if self._known is None or self._clock() - self._known[0] >= self._kept_s:
                found = self._found()
                self._known = (self._clock(), found)
            return self._known[1]
        finally:
            self._turn.release()

    def _found(self) -> Exception | None:
        try:
            self._check()
        except Exception as error:  # noqa: BLE001 - whatever it is, this process cannot answer
            return error
        return None

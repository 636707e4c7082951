"""Can the store be reached? Asked at most once every few seconds, however often a load balancer wants to know."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from store.errors import StoreUnavailable

KEPT_S = 5.0
_NOT_YET = StoreUnavailable("the first look at the store is not done yet")


class Readiness:
    """``check`` raises where the store cannot be used. Who asks while it runs gets what was known before: a store that
    hangs holds one thread, not all.
    """

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
        if not self._turn.acquire(blocking=False):
            return _NOT_YET if self._known is None else self._known[1]
        try:
            found = self._found()
            self._known = (self._clock(), found)
        finally:
            self._turn.release()
        return found

    def _found(self) -> Exception | None:
        try:
            self._check()
        except Exception as error:  # noqa: BLE001 - whatever it is, this process cannot answer
            return error
        return None

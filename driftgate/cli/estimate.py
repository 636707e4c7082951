"""How far a run is and how long it will still take."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence


class Estimate:
    """How far a run is. ``expected_s``: what each test is expected to take, in their order."""

    def __init__(self, expected_s: Sequence[float], clock: Callable[[], float] = time.monotonic) -> None:
        self._left_s = list(expected_s)
        self._total = len(expected_s)
        self._clock = clock
        self._begun = self._test_begun = clock()
        self._what = ""
        self._failed = 0

    def begins(self, what: str) -> None:
        """An attempt of the next test, or another one."""
        self._what = what
        self._test_begun = self._clock()

    def waits(self, what: str, wait_s: float) -> None:
        """The next attempt of the test begins in so many seconds."""
        self.begins(what)
        self._test_begun += wait_s

    def ended(self, *, red: bool) -> None:
        """The test that was running; the next one is not yet."""
        self._left_s = self._left_s[1:]
        self._failed += red
        self._what = ""

    def line(self) -> str:
        """``3/14 done, 1 red | test_a.py 1m 05s | 12m 10s elapsed, about 25m 00s left``."""
        now = self._clock()
        red = f", {self._failed} red" if self._failed else ""
        current = f"{self._what} {self._since(now)} | " if self._what else ""
        left = f", about {span(left_s)} left" if (left_s := self._left(now)) > 0 else ""
        done = f"{self._total - len(self._left_s)}/{self._total} done{red}"
        return f"{done} | {current}{span(now - self._begun)} elapsed{left}"

    def _since(self, now: float) -> str:
        """How long it has been running, or when it will begin."""
        running_s = now - self._test_begun
        return span(running_s) if running_s >= 0 else f"in {span(math.ceil(-running_s))}"

    def _left(self, now: float) -> float:
        if not self._left_s:
            return 0
        running_s = now - self._test_begun if self._what else 0
        return max(0.0, self._left_s[0] - running_s) + sum(self._left_s[1:])


def span(seconds: float) -> str:
    """Whole seconds: ``5s``, ``1m 05s``, ``2h 03m``."""
    minutes, rest = divmod(int(seconds), 60)
    if not minutes:
        return f"{rest}s"
    return f"{minutes}m {rest:02}s" if minutes < 60 else f"{minutes // 60}h {minutes % 60:02}m"

"""Learned durations: how long a test takes in a suite, from the attempts that passed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from store.contract import Attempt

DIGITS = 3


@dataclass(frozen=True, slots=True)
class Duration:
    """``p90_s``: seconds within which 9 of 10 of the ``n`` newest passing attempts ended."""

    file: str
    backend: str
    suite: str
    p90_s: float
    n: int

    def to_json(self) -> dict[str, Any]:
        return {"file": self.file, "backend": self.backend, "suite": self.suite, "p90_s": self.p90_s, "n": self.n}


def learned_durations(passing: Iterable[Attempt]) -> tuple[Duration, ...]:
    """One for each test and suite, sorted. An attempt whose duration is no positive number teaches nothing."""
    usable = [attempt for attempt in passing if math.isfinite(attempt.duration_s) and attempt.duration_s >= 0]
    by_series = groupby(sorted(usable, key=lambda attempt: attempt.identity), key=lambda attempt: attempt.identity)
    found = []
    for identity, attempts in by_series:
        seconds = sorted(attempt.duration_s for attempt in attempts)
        found.append(
            Duration(identity.test_path, identity.backend, identity.suite, round(p90(seconds), DIGITS), len(seconds))
        )
    return tuple(found)


def p90(ascending: list[float]) -> float:
    """The smallest of the values that at least 9 of 10 do not exceed: one that was measured, none in between."""
    return ascending[-(-9 * len(ascending) // 10) - 1]


def durations_document(durations: Iterable[Duration]) -> dict[str, Any]:
    """What ``plan --durations`` reads."""
    return {"schema": 1, "durations": [duration.to_json() for duration in durations]}

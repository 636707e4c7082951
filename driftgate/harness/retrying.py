"""Attempts of one test, one after another, until one decides."""

from __future__ import annotations

from collections.abc import Callable

from driftgate.config.model import Config, Retry
from driftgate.harness.attempts import AttemptResult, Runnable


def is_retried(suite: str, config: Config, *, asked: bool | None) -> bool:
    """Whether failed tests of the suite are tried again; ``asked`` is ``--retry`` or ``--no-retry``."""
    if asked is not None:
        return asked
    own = config.suites[suite].retry if suite in config.suites else None
    return config.retry.enabled if own is None else own


def attempted(
    test: Runnable, retry: Retry, attempt: Callable[[int], AttemptResult], wait: Callable[[float], bool]
) -> tuple[AttemptResult, ...]:
    """All attempts: ``attempt`` makes the one of that number, from 1 on. The last one is the test's result.

    ``wait`` gets the seconds between two attempts, and returns False where there shall be no other.
    """
    attempts = [attempt(1)]
    while _another_may_help(attempts, test, retry) and wait(retry.wait):
        attempts.append(attempt(len(attempts) + 1))
    return tuple(attempts)


def _another_may_help(attempts: list[AttemptResult], test: Runnable, retry: Retry) -> bool:
    failure = attempts[-1].failure
    return test.retry and len(attempts) < retry.max_attempts and failure is not None and failure.retry

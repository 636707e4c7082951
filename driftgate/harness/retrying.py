"""Attempts of one test, one after another, until one decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from driftgate.config.model import UNKNOWN, Config, Retry
from driftgate.harness.attempts import AttemptResult, Runnable
from driftgate.harness.failure_class import FailureClass


@dataclass(frozen=True, slots=True)
class Attempting:
    """What `attempted` calls. ``attempt`` makes the attempt of that number, from 1 on.

    ``follows`` gets the number of the next attempt, then ``wait`` the seconds until it begins; ``wait`` returns False
    where there shall be none. ``over`` gets why none follows a failure, in a few words.
    """

    attempt: Callable[[int], AttemptResult]
    wait: Callable[[float], bool]
    follows: Callable[[int], None]
    over: Callable[[str], None]


def is_retried(suite: str, config: Config, *, asked: bool | None) -> bool:
    """Whether failed tests of the suite are tried again; ``asked`` is ``--retry`` or ``--no-retry``."""
    if asked is not None:
        return asked
    own = config.suites[suite].retry if suite in config.suites else None
    return config.retry.enabled if own is None else own


def attempted(test: Runnable, retry: Retry, by: Attempting) -> tuple[AttemptResult, ...]:
    """All attempts. The last one is the test's result."""
    attempts = [by.attempt(1)]
    while test.retry and (failure := attempts[-1].failure) is not None:
        if why := _why_no_other(failure, len(attempts), retry):
            by.over(why)
            break
        by.follows(len(attempts) + 1)
        if not by.wait(retry.wait):
            by.over("interrupted")
            break
        attempts.append(by.attempt(len(attempts) + 1))
    return tuple(attempts)


def _why_no_other(failure: FailureClass, made: int, retry: Retry) -> str:
    """Empty where another follows."""
    if not failure.retry:
        unknown = "its failure fits no rule of [retry.rules]"
        return unknown if failure.name == UNKNOWN else f"class {failure.name} is not tried again"
    return "" if made < retry.max_attempts else f"retry.max_attempts is {retry.max_attempts}"

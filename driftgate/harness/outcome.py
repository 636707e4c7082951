"""Exit codes of a job, and which one wins when there are several."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class JobExit(IntEnum):
    """What the harness and the hook answer to the shell."""

    FINE = 0
    TEST_FAILED = 1
    UNUSABLE = 2
    REJECTED = 3
    UNAVAILABLE = 4
    INTERRUPTED = 130


def combined(exits: Iterable[JobExit]) -> JobExit:
    """The lowest that is not FINE; an interruption, being no result, wins over all."""
    found = set(exits)
    if JobExit.INTERRUPTED in found:
        return JobExit.INTERRUPTED
    return min(found - {JobExit.FINE}, default=JobExit.FINE)

"""Connections get lost: computes sleep, poolers restart. What is safe to try again, and how often."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from sqlalchemy.exc import DBAPIError

T = TypeVar("T")

DELAYS_S = (0.1, 0.5, 2.0, 4.0)
_PASSING_STATES = (
    "08",  # connection exceptions; a pooler reports a lost server with these, as InternalError
    "57P",  # the server is stopped, crashed or still starting
    "53300",  # too many connections
    "40",  # deadlock or serialization failure: the transaction was rolled back
    "23505",  # two writers chose the same new row; the second look finds it
)
_FINAL_WORDS = ("authentication failed", "does not exist", "no pg_hba.conf entry")


def retrying(work: Callable[[], T], delays: Sequence[float]) -> T:
    """Call ``work`` until it succeeds, fails for a reason that will not pass, or the delays (seconds) are used up."""
    for delay in delays:
        try:
            return work()
        except DBAPIError as error:
            if not passing(error):
                raise
        time.sleep(delay)
    return work()


def passing(error: DBAPIError) -> bool:
    """Whether the same call may succeed in a moment. Only Postgres: SQLite has waited by itself before it gives up."""
    cause = error.orig
    if not type(cause).__module__.startswith("psycopg"):
        return False
    state = getattr(cause, "sqlstate", None)
    if state is not None:
        return error.connection_invalidated or state.startswith(_PASSING_STATES)
    return type(cause).__name__ == "OperationalError" and not any(words in str(cause) for words in _FINAL_WORDS)

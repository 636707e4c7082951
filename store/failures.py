"""The one seam where a database's errors become the store's: one line each, no password, no driver's words needed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from store.engine import BUSY_TIMEOUT_S
from store.errors import SchemaMismatch, StoreUnavailable
from store.urls import shown

UPGRADE_HINT = "run `driftgate db upgrade`"
_SQLITE_WORDS = {
    "SQLITE_BUSY": f"locked by another process for more than {BUSY_TIMEOUT_S} s; try again when it is done",
    "SQLITE_LOCKED": "locked by another thread; try again",
    "SQLITE_CANTOPEN": "cannot be opened or created; check that the folder exists and is writable",
    "SQLITE_READONLY": "cannot be written; check the permissions of the file and of its folder",
    "SQLITE_NOTADB": "is not a SQLite database; name another path or move the file away",
    "SQLITE_CORRUPT": "is damaged; restore it from a backup",
    "SQLITE_FULL": "cannot grow: the disk is full",
    "SQLITE_IOERR": "cannot be read or written: the disk reports an error",
}
_TIMED_OUT = "due to statement timeout"
_MISSING_TABLE, _MISSING_COLUMN = "42P01", "42703"


@contextmanager
def translated(url: URL) -> Iterator[None]:
    """Turn what the database raises inside the block into `StoreUnavailable` or `SchemaMismatch`."""
    try:
        yield
    except DBAPIError as error:
        raise unavailable(url, error) from error
    except PoolTimeout as error:
        raise StoreUnavailable(f"{shown(url)}: every connection is in use; try again") from error


def unavailable(url: URL, error: DBAPIError) -> StoreUnavailable:
    cause = error.orig
    if is_missing(error):
        return SchemaMismatch(f"{shown(url)}: the schema is not the one this driftgate needs; {UPGRADE_HINT}")
    words = _sqlite_words(cause) if isinstance(cause, sqlite3.Error) else _postgres_words(cause)
    return StoreUnavailable(f"{shown(url)}: {words or one_line(cause)}")


def is_missing(error: DBAPIError) -> bool:
    """Whether a table or column that the statement names is not there."""
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return str(cause).startswith(("no such table", "no such column"))
    return getattr(cause, "sqlstate", None) in {_MISSING_TABLE, _MISSING_COLUMN}


def one_line(cause: BaseException | None) -> str:
    return " ".join(str(cause).split())


def _postgres_words(cause: BaseException | None) -> str | None:
    if _TIMED_OUT not in str(cause):
        return None
    return f"{one_line(cause)}: the server is overloaded or something else holds a lock; try again"


def _sqlite_words(cause: sqlite3.Error) -> str | None:
    name = getattr(cause, "sqlite_errorname", None) or ""
    return next((words for prefix, words in _SQLITE_WORDS.items() if name.startswith(prefix)), None)

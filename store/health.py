"""Is this database fit to be the store? Looked at without changing anything, for ``driftgate doctor``."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, func, select, text
from sqlalchemy.engine import URL

from gate.numbers import counted
from store.engine import make_engine
from store.errors import StoreError
from store.failures import UPGRADE_HINT, translated
from store.migrate import HEAD, known_revision
from store.operations import EnforcementSwitch
from store.schema import runs
from store.settings import get_enforcement
from store.urls import shown, sqlite_path

State = Literal["ok", "warn", "fail"]
SLOW_ANSWER = timedelta(milliseconds=250)
CLOCK_LEAD = timedelta(seconds=60)
OLDEST_POSTGRES = 130_000
_POOLER_PORT = 6432


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that was looked at. ``advice`` says what to do, empty where there is nothing to be done."""

    subject: str
    state: State
    text: str
    advice: str = ""


def diagnose(url: URL, *, project: str, journal: str, connect_timeout_s: int) -> Iterator[Diagnosis]:
    """One after the other, so that a caller who stops waiting has what came before. Never raises StoreError."""
    try:
        if url.drivername == "sqlite":
            yield from _sqlite(url, project, journal)
        else:
            yield from _postgres(url, project, connect_timeout_s)
    except StoreError as error:
        yield Diagnosis("database", "fail", str(error), "see docs/how-to/postgres.md, or choose another by --db")


def looks_pooled(url: URL) -> bool:
    """By its name or port: the endpoint of a transaction pooler, as Neon and PgBouncer have it."""
    return "-pooler" in (url.host or "") or url.port == _POOLER_PORT


def _sqlite(url: URL, project: str, journal: str) -> Iterator[Diagnosis]:
    path = sqlite_path(url)
    if path is None:
        yield Diagnosis("database", "warn", "in memory: gone when the command ends", "give a file or Postgres by --db")
        return
    if not path.exists():
        yield _missing_file(path)
        return
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    if not writable:
        yield Diagnosis("database", "fail", f"{path} or its folder cannot be written", "change the permissions")
    with _connected(url, None) as connection:
        size = path.stat().st_size / 2**20
        yield Diagnosis("database", "ok", f"SQLite {path}, {size:.1f} MiB")
        yield from _sqlite_settings(connection, journal)
        yield from _schema(url, connection, project, "the next command that uses the file upgrades it", "warn")
        yield _integrity(connection)


def _missing_file(path: Path) -> Diagnosis:
    folder = next(parent for parent in path.absolute().parents if parent.exists())
    if folder.is_dir() and os.access(folder, os.W_OK):
        return Diagnosis("database", "ok", f"SQLite {path}, not there yet; the first use makes it")
    advice = "change the permissions, or choose another file by --db"
    return Diagnosis("database", "fail", f"SQLite {path} cannot be made: {folder} cannot be written", advice)


def _sqlite_settings(connection: Connection, journal: str) -> Iterator[Diagnosis]:
    found = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
    if found == journal:
        yield Diagnosis("journal", "ok", str(found))
    else:
        advice = "the next command that uses the file sets it; a file system that cannot keep it (NFS) keeps its own"
        yield Diagnosis("journal", "warn", f"{found}, but [store] journal is {journal}", advice)
    enforced = connection.exec_driver_sql("PRAGMA foreign_keys").scalar()
    broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
    if broken is not None:
        yield Diagnosis("foreign keys", "fail", f"a row of {broken[0]} refers to nothing", "restore a backup")
    elif not enforced:
        yield Diagnosis("foreign keys", "warn", "this SQLite does not enforce them", "use another build of Python")
    else:
        yield Diagnosis("foreign keys", "ok", "enforced, none broken")


def _integrity(connection: Connection) -> Diagnosis:
    answer = str(connection.exec_driver_sql("PRAGMA quick_check(1)").scalar())
    if answer == "ok":
        return Diagnosis("integrity", "ok", "quick check passed")
    return Diagnosis("integrity", "fail", " ".join(answer.split()), "restore a backup")


def _postgres(url: URL, project: str, connect_timeout_s: int) -> Iterator[Diagnosis]:
    with _connected(url, connect_timeout_s) as connection:
        before, begun = datetime.now(UTC), time.monotonic()
        server_time: datetime = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
        answered_in = timedelta(seconds=time.monotonic() - begun)
        yield _server(url, connection, answered_in)
        yield _clock(server_time - (before + answered_in / 2))
        yield from _schema(url, connection, project, UPGRADE_HINT, "fail")


def _server(url: URL, connection: Connection, answered_in: timedelta) -> Diagnosis:
    driver: Any = connection.connection.driver_connection
    version = driver.info.server_version
    ms = answered_in / timedelta(milliseconds=1)
    told = f"PostgreSQL {version // 10_000}.{version % 10_000} at {shown(url)}, answers in {ms:.0f} ms"
    if version < OLDEST_POSTGRES:
        return Diagnosis("database", "warn", told, "tested with PostgreSQL 13 and newer; upgrade the server")
    if answered_in > SLOW_ANSWER:
        return Diagnosis("database", "warn", told, "every gate call waits for 4 such answers; choose a nearer region")
    return Diagnosis("database", "ok", told)


def _clock(lead: timedelta) -> Diagnosis:
    seconds = lead / timedelta(seconds=1)
    told = f"the server's is {abs(seconds):.1f} s {'ahead of' if seconds > 0 else 'behind'} this machine's"
    if abs(lead) <= CLOCK_LEAD:
        return Diagnosis("clock", "ok", told)
    return Diagnosis("clock", "warn", told, "runs are ordered by the time of the machine that writes; run NTP here")


def _schema(url: URL, connection: Connection, project: str, advice: str, behind: State) -> Iterator[Diagnosis]:
    try:
        found = known_revision(url, connection)
    except StoreError as error:
        yield Diagnosis("schema", "fail", str(error))
        return
    if found != HEAD:
        state = "none yet" if found is None else f"revision {found} is behind"
        yield Diagnosis("schema", behind, f"{state}, this version needs {HEAD}", advice)
        return
    yield Diagnosis("schema", "ok", f"revision {HEAD}, current")
    if connection.dialect.name == "postgresql":
        privileges = _privileges(connection)
        yield privileges
        if privileges.state == "fail":
            return
    yield _history(connection, project)
    yield from kill_switch(get_enforcement(connection, project))


def _privileges(connection: Connection) -> Diagnosis:
    row = connection.execute(
        text(
            "SELECT current_user, pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on', "
            "has_table_privilege('runs', 'SELECT'), "
            "has_table_privilege('runs', 'INSERT') AND has_table_privilege('runs', 'UPDATE')"
        )
    ).one()
    user, read_only, reads, writes = row
    if not reads:
        return Diagnosis("privileges", "fail", f"{user} may not read the history", "GRANT SELECT ON ALL TABLES to it")
    if read_only or not writes:
        why = "the server is read-only" if read_only else f"{user} may not write"
        return Diagnosis("privileges", "warn", f"{why}: good for judging, no run can be stored")
    return Diagnosis("privileges", "ok", f"{user} reads and writes")


def _history(connection: Connection, project: str) -> Diagnosis:
    asked = select(func.count(), func.max(runs.c.created_at)).where(runs.c.project == bindparam("project"))
    number, newest = connection.execute(asked, {"project": project}).one()
    if not number:
        return Diagnosis("history", "ok", f"no run of project {project} yet")
    return Diagnosis(
        "history", "ok", f"{counted(number, 'run')} of project {project}, the newest of {newest:%Y-%m-%d %H:%MZ}"
    )


def kill_switch(switch: EnforcementSwitch) -> Iterator[Diagnosis]:
    """Only where it is thrown."""
    if switch.changed_at is not None and not switch.on:
        told = f"switched off in the store by {switch.actor} at {switch.changed_at:%Y-%m-%d %H:%MZ}: {switch.reason}"
        advice = "`driftgate enforcement on` when the reason is gone"
        yield Diagnosis("kill switch", "warn", " ".join(told.split()), advice)


@contextmanager
def _connected(url: URL, connect_timeout_s: int | None) -> Iterator[Connection]:
    engine = make_engine(url, one_shot=True, connect_timeout_s=connect_timeout_s)
    try:
        with translated(url), engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()

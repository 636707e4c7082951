"""Faults at every statement, lost connections, a pooler that restarts: nothing lost, nothing doubled, nothing told."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import traceback
from contextlib import contextmanager

import psycopg
import pytest
import servers
from faults import Broken, at_statement, break_off
from sqlalchemy import event, make_url

from gate.errors import ConfigError
from store.contract import RunFilter
from store.errors import SchemaMismatch, StoreUnavailable
from store.opening import open_store

ALL = RunFilter(limit=1000)


def test_a_write_that_breaks_off_leaves_nothing(database, build):
    """At whichever statement: no run, no values, no attempt superseded; afterwards the same write succeeds."""
    first = database.write_run(build.run(7))
    rerun = build.run(
        7, build.values({0: 1.0, 1: 2.0}), build.values({5: 1.0}, build.key("kl")), facts={"ci_run_attempt": 2}
    )
    number, broken = 0, True
    while broken:
        number += 1
        with at_statement(database, number, break_off) as seen:
            try:
                database.write_run(rerun)
            except Broken:
                assert database.list_runs("default", ALL) == [first]
            else:
                broken = len(seen) >= number
    assert number > 5
    assert build.recent(database, 0, 1) == [[1.0], [2.0]]


def test_a_mark_that_breaks_off_changes_nothing(database, build):
    """Rule, runs and log together, or none of them."""
    runs = [
        database.write_run(build.run(7, identity=build.SeriesIdentity("default", "t", "cuda", name))) for name in "ab"
    ]
    number, broken = 0, True
    while broken:
        number += 1
        with at_statement(database, number, break_off) as seen:
            try:
                assert database.mark_untrusted(**build.BY, ci_run_id=7) == 2
            except Broken:
                assert database.list_runs("default", ALL) == runs[::-1]
                assert database.trust_events("default") == []
            else:
                broken = len(seen) >= number
    assert len(database.trust_events("default")) == 3


@pytest.fixture(params=["postgres_url", pytest.param("pgbouncer_url", marks=pytest.mark.pgbouncer)])
def pooled(request: pytest.FixtureRequest, postgres):
    """The URL of a database, and a way to kill every server process that works for it."""
    url = request.getfixturevalue(request.param)
    name = make_url(url).database

    def kill() -> None:
        postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608 - a name made by the fixture

    return url, kill


@pytest.mark.parametrize("one_shot", [True, False])
def test_a_connection_killed_inside_a_write_loses_and_doubles_nothing(pooled, build, one_shot):
    """At every statement, also COMMIT: the write succeeds, once, and is no repeat."""
    url, kill = pooled
    with open_store(url, one_shot=one_shot) as store:
        store.list_series("default")
        number, reached = 0, True
        while reached:
            number += 1
            with at_statement(store, number, kill) as seen:
                assert not store.write_run(build.run(number)).repeat
            reached = len(seen) >= number
        assert number > 8
        assert len(store.list_runs("default", ALL)) == number


@pytest.mark.parametrize("one_shot", [True, False])
def test_a_connection_killed_between_calls_is_replaced(pooled, build, one_shot):
    """In a service, in a one-shot command, and in the middle of a gate call."""
    url, kill = pooled
    with open_store(url, one_shot=one_shot) as store:
        store.write_run(build.run(1))
        kill()
        store.write_run(build.run(2))
        with store.pinned():
            assert build.recent(store) == [[2.0, 1.0]]
            kill()
            store.write_run(build.run(3))
            kill()
            assert build.recent(store) == [[3.0, 2.0, 1.0]]


def test_an_answer_that_never_arrives(postgres_url, proxies, build):
    """The server committed, the line broke: the retry finds the run, and the mark still tells what it changed."""
    url = make_url(postgres_url)
    proxy = proxies(url.host, url.port)

    def lose() -> None:
        proxy.lose_next_answer = True

    with open_store(url.set(port=proxy.port).render_as_string(hide_password=False)) as store:
        with at_commit(store, lose):
            written = store.write_run(build.run(1))
        assert (written.repeat, len(store.list_runs("default", ALL))) == (False, 1)
        with at_commit(store, lose):
            assert store.mark_untrusted(**build.BY, ci_run_id=1) == 1
        assert len(store.trust_events("default")) == 2


@contextmanager
def at_commit(store, action):
    done = []

    def before(_connection, _cursor, statement, *_more):
        if statement == "COMMIT" and not done:
            done.append(action())

    event.listen(store._connections._engine, "before_cursor_execute", before)
    yield
    assert done


@pytest.mark.pgbouncer
def test_a_pooler_that_restarts_is_waited_for(postgres, postgres_url, build):
    """Down when the call begins, up again a moment later."""
    with servers.private_folder() as folder:
        pooler = servers.PgBouncer(postgres, folder)
        pooler.start()
        try:
            with open_store(pooler.url_of(make_url(postgres_url).database), one_shot=False) as store:
                store.write_run(build.run(1))
                pooler.stop()
                back = threading.Timer(0.8, pooler.start)
                back.start()
                store.write_run(build.run(2))
                back.join()
                assert build.recent(store) == [[2.0, 1.0]]
        finally:
            pooler.stop()


@pytest.mark.pgbouncer
def test_two_clients_of_one_pooled_connection_get_their_own_rows(pgbouncer_url, build):
    """Prepared statements would hand one client the other's rows: many calls in turn, each with its own answer."""
    with open_store(pgbouncer_url, one_shot=False) as one, open_store(pgbouncer_url, one_shot=False) as two:
        for number in range(12):
            for name, store in (("one", one), ("two", two)):
                store.write_run(build.run(number, identity=build.SeriesIdentity(name, "t", "cuda", "s")))
        for _ in range(12):
            for name, store in (("one", one), ("two", two)):
                assert [summary.identity.project for summary in store.list_series(name)] == [name]


def _told(error: pytest.ExceptionInfo) -> str:
    return "".join(traceback.format_exception(error.value))


class TestPasswords:
    def test_a_wrong_password_is_told_without_it(self, postgres_url):
        """At once and in one line, also not in the traceback."""
        url = make_url(postgres_url).set(password="wr%ng-" + "s3cret").render_as_string(hide_password=False)
        with open_store(url) as store, pytest.raises(StoreUnavailable, match="authentication failed") as error:
            store.list_series("default")
        assert "\n" not in str(error.value)
        assert "s3cret" not in _told(error)

    def test_no_server_is_told_without_the_password(self, monkeypatch):
        """Host, port and database are named."""
        url = f"postgresql://me:s3cret@127.0.0.1:{servers.free_port()}/history?password=s3cret"
        monkeypatch.setattr("store.connections.DELAYS_S", ())
        with open_store(url) as store, pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1.*history") as error:
            store.list_series("default")
        assert "\n" not in str(error.value)
        assert "s3cret" not in _told(error)

    @pytest.mark.parametrize("url", ["mysql://me:s3cret@host/db", "postgresql://me:s3cret@host:port/db", "s3cret", ""])
    def test_a_url_that_cannot_be_used(self, url):
        """Says what to write, without what was written."""
        with pytest.raises(ConfigError, match="write") as error:
            open_store(url)
        assert "s3cret" not in _told(error)

    @pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
    def test_every_spelling_of_postgres(self, postgres_url, scheme):
        """As hosting services write it; the test server's password is full of special characters."""
        with open_store(postgres_url.replace("postgresql", scheme, 1)) as store:
            assert store.list_series("default") == []

    def test_a_percent_sign_as_it_is(self, postgres, postgres_url):
        """A password with a bare % that is no escape works."""
        name = make_url(postgres_url).database
        postgres.run("DROP ROLE IF EXISTS percent", "CREATE ROLE percent LOGIN SUPERUSER PASSWORD '100%pure'")
        url = f"postgres://percent:100%pure@{postgres.url.host}:{postgres.url.port}/{name}"
        with open_store(url) as store:
            assert store.list_series("default") == []
        postgres.run("DROP ROLE percent")


class TestSqliteFiles:
    def test_file_and_folder_are_made_on_first_use(self, tmp_path, build):
        """Nothing to prepare; relative paths are relative to the working folder."""
        path = tmp_path / "a" / "b" / "history.db"
        with open_store(f"sqlite:///{path}") as store:
            store.write_run(build.run(1))
        with open_store(f"sqlite:///{path}") as store:
            assert build.recent(store) == [[1.0]]

    def test_a_folder_that_cannot_be_made(self, tmp_path):
        """One line that names the path."""
        (tmp_path / "file").write_text("")
        with pytest.raises(StoreUnavailable, match=r"file/history\.db.*cannot be created"):
            open_store(f"sqlite:///{tmp_path / 'file' / 'history.db'}")

    def test_a_folder_in_place_of_the_file(self, tmp_path):
        """One line that names the path."""
        with pytest.raises(StoreUnavailable, match="cannot be opened or created"):
            open_store(f"sqlite:///{tmp_path}")

    def test_a_file_that_is_no_database(self, tmp_path):
        """It is told and left alone."""
        path = tmp_path / "notes.txt"
        path.write_text("important notes, " * 100)
        with pytest.raises(StoreUnavailable, match=r"notes\.txt: is not a SQLite database"):
            open_store(f"sqlite:///{path}")
        assert path.read_text().startswith("important notes")

    def test_a_database_of_something_else(self, tmp_path):
        """Another program's tables are not touched; ours are made beside them."""
        path = tmp_path / "other.db"
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE notes (text)")
        other.close()
        with open_store(f"sqlite:///{path}") as store:
            assert store.list_series("default") == []

    def test_a_read_only_file(self, tmp_path, build):
        """Reading works where the system allows it, writing says what is wrong."""
        path = tmp_path / "history.db"
        with open_store(f"sqlite:///{path}", journal="delete") as store:
            store.write_run(build.run(1))
            engine = store._connections._engine
            event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA query_only = ON"))
            engine.dispose()
            assert build.recent(store) == [[1.0]]
            with pytest.raises(StoreUnavailable, match="cannot be written; check the permissions"):
                store.write_run(build.run(2))

    def test_locked_by_another_process(self, tmp_path, build, monkeypatch):
        """Waited for, then told; what was stored stays readable."""
        monkeypatch.setattr("store.engine.BUSY_TIMEOUT_S", 0.2)
        path = tmp_path / "history.db"
        with open_store(f"sqlite:///{path}") as store:
            store.write_run(build.run(1))
            hold = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('BEGIN IMMEDIATE'); print('held', flush=True); sys.stdin.read()"
            holder = subprocess.Popen(
                [sys.executable, "-c", hold, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            assert holder.stdout.readline() == "held\n"
            with pytest.raises(StoreUnavailable, match="locked by another process"):
                store.write_run(build.run(2))
            assert build.recent(store) == [[1.0]]
            holder.communicate("")
            store.write_run(build.run(2))

    def test_a_full_disk(self, tmp_path, build):
        """Told as such; earlier runs stay."""
        with open_store(f"sqlite:///{tmp_path / 'history.db'}") as store:
            store.write_run(build.run(1))
            engine = store._connections._engine
            with engine.connect() as connection:
                pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
                connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}")
            big = build.values(dict.fromkeys(range(50_000), 1.0))
            with pytest.raises(StoreUnavailable, match="the disk is full"):
                store.write_run(build.run(2, big))
            assert build.recent(store) == [[1.0]]

    @pytest.mark.parametrize("journal", ["wal", "delete"])
    def test_the_journal_is_the_configured_one(self, tmp_path, journal):
        """Also when the file had the other one."""
        path = tmp_path / "history.db"
        for mode in ("delete", "wal", journal):
            open_store(f"sqlite:///{path}", journal=mode).close()
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == (journal,)
        connection.close()

    def test_a_truncated_schema_is_told(self, tmp_path):
        """A table that somebody dropped: which file, and what to do."""
        path = tmp_path / "history.db"
        open_store(f"sqlite:///{path}").close()
        with sqlite3.connect(path) as connection:
            connection.execute("DROP TABLE epochs")
        connection.close()
        with open_store(f"sqlite:///{path}") as store, pytest.raises(SchemaMismatch, match=r"history\.db.*db upgrade"):
            store.read_history(_identity(), [], 20, 20, None)


def _identity():
    from gate.identity import SeriesIdentity

    return SeriesIdentity("default", "t", "cuda", "s")


def test_a_statement_that_takes_too_long_is_ended(postgres_url, build, monkeypatch):
    """A writer that waits for a lock which nobody releases gives up with a clear line."""
    monkeypatch.setattr("store.connections.STATEMENT_TIMEOUT_MS", 200)
    with open_store(postgres_url) as store, psycopg.connect(postgres_url) as other:
        store.write_run(build.run(1))
        other.execute("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StoreUnavailable, match="statement timeout"):
            store.write_run(build.run(2))
        other.rollback()
        store.write_run(build.run(2))
        assert build.recent(store) == [[2.0, 1.0]]

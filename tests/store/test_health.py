"""What is told about a database, with nothing in it changed."""

import sqlite3
import uuid
from contextlib import closing
from datetime import timedelta

import psycopg
import pytest

from store import health
from store.health import diagnose, looks_pooled
from store.migrate import HEAD, upgrade
from store.opening import open_store
from store.urls import parse_url


def told(url, *, journal="wal"):
    """State and text of each subject."""
    found = diagnose(parse_url(url), project="default", journal=journal, connect_timeout_s=5)
    return {one.subject: (one.state, one.text) for one in found}


def states(url, **more):
    return {subject: state for subject, (state, _) in told(url, **more).items()}


def test_a_good_store(url, build):
    """Every line is ok, and the history of the project is told."""
    with open_store(url) as opened:
        opened.write_run(build.run(1))
    found = told(url)
    assert {state for state, _ in found.values()} == {"ok"}, found
    assert found["schema"][1] == f"revision {HEAD}, current"
    assert found["history"][1] == "1 run of project default, the newest of 2024-01-01 01:00Z"


def test_a_thrown_kill_switch(url, build):
    """A warning with who, when and why, on one line; nothing once it is back on."""
    with open_store(url) as opened:
        opened.set_enforcement(project="default", on=False, reason="image\nbroke", actor="ana")
        state, text = told(url)["kill switch"]
        assert (state, text.startswith("switched off in the store by ana at 20")) == ("warn", True)
        assert text.endswith(": image broke")
        opened.set_enforcement(project="default", on=True, reason="r", actor="ana")
    assert "kill switch" not in told(url)


def test_a_database_without_a_schema(empty_postgres_url):
    """A failure on Postgres, with what to do; and no table appears."""
    found = list(diagnose(parse_url(empty_postgres_url), project="default", journal="wal", connect_timeout_s=5))
    (schema,) = [one for one in found if one.subject == "schema"]
    assert (schema.state, schema.text) == ("fail", f"none yet, this version needs {HEAD}")
    assert "db upgrade" in schema.advice
    assert told(empty_postgres_url)["schema"][1].startswith("none yet")


def test_a_sqlite_file_that_is_not_there(tmp_path):
    """Fine, and not made by looking."""
    path = tmp_path / "deep" / "history.db"
    assert states(f"sqlite:///{path}") == {"database": "ok"}
    assert list(tmp_path.iterdir()) == []


def test_memory_is_no_history():
    """It is warned of."""
    assert states("sqlite://") == {"database": "warn"}


@pytest.mark.parametrize(("revision", "state"), [("0001", "warn"), ("9999", "fail"), (HEAD, "ok")])
def test_the_revision_of_a_sqlite_file(tmp_path, revision, state):
    """Behind it is upgraded at its next use; a newer one is of a newer driftgate."""
    path = tmp_path / "history.db"
    upgrade(f"sqlite:///{path}")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    assert states(f"sqlite:///{path}")["schema"] == state


def test_tables_of_something_else(tmp_path):
    """Named as such, and left alone."""
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE runs (id)")
    content = path.read_bytes()
    state, text = told(f"sqlite:///{path}")["schema"]
    assert (state, "something else" in text, path.read_bytes()) == ("fail", True, content)


@pytest.mark.parametrize("content", [b"precious notes " * 99, b"SQLite format 3\0" + b"x" * 4096])
def test_a_file_that_is_no_database(tmp_path, content):
    """One line, nothing raised, the file as it was."""
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    assert states(f"sqlite:///{path}")["database"] == "fail"
    assert path.read_bytes() == content


def test_a_journal_that_is_not_the_configured_one(tmp_path):
    """A warning: it is set at the next use."""
    url = f"sqlite:///{tmp_path}/history.db"
    open_store(url, journal="delete").close()
    assert (states(url)["journal"], states(url, journal="delete")["journal"]) == ("warn", "ok")


def test_a_row_that_refers_to_nothing(tmp_path):
    """Foreign keys may have been off when somebody edited the file."""
    url = f"sqlite:///{tmp_path}/history.db"
    open_store(url).close()
    with closing(sqlite3.connect(tmp_path / "history.db")) as connection, connection:
        connection.execute("INSERT INTO gate_specs VALUES (1, 77, 'h', 'm', 's', 'c')")
    assert told(url)["foreign keys"] == ("fail", "a row of gate_specs refers to nothing")


def test_a_damaged_file(tmp_path, build):
    """The quick check sees a page that was overwritten."""
    url, path = f"sqlite:///{tmp_path}/history.db", tmp_path / "history.db"
    with open_store(url, journal="delete") as store:
        for number in range(1, 40):
            store.write_run(build.run(number))
    content = bytearray(path.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'ix_runs_counting'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content[(page - 1) * size : page * size] = b"\xff" * size
    path.write_bytes(content)
    assert "fail" in states(url, journal="delete").values()


@pytest.mark.parametrize(
    ("grants", "state"),
    [([], "fail"), (["SELECT"], "warn"), (["SELECT", "INSERT"], "warn"), (["SELECT", "INSERT", "UPDATE"], "ok")],
)
def test_what_a_role_may_do(postgres_url, grants, state):
    """Reading is enough to judge, and warned of; without it nothing works."""
    role = f"role_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        password = parse_url(postgres_url).password or "none needed"
        admin.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{password}'")
        admin.execute(f"GRANT SELECT ON alembic_version TO {role}")
        for grant in grants:
            admin.execute(f"GRANT {grant} ON runs TO {role}")
        try:
            url = parse_url(postgres_url).set(username=role)
            assert states(url.render_as_string(hide_password=False))["privileges"] == state
        finally:
            admin.execute(f"DROP OWNED BY {role}")
            admin.execute(f"DROP ROLE {role}")


def test_an_unreachable_server():
    """One failure that names the place and hides the password."""
    found = told("postgresql://ci:s3cret@127.0.0.1:1/history")
    assert (list(found), found["database"][0]) == (["database"], "fail")
    assert "s3cret" not in found["database"][1]
    assert "127.0.0.1" in found["database"][1]


@pytest.mark.parametrize(
    ("seconds", "state", "text"),
    [
        (0.4, "ok", "0.4 s ahead of"),
        (-59, "ok", "59.0 s behind"),
        (61, "warn", "61.0 s ahead of"),
        (-9e4, "warn", "behind"),
    ],
)
def test_clocks_apart(seconds, state, text):
    """Up to a minute is fine: nights are ordered by it."""
    found = health._clock(timedelta(seconds=seconds))
    assert (found.state, text in found.text) == (state, True)


def test_a_clock_that_is_wrong(postgres_url, monkeypatch):
    """It is this machine's time that is compared with the server's."""
    real = health.datetime

    class Late(real):
        @classmethod
        def now(cls, zone=None):
            return real.now(zone) - timedelta(hours=3)

    monkeypatch.setattr(health, "datetime", Late)
    state, text = told(postgres_url)["clock"]
    assert (state, "ahead of" in text) == ("warn", True)


@pytest.mark.parametrize(
    ("url", "pooled"),
    [
        ("postgresql://h/x", False),
        ("postgresql://h:6432/x", True),
        ("postgresql://ep-cool-pooler.eu.example.net/x", True),
        ("postgresql:///x", False),
        ("sqlite:///x.db", False),
    ],
)
def test_what_looks_pooled(url, pooled):
    """By name or port."""
    assert looks_pooled(parse_url(url)) == pooled

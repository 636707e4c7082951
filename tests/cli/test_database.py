"""``driftgate db``: SQLite and a real Postgres."""

import pytest

from store.migrate import HEAD


def test_sqlite(person):
    """None before, the newest after, harmless to repeat; looking creates nothing."""
    assert person.json("db", "current") == {"schema": 1, "revision": None, "head": HEAD}
    assert not (person.home / ".driftgate").exists()
    looked = person.call("db", "current")
    assert (looked.out, looked.code) == (f"revision none yet, this version needs {HEAD}\n", 0)
    for _ in range(2):
        assert person.json("db", "upgrade") == {"schema": 1, "revision": HEAD}
    assert person.call("db", "upgrade").err == f"the schema is at revision {HEAD}\n"
    assert person.json("db", "current") == {"schema": 1, "revision": HEAD, "head": HEAD}


def test_postgres(person, clean, empty_postgres_url):
    """Nothing is made behind the operator's back: without the schema each command says what to run, then works."""
    clean.setenv("DRIFTGATE_DATABASE_URL", empty_postgres_url)
    answer = person.call("runs", "list")
    assert (answer.code, answer.out, len(answer.lines)) == (4, "", 1)
    assert "run `driftgate db upgrade`" in answer.err
    assert person.json("db", "current")["revision"] is None
    person.test()
    assert "run `driftgate db upgrade`" in person.judge(1.0)["reason"]
    assert person.json("db", "upgrade")["revision"] == HEAD
    first = person.judge(1.0)
    second = person.judge(1.5)
    assert second["coordinates"][0]["checks"]["corridor"]["hi"] == 1.5
    assert [run["run_id"] for run in person.runs()] == [second["written"]["run_id"], first["written"]["run_id"]]
    (spec,) = person.json("baseline", "test_a.py")["specs"]
    assert spec["mean"] == [1.25]
    assert person.call("runs", "replay", second["written"]["run_id"]).code == 0
    marked = person.json("mark-untrusted", "--run-id", second["written"]["run_id"], "--reason", "r")
    assert marked["changed"] == 1


def test_the_direct_endpoint_is_preferred(person, clean, empty_postgres_url):
    """DRIFTGATE_MIGRATION_URL is where the schema is changed; an explicit --db wins over it."""
    clean.setenv("DRIFTGATE_DATABASE_URL", "postgresql://me:secret@127.0.0.1:9/pooler")
    clean.setenv("DRIFTGATE_MIGRATION_URL", empty_postgres_url)
    assert person.json("db", "upgrade")["revision"] == HEAD
    assert person.json("db", "current")["revision"] == HEAD
    assert person.json("db", "current", "--db", "sqlite:///new.db")["revision"] is None


@pytest.mark.parametrize("command", ["db upgrade", "db current", "runs list", "baseline test_a.py"])
def test_passwords_are_never_shown(person, clean, empty_postgres_url, command):
    """Neither from a server that refuses it nor from one that is not there."""
    clean.setattr("store.retry.time.sleep", lambda _: None)
    wrong = empty_postgres_url.rpartition("@")[2]
    for url in (f"postgresql://driftgate:hunter2@{wrong}", "postgresql://driftgate:hunter2@127.0.0.1:9/x"):
        clean.setenv("DRIFTGATE_DATABASE_URL", url)
        answer = person.call(*command.split())
        assert (answer.code, answer.out, len(answer.lines)) == (4, "", 1)
        assert "hunter2" not in answer.err

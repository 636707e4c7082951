"""What the store does on Postgres beside the contract: limits of time, silence, a dialect that asks nothing."""

from __future__ import annotations

import psycopg
import pytest
from sqlalchemy import create_engine, make_url, text

from store.contract import RunFilter
from store.engine import make_engine
from store.errors import StoreUnavailable
from store.opening import open_store
from store.urls import parse_url

POOLED = [pytest.param("postgres_url"), pytest.param("pgbouncer_url", marks=pytest.mark.pgbouncer)]


@pytest.fixture(params=POOLED)
def pooled_url(request: pytest.FixtureRequest) -> str:
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("unit_of_work", ["read", "write"])
def test_a_statement_has_a_limit_of_time(pooled_url, unit_of_work):
    """Inside a read as inside a write, and it ends with them: a pooled connection goes back as it came."""
    with open_store(pooled_url, one_shot=False) as store:
        connections = store._connections
        limit = getattr(connections, unit_of_work)(lambda one: one.scalar(text("SHOW statement_timeout")))
        assert limit == "30s"
        with connections._engine.connect() as connection:
            assert connection.scalar(text("SHOW statement_timeout")) != limit


def test_a_read_that_waits_for_a_lock_is_ended(postgres_url, build, monkeypatch):
    """With a line that says so; afterwards the same connection reads on."""
    monkeypatch.setattr("store.connections.STATEMENT_TIMEOUT_MS", 200)
    with open_store(postgres_url, one_shot=False) as store, store.pinned(), psycopg.connect(postgres_url) as other:
        run = store.write_run(build.run(1))
        other.execute("LOCK TABLE runs IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StoreUnavailable, match=r"statement timeout.*holds a lock"):
            store.list_runs("default", RunFilter())
        other.rollback()
        assert store.list_runs("default", RunFilter()) == [run]


def test_a_connection_lost_in_a_call_is_not_logged(postgres_url, proxies, build, caplog):
    """Lost before the answer, in a write and in a read: tried again. A line of the driver's would end on stderr."""
    url = make_url(postgres_url)
    proxy = proxies(url.host, url.port)
    with open_store(url.set(port=proxy.port).render_as_string(hide_password=False)) as store, store.pinned():
        for call in (lambda: store.write_run(build.run(1)), lambda: store.list_runs("default", RunFilter())):
            call()
            proxy.lose_next_answer = True
            call()
    assert caplog.messages == []


def test_the_dialect_knows_without_asking_what_it_would_ask(postgres_url):
    """All that SQLAlchemy sets at a first connection has the value it sets, except the schema and a cache."""
    asking, quiet = (
        create_engine(parse_url(postgres_url), use_native_hstore=False),
        make_engine(parse_url(postgres_url), one_shot=True),
    )
    before = dict(vars(asking.dialect))
    for engine in (asking, quiet):
        with engine.connect():
            pass
        engine.dispose()
    learned = {name: value for name, value in vars(asking.dialect).items() if before.get(name, before) != value}
    for name in ("default_schema_name", "_type_memos"):
        del learned[name]
    assert {"server_version_info", "_backslash_escapes", "default_isolation_level"} <= set(learned)
    assert {name: getattr(quiet.dialect, name) for name in learned} == learned

"""Fixtures shared by every test: real database servers, each test with a fresh database of its own."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from store import migrate

if settings.get_current_profile_name() == "default":  # in CI hypothesis loads "ci" itself: the same examples each time
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")


def _load(name: str):
    """A module beside this file: import mode importlib puts no test folder on the path."""
    spec = spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


servers = _load("servers")
identity_issuer = _load("identity_issuer")
service_process = _load("service_process")


def pytest_configure(config: pytest.Config) -> None:
    # A shell that starts this in the background lets it ignore Ctrl-C, and every process that a test starts as well.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.addinivalue_line("markers", "pgbouncer: needs PgBouncer; deselected where it is not installed, never in CI")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if servers.pgbouncer_program() or os.environ.get("CI") == "true":
        return
    missing = [item for item in items if item.get_closest_marker("pgbouncer")]
    config.hook.pytest_deselected(items=missing)
    items[:] = [item for item in items if item not in missing]


@pytest.fixture(scope="session")
def postgres() -> Iterator[servers.Postgres]:
    """A real PostgreSQL server."""
    with servers.postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def migrated_template(postgres: servers.Postgres) -> Iterator[str]:
    """The name of a database with the newest schema, to copy others from."""
    with postgres.database() as name:
        migrate.upgrade(postgres.url_of(name))
        yield name


@pytest.fixture
def postgres_url(postgres: servers.Postgres, migrated_template: str) -> Iterator[str]:
    """The URL of a fresh database with the newest schema."""
    with postgres.database(migrated_template) as name:
        yield postgres.url_of(name)


@pytest.fixture
def empty_postgres_url(postgres: servers.Postgres) -> Iterator[str]:
    """The URL of a fresh database without any table."""
    with postgres.database() as name:
        yield postgres.url_of(name)


@pytest.fixture(scope="session")
def running_pgbouncer(postgres: servers.Postgres) -> Iterator[servers.PgBouncer]:
    with servers.private_folder() as folder:
        pooler = servers.PgBouncer(postgres, folder)
        pooler.start()
        yield pooler
        pooler.stop()


@pytest.fixture
def pgbouncer_url(running_pgbouncer: servers.PgBouncer, postgres_url: str) -> str:
    """The URL of a fresh database with the newest schema, through PgBouncer in transaction mode."""
    return running_pgbouncer.url_of(servers.make_url(postgres_url).database)


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., service_process.ServiceProcess]]:
    """Starts services in a folder of their own, each a real process, and ends them with the test."""
    started = []

    def start(*options: str, **more: Any) -> service_process.ServiceProcess:
        started.append(service_process.ServiceProcess(tmp_path, *options, **more))
        return started[-1]

    yield start
    for one in started:
        one.kill()


@pytest.fixture
def issuer() -> Iterator[identity_issuer.Issuer]:
    """A CI service that signs identity tokens."""
    with identity_issuer.running_issuer() as running:
        yield running


@pytest.fixture(scope="session")
def running_server() -> Iterator[Any]:
    """One real HTTP server for every service of the session."""
    with _load("serving").Server() as server:
        yield server


@pytest.fixture
def served(running_server: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AbstractContextManager[str]]:
    """Serves a database; gives the URL. Whoever has a token may do everything in every project: who may do what has
    tests of its own, and here one store reads, writes and operates.
    """
    from api.callers import GRANTS, SCOPES

    monkeypatch.setitem(GRANTS, "operate", frozenset(SCOPES))
    return running_server.serving

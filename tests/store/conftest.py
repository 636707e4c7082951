"""The stores under test: one contract, every backend a parameter."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from store.contract import MetricHistoryStore
from store.http_store import HttpMetricHistoryStore
from store.opening import open_database
from store.sql_store import SqlMetricHistoryStore

FILES = ["sqlite", "postgres", pytest.param("pgbouncer", marks=pytest.mark.pgbouncer)]


@pytest.fixture(scope="session")
def build() -> ModuleType:
    """Small runs, and a plain model of a baseline."""
    return _load("builders")


@pytest.fixture(scope="session")
def judging() -> ModuleType:
    """Runs judged by the gate before they are written."""
    return _load("judging")


@pytest.fixture(scope="session")
def history_model() -> ModuleType:
    """A plain model of one series."""
    return _load("history_model")


@pytest.fixture(params=FILES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a fresh database that several processes can open."""
    return _url_of(request, tmp_path)


@pytest.fixture(params=[*FILES, "memory"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlMetricHistoryStore]:
    """A fresh, empty database, for what only its owner does and for what reaches inside."""
    with _opened(request, tmp_path, "run") as opened:
        yield opened


@pytest.fixture(params=[*FILES, "memory", "http"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MetricHistoryStore]:
    """A fresh, empty store on each backend, and one behind a service."""
    with _opened(request, tmp_path, "run") as opened:
        yield opened


@pytest.fixture(params=[*FILES, "memory", "http"])
def metric_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MetricHistoryStore]:
    """A fresh store in which single gate specs count, not whole runs."""
    with _opened(request, tmp_path, "metric") as opened:
        yield opened


@pytest.fixture
def behind(request: pytest.FixtureRequest) -> Callable[[MetricHistoryStore], MetricHistoryStore]:
    """The database behind a service, else the store itself: for many runs, or runs that a service would distrust."""

    def find(store: MetricHistoryStore) -> MetricHistoryStore:
        return request.getfixturevalue("running_server").store if isinstance(store, HttpMetricHistoryStore) else store

    return find


@contextmanager
def _opened(request: pytest.FixtureRequest, tmp_path: Path, grain: str) -> Iterator[MetricHistoryStore]:
    if request.param == "http":
        served = request.getfixturevalue("served")(f"sqlite:///{tmp_path / 'served.db'}", trust=grain)
        with served as url, HttpMetricHistoryStore(url, token=lambda: "anybody") as opened:
            yield opened
        return
    with open_database(_url_of(request, tmp_path), one_shot=False, trust=grain) as opened:
        yield opened


def _url_of(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "memory":
        return "sqlite://"
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'history.db'}"
    return request.getfixturevalue(f"{request.param}_url")


@pytest.fixture
def proxies() -> Iterator[Callable[[str, int], Any]]:
    """Makes counting proxies before a server, closed at the end."""
    made = []

    def make(host: str, port: int):
        made.append(_load("proxy").CountingProxy(host, port))
        return made[-1]

    yield make
    for proxy in made:
        proxy.close()


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"_store_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


sys.modules["faults"] = _load("faults")

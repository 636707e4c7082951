"""The configured store, opened for one gate call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from driftgate.config.model import Config
from store.contract import MetricHistoryStore
from store.opening import open_store
from store.urls import check_store_url

OpenHistory = Callable[[], AbstractContextManager[MetricHistoryStore]]


def check_history_url(config: Config) -> None:
    """Raises ConfigError for a ``[store] url`` that nobody can use, before there is anything to lose."""
    check_store_url(config.store.url)


@contextmanager
def configured_history(config: Config) -> Iterator[MetricHistoryStore]:
    """The store of ``[store] url`` on one connection, closed at the end. Raises StoreError."""
    with open_store(config.store.url, trust=config.trust, journal=config.store.journal) as store, store.pinned():
        yield store

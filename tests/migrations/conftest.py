"""Databases to migrate, on both sides."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine

from store import migrate
from store.urls import parse_url


@pytest.fixture(params=["sqlite", "postgres"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a database without any table."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'new' / 'history.db'}"
    return request.getfixturevalue("empty_postgres_url")


@pytest.fixture
def connection(empty_url: str):
    """A connection to a database that the migrations made."""
    migrate.upgrade(empty_url)
    engine = create_engine(parse_url(empty_url))
    with engine.connect() as opened:
        yield opened
    engine.dispose()

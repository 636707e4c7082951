"""Databases of something else: never changed, never mixed with ours."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from store import migrate
from store.errors import StoreUnavailable
from store.opening import open_store
from store.urls import parse_url


def _execute(url: str, *statements: str) -> None:
    migrate.make_folder(parse_url(url))
    engine = create_engine(parse_url(url))
    with engine.begin() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def _content(url: str) -> bytes | list:
    """All of a file; of a server's database every column of every table."""
    if url.startswith("sqlite"):
        return Path(url.removeprefix("sqlite:///")).read_bytes()
    engine = create_engine(parse_url(url))
    columns = (
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2"
    )
    with engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(text(columns))]
    engine.dispose()
    return found


@pytest.mark.parametrize("table", ["runs", "metric_values", "metric_series"])
def test_tables_with_our_names_are_left_alone(empty_url, table):
    """One line that names one of them and says what to do; the file is the same to the byte."""
    _execute(empty_url, f"CREATE TABLE {table} (id INTEGER)")
    before = _content(empty_url)
    for act in (migrate.upgrade, _open) if empty_url.startswith("sqlite") else (migrate.upgrade,):
        with pytest.raises(StoreUnavailable, match=f"of something else, among them '{table}'.*choose another") as error:
            act(empty_url)
        assert "\n" not in str(error.value)
    assert _content(empty_url) == before


def _open(url: str) -> None:
    open_store(url).close()


def test_tables_with_other_names_are_no_hindrance(empty_url):
    """Ours are made beside them."""
    _execute(empty_url, "CREATE TABLE notes (id INTEGER)")
    assert migrate.upgrade(empty_url) == migrate.HEAD


def test_a_newer_file_is_left_alone_too(tmp_path):
    """Nothing in a file changes before it is known to be ours."""
    url = f"sqlite:///{tmp_path / 'history.db'}"
    migrate.upgrade(url)
    _execute(url, "UPDATE alembic_version SET version_num = '9999'")
    before = _content(url)
    with pytest.raises(StoreUnavailable, match="newer"):
        open_store(url)
    assert _content(url) == before

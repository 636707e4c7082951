"""The SQL that the documentation shows runs as it stands, on both databases, and finds what it says."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from gate.identity import SeriesIdentity, SpecKey
from gate.provenance import Provenance
from store.contract import NewRun, SeriesValues
from store.opening import open_store

CHECKOUT = Path(__file__).parents[2]
EXAMPLE = SeriesIdentity("default", "tests/e2e/test_driftgate_example.py", "cpu", "stage-a-cpu")


def _queries():
    """Page and text of every SQL block."""
    for page in sorted(CHECKOUT.glob("docs/**/*.md")):
        parts = page.read_text(encoding="utf-8").split("```sql\n")[1:]
        yield from (pytest.param(part.partition("\n```")[0], id=f"{page.stem}-{n}") for n, part in enumerate(parts))


def _fill(url):
    """Three nights, the last one red."""
    with open_store(url) as store:
        for night in (1, 2, 3):
            series = SeriesValues(
                SpecKey("train/ppo_kl", '"all"', "{}"), (2, 3), (0.5, float(night)), trusted=night < 3, points=2
            )
            facts = Provenance(ci_run_id=night, ci_run_attempt=1, test_attempt=1, tested_sha="a" * 40)
            at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=night)
            run = NewRun(
                EXAMPLE, at, series=(series,), trusted=night < 3, has_error=False, provenance=facts, verdict={}
            )
            store.write_run(run)


@pytest.fixture
def answers(tmp_path, postgres_url):
    """The rows of a query on SQLite and on Postgres."""
    _fill(f"sqlite:///{tmp_path}/h.db")
    _fill(postgres_url)

    def ask(query):
        with closing(sqlite3.connect(tmp_path / "h.db")) as file, psycopg.connect(postgres_url) as server:
            return file.execute(query).fetchall(), server.execute(query).fetchall()

    return ask


@pytest.mark.parametrize("query", list(_queries()))
def test_a_query_finds_the_same_on_both_databases(query, answers):
    """Some rows, and as many on either."""
    on_sqlite, on_postgres = answers(query)
    assert 0 < len(on_sqlite) == len(on_postgres)


def test_there_are_queries():
    """Negative control: the pages are found."""
    assert len(list(_queries())) >= 7

"""The views, for people and for tools: they answer what a question to the tables would."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import create_engine, inspect, select, text

from gate.identity import SeriesIdentity, SpecKey
from gate.provenance import Provenance
from store import migrate
from store.contract import NewRun, SeriesValues
from store.opening import open_store
from store.schema import VIEWS, gate_specs, packed_series, runs, series, step_sets
from store.urls import parse_url

ADDRESS = (gate_specs.c.metric_key, gate_specs.c.steps_key, gate_specs.c.constraint_key)


@pytest.fixture
def two_runs(empty_url) -> str:
    """The URL of a database with two runs of two gate specs; the second is superseded by the first."""
    migrate.upgrade(empty_url)
    loss, kl = SpecKey("loss", '"all"', "{}"), SpecKey("kl", '"last"', "{}")
    identity, judged = SeriesIdentity("p", "t", "cuda", "s"), {"trusted": True, "has_error": False}
    with open_store(empty_url) as store:
        for attempt in (2, 1):
            of_loss = SeriesValues(loss, (0, 7), (0.5 * attempt, -0.0), trusted=True, points=9)
            of_kl = SeriesValues(kl, (-1,), (5e-324,), trusted=False, points=3, at_step=8)
            facts = Provenance(tested_sha="a" * 40, ci_run_id=7, ci_run_attempt=attempt, test_attempt=1)
            at = datetime(2024, 1, attempt, tzinfo=UTC)
            store.write_run(NewRun(identity, at, series=(of_loss, of_kl), provenance=facts, verdict={}, **judged))
    return empty_url


def _plain(cell: object) -> object:
    """What SQLite keeps as JSON text, number or text of a time is the same value as on Postgres."""
    if isinstance(cell, str) and cell.startswith("["):
        return json.loads(cell)
    return datetime.fromisoformat(cell) if isinstance(cell, str) and cell.startswith("2024-") else cell


def _asked(url: str, statement: object) -> list[dict]:
    engine = create_engine(parse_url(url))
    with engine.connect() as opened:
        rows = [dict(row) for row in opened.execute(statement).mappings()]
    engine.dispose()
    return [{name: _plain(cell) for name, cell in row.items()} for row in rows]


def _in_order(rows: list[dict]) -> list[dict]:
    """Times without their zone: SQLite has none."""
    unzoned = [
        {name: cell.replace(tzinfo=None) if isinstance(cell, datetime) else cell for name, cell in row.items()}
        for row in rows
    ]
    return sorted(unzoned, key=lambda row: (row["run_id"], row["metric_key"], row.get("step")))


def _packed_with(*columns):
    rows = packed_series.join(runs, runs.c.seq == packed_series.c.run_seq).join(series)
    rows = rows.join(gate_specs, gate_specs.c.id == packed_series.c.gate_spec_id).join(step_sets)
    return select(*columns).select_from(rows)


def test_metric_series_is_what_the_models_say(two_runs):
    """One row per run and gate spec, its steps beside its values, exact; the columns by name and in order."""
    model = _packed_with(
        runs.c.run_id,
        packed_series.c.run_seq,
        packed_series.c.gate_spec_id,
        *ADDRESS,
        step_sets.c.steps,
        *(packed_series.c[name] for name in ("values", "trusted", "points", "at_step", "created_at")),
    )
    found = _in_order(_asked(two_runs, text("SELECT * FROM metric_series")))
    assert found == _in_order(_asked(two_runs, model))
    assert [list(row) for row in found] == [model.selected_columns.keys()] * 4
    loss = [row for row in found if row["metric_key"] == "loss"]
    assert sorted((row["steps"], row["values"]) for row in loss) == [([0, 7], [0.5, -0.0]), ([0, 7], [1.0, -0.0])]
    assert {(row["at_step"], row["points"], bool(row["trusted"])) for row in found} == {(None, 9, True), (8, 3, False)}


def test_metric_series_is_read_by_plain_sql(two_runs):
    """Arrays on Postgres, JSON text on SQLite, where ``values`` is a word of the language and wants its quotes."""
    kind = list if two_runs.startswith("postgresql") else str
    name = "values" if kind is list else '"values"'
    engine = create_engine(parse_url(two_runs))
    with engine.connect() as opened:
        rows = opened.execute(text(f"SELECT steps, {name} FROM metric_series")).all()  # noqa: S608 - one of two constants
    engine.dispose()
    assert {type(cell) for row in rows for cell in row} == {kind}


def test_metric_values_is_what_the_models_say(two_runs):
    """One row per value, with its address and its run; the columns by name and in order."""
    model = _packed_with(
        *(series.c[name] for name in ("project", "test_path", "backend", "suite")),
        *(runs.c[name] for name in ("run_id", "created_at", "ci_run_id", "commit_sha", "trusted")),
        runs.c.superseded_by.is_not(None).label("superseded"),
        packed_series.c.trusted.label("metric_trusted"),
        *ADDRESS,
        step_sets.c.steps.label("step"),
        packed_series.c["values"].label("value"),
    )
    unfolded = [
        row | {"step": step, "value": value}
        for row in _asked(two_runs, model)
        for step, value in zip(row["step"], row["value"], strict=True)
    ]
    found = _in_order(_asked(two_runs, text("SELECT * FROM metric_values")))
    assert found == _in_order(unfolded)
    assert [list(row) for row in found] == [model.selected_columns.keys()] * 6
    assert [bool(row["superseded"]) for row in found].count(True) == 3


def test_the_guide_names_every_column(connection):
    """What the page on Postgres says of each view is what the view has, in order."""
    page = Path(__file__).parents[2].joinpath("docs", "how-to", "postgres.md").read_text(encoding="utf-8")
    for view in VIEWS:
        (entry,) = re.findall(rf"^- `{view}` has .*?:(.*?)\.(?: |$)", page, re.DOTALL | re.MULTILINE)
        assert re.findall(r"`(\w+)`", entry) == [column["name"] for column in inspect(connection).get_columns(view)]


def test_there_are_no_other_views(connection):
    """The list that keeps us out of a database in which something else has one of these names."""
    assert sorted(inspect(connection).get_view_names()) == sorted(VIEWS)

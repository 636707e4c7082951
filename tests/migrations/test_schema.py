"""The migrated schema is the schema of the models, on both databases, and upgrades keep what is stored."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Column, DateTime, Index, Integer, MetaData, Text, create_engine, inspect, text

from gate.identity import SeriesIdentity, SpecKey
from store import migrate
from store.contract import RunFilter
from store.errors import SchemaMismatch, StoreUnavailable
from store.opening import open_store
from store.schema import metadata
from store.urls import parse_url

SNAPSHOTS = sorted(Path(__file__).with_name("snapshots").glob("*.json"))
"""The rows of a small database of every revision that was ever released."""
IDENTITY = SeriesIdentity("default", "tests/test_ppo.py", "cuda", "nightly")


def test_models_equal_the_migrated_schema(connection):
    """No table, column, type, index or constraint differs."""
    assert _differences(connection, metadata) == []


def test_the_comparison_sees_a_difference(connection):
    """Negative control: a column, a type and an index that only one side has."""
    other = MetaData(naming_convention=metadata.naming_convention)
    for table in metadata.tables.values():
        table.to_metadata(other)
    other.tables["runs"].append_column(Column("extra", Text))
    other.tables["series"].c.suite.type = Integer()
    Index(None, other.tables["runs"].c.trusted)
    assert len(_differences(connection, other)) == 3


def _differences(connection, wanted: MetaData) -> list:
    context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
    return compare_metadata(context, wanted)


def test_constraints_have_the_names_of_the_convention(connection):
    """A later revision can address every one of them on both databases."""
    looked_at = inspect(connection)
    unnamed = {None} if connection.dialect.name == "sqlite" else set()
    for table in metadata.tables.values():
        assert {one["name"] for one in looked_at.get_unique_constraints(table.name)} == {
            one.name for one in table.constraints if one.__visit_name__ == "unique_constraint"
        }
        assert {one["name"] for one in looked_at.get_foreign_keys(table.name)} == {
            one.name for one in table.foreign_key_constraints
        }
        # SQLite has no name for the key of a table with AUTOINCREMENT.
        assert looked_at.get_pk_constraint(table.name)["name"] in {table.primary_key.name, *unnamed}


def test_partial_indexes_are_partial(connection):
    """Compared by hand: the comparison above does not look at conditions."""
    conditions = {
        one["name"]: str(one["dialect_options"][f"{connection.dialect.name}_where"])
        for table in ("runs", "mark_rules")
        for one in inspect(connection).get_indexes(table)
        if one.get("dialect_options", {}).get(f"{connection.dialect.name}_where") is not None
    }
    assert set(conditions) == {"ix_runs_counting", "ix_mark_rules_in_force"}
    assert "superseded_by IS NULL" in conditions["ix_runs_counting"]


def test_the_revision_this_code_needs_is_the_newest(connection):
    """The constant that spares a plain open the import of Alembic."""
    scripts = ScriptDirectory.from_config(migrate.alembic_config(connection))
    assert scripts.get_heads() == [migrate.HEAD]
    assert {script.revision for script in scripts.walk_revisions()} == set(migrate.KNOWN_REVISIONS)


def test_upgrading_twice_changes_nothing(empty_url):
    """Before: no schema. Afterwards the newest, however often it is asked for."""
    assert migrate.current(empty_url) is None
    assert [migrate.upgrade(empty_url) for _ in range(2)] == [migrate.HEAD] * 2
    assert migrate.current(empty_url) == migrate.HEAD


def test_asking_creates_nothing(tmp_path):
    """`current` on a path where nothing is."""
    assert migrate.current(f"sqlite:///{tmp_path / 'none.db'}") is None
    assert list(tmp_path.iterdir()) == []


def test_a_failed_upgrade_leaves_nothing(empty_url, monkeypatch):
    """The whole upgrade is one transaction on both databases."""
    import alembic.op

    def fail(*_args):
        raise RuntimeError("disk gone")

    monkeypatch.setattr(alembic.op, "execute", fail)
    with pytest.raises(RuntimeError, match="disk gone"):
        migrate.upgrade(empty_url)
    assert migrate.current(empty_url) is None
    monkeypatch.undo()
    assert migrate.upgrade(empty_url) == migrate.HEAD


def test_a_newer_schema_is_refused(empty_url):
    """By upgrading, opening and using: one line that says what to do; nothing is changed."""
    migrate.upgrade(empty_url)
    engine = create_engine(parse_url(empty_url))
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    with pytest.raises(SchemaMismatch, match=r"9999 is newer .* install a newer driftgate"):
        migrate.upgrade(empty_url)
    with pytest.raises(SchemaMismatch, match="9999 is newer"), open_store(empty_url) as store:
        store.list_series("default")
    assert migrate.current(empty_url) == "9999"


def test_postgres_is_never_changed_by_use(empty_postgres_url):
    """Only `db upgrade` makes tables there; everything else says so."""
    with open_store(empty_postgres_url) as store:
        with pytest.raises(StoreUnavailable, match="run `driftgate db upgrade`"):
            store.list_series("default")
        with pytest.raises(SchemaMismatch, match="no driftgate schema yet"), store.pinned():
            store.list_series("default")
    assert migrate.current(empty_postgres_url) is None


def test_many_upgrade_one_new_postgres_database(empty_postgres_url):
    """One makes the schema, the others wait and find it."""
    upgrade = "import sys; from store import migrate; print(migrate.upgrade(sys.argv[1]))"
    command = [sys.executable, "-c", upgrade, empty_postgres_url]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    assert [process.communicate(timeout=60)[0].strip() for process in processes] == [migrate.HEAD] * 4


def test_every_revision_has_its_snapshot(connection):
    """Whoever adds a revision adds a database of it."""
    assert [path.stem for path in SNAPSHOTS] == sorted(migrate.KNOWN_REVISIONS)


@pytest.mark.parametrize("snapshot", SNAPSHOTS, ids=lambda path: path.stem)
def test_an_older_database_upgrades_with_its_data(empty_url, snapshot):
    """Made at that revision, filled, upgraded: today's code reads every run, value, mark and epoch."""
    _make_at(empty_url, snapshot.stem, json.loads(snapshot.read_text()))
    migrate.upgrade(empty_url)
    key = SpecKey("loss", '"all"', "{}")
    with open_store(empty_url) as store:
        history = store.read_history(IDENTITY, [key], 20, 20, None)
        assert [row.values.tolist() for row in history.of(key).baseline] == [[0.3, -0.0]]
        assert history.of(key).epoch_id == "e" * 32
        kept = {run.run_id[0]: (run.trusted, run.marked) for run in store.list_runs("default", RunFilter())}
        assert kept == {"a": (False, False), "b": (True, None), "c": (True, None)}
        events = store.trust_events("default")[::-1]
        assert [event.reason for event in events[:2]] == ["bad driver", "bad driver"]
        assert store.mark_trusted(project="default", ci_run_id=1, reason="fine", actor="me") == 1
        undone = store.undo_epoch(project="default", epoch_id="e" * 32, reason="too soon", actor="me")
        assert undone.runs == tuple(event.run_id for event in events if event.action == "start_epoch" and event.run_id)
        assert store.read_history(IDENTITY, [key], 20, 20, None).of(key).epoch_id is None


def _make_at(url: str, revision: str, rows_by_table: dict) -> None:
    from alembic import command

    migrate.make_folder(parse_url(url))
    engine = create_engine(parse_url(url))
    with engine.begin() as connection:
        command.upgrade(migrate.alembic_config(connection), revision)
    with engine.begin() as connection:
        schema = MetaData()
        schema.reflect(connection)
        for table in schema.sorted_tables:
            for row in rows_by_table.get(table.name, []):
                connection.execute(table.insert(), _typed(table, row, connection.dialect.name))
    engine.dispose()


def _typed(table, row: dict, dialect: str) -> dict:
    def typed(name: str, value: object) -> object:
        if not isinstance(table.c[name].type, DateTime) or value is None:
            return value
        at = datetime.fromisoformat(value)
        return at.replace(tzinfo=None) if dialect == "sqlite" else at

    return {name: typed(name, value) for name, value in row.items()}


def test_there_is_no_way_back(empty_url, connection):
    """A downgrade says so instead of losing data."""
    from alembic import command

    with pytest.raises(NotImplementedError, match="backup"):
        command.downgrade(migrate.alembic_config(connection), "base")

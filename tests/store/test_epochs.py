"""Reading under epochs: which stretch of the history a metric has."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from store.addressing import address, this_series
from store.history_query import history_query
from store.opening import open_store
from store.reading import BEGINNING
from store.schema import epochs, runs


def start(store, build, run_id: str, metric_key: str | None = None, *, undone: bool = False) -> str:
    """An epoch that starts with a stored run, as a later command will make it."""
    epoch_id = uuid.uuid4().hex
    now = datetime.now(UTC)

    def insert(connection):
        first = connection.execute(select(runs).where(runs.c.run_id == run_id)).one()
        row = {
            "epoch_id": epoch_id,
            "metric_key": metric_key,
            "start_created_at": first.created_at,
            "start_seq": first.seq,
            "reason": "new data",
            "actor": "me",
            "started_at": now,
            "undone_at": now if undone else None,
        }
        connection.execute(epochs.insert().values(series_id=this_series()).inline(), row | address(build.IDENTITY))

    store._connections.write(insert)
    return epoch_id


@pytest.fixture
def written(store, build) -> list:
    """Six nights of two metrics."""
    return [
        store.write_run(
            build.run(number, *(build.values({0: float(number)}, build.key(name)) for name in ("loss", "kl")))
        )
        for number in range(1, 7)
    ]


def _numbers(rows) -> list[float]:
    return [row.values[0] for row in rows]


def test_history_begins_with_the_epoch(store, build, written):
    """Baseline, anchor and valid runs; the start run is its first member."""
    epoch_id = start(store, build, written[3].run_id)
    found = build.history(store)
    assert found.epoch_id == epoch_id
    assert _numbers(found.baseline) == _numbers(found.valid) == [6.0, 5.0, 4.0]
    assert _numbers(found.anchor) == [4.0, 5.0, 6.0]
    assert build.recent(store) == [[6.0, 5.0, 4.0]]


def test_a_metric_has_its_own_epochs(store, build, written):
    """The latest start applies, of the series or of the metric; other metrics do not notice."""
    start(store, build, written[1].run_id)
    of_loss = start(store, build, written[4].run_id, "loss")
    assert _numbers(build.history(store).baseline) == [6.0, 5.0]
    assert _numbers(build.history(store, build.key("kl")).baseline) == [6.0, 5.0, 4.0, 3.0, 2.0]
    of_all = start(store, build, written[2].run_id)
    assert _numbers(build.history(store).baseline) == [6.0, 5.0, 4.0, 3.0]
    assert build.history(store).epoch_id == of_all != of_loss


def test_an_undone_epoch_is_as_if_it_never_was(store, build, written):
    """The one before it is in force again."""
    start(store, build, written[4].run_id, undone=True)
    assert build.history(store).epoch_id is None
    assert len(build.history(store).baseline) == 6


def test_runs_of_the_same_instant_are_told_apart(store, build):
    """Membership is by (created_at, order of arrival)."""
    same = [store.write_run(build.run(number, hours=0)) for number in (1, 2, 3)]
    start(store, build, same[1].run_id)
    assert build.recent(store) == [[3.0, 2.0]]


def test_a_metric_never_seen_has_the_epoch_of_the_series(store, build, written):
    """So that its first run is not taken for one that was judged before the epoch."""
    epoch_id = start(store, build, written[3].run_id)
    assert build.history(store, build.key("new")).epoch_id == epoch_id


def test_a_run_judged_under_the_epoch_in_force_is_trusted(store, build, written):
    """Under any other, or none, it is kept untrusted."""
    epoch_id = start(store, build, written[3].run_id)
    assert store.write_run(build.run(10, epochs={"loss": epoch_id})).trusted
    assert store.write_run(build.run(11, epochs={"loss": None})).untrusted_reason == "epoch changed"
    assert store.write_run(build.run(12, epochs=None)).trusted


def test_the_read_walks_indexes_only(tmp_path, build):
    """On SQLite no table of values or runs is scanned, however long the history."""
    with open_store(f"sqlite:///{tmp_path / 'history.db'}") as store:
        statement = str(history_query("sqlite", "run").compile(store._connections._engine))
        parameters = [BEGINNING.isoformat()] * statement.count("?")

        def plan(connection):
            return [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", tuple(parameters))]

        steps = store._connections.read(plan)
    assert [step for step in steps if step in ("SCAN metric_series", "SCAN runs", "SCAN step_sets")] == []
    assert sum("ix_metric_series_history" in step for step in steps) == 3

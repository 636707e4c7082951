"""Epochs: which stretch of the history a metric has, from when on, and how that is taken back."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from store.contract import Attempt
from store.errors import NotFound, StoreConflict
from store.history_query import history_query
from store.opening import open_store
from store.reading import BEGINNING


def start(store, build, run_id: str | None = None, metric: str | None = None) -> str:
    """An epoch of the usual series; its id."""
    changed = store.start_epoch(build.IDENTITY, metric=metric, from_run=run_id, reason="new data", actor="me")
    return changed.epoch_id


def undo(store, epoch_id: str):
    return store.undo_epoch(project="default", epoch_id=epoch_id, reason="too soon", actor="bo")


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
    first, second = (start(store, build, written[number].run_id) for number in (1, 3))
    undo(store, second)
    assert build.history(store).epoch_id == first
    undo(store, first)
    assert build.history(store).epoch_id is None
    assert len(build.history(store).baseline) == 6


def test_without_a_run_the_epoch_begins_after_the_newest(store, build, written):
    """Nothing stored so far is in it, what comes next is; a run created before it is not."""
    epoch_id = start(store, build)
    assert build.recent(store) == [[]]
    late = store.write_run(build.run(7, hours=2, epochs={"loss": epoch_id}))
    same_hour, next_hour = (store.write_run(build.run(number, hours=hours)) for number, hours in ((8, 6), (9, 7)))
    assert late.trusted
    assert build.recent(store) == [[9.0, 8.0]]
    (epoch,) = store.list_epochs("default")
    assert (epoch.first_run_id, epoch.begins_at) == (same_hour.run_id, written[5].created_at)
    assert next_hour.trusted


def test_a_run_judged_before_the_undo_waits(store, build, written):
    """It was judged under an epoch that is not in force: stored, untrusted, with the reason."""
    epoch_id = start(store, build)
    undo(store, epoch_id)
    assert store.write_run(build.run(7, epochs={"loss": epoch_id})).untrusted_reason == "epoch changed"
    assert store.write_run(build.run(8, epochs={"loss": None})).trusted


def test_epochs_are_listed_newest_first(store, build, written):
    """With who, when, why, where from; of the project or of one series; undone ones stay."""
    other = replace(build.IDENTITY, suite="other")
    store.write_run(build.run(1, identity=other))
    store.start_epoch(other, reason="there", actor="ana")
    first, second = start(store, build, written[2].run_id), start(store, build, metric="kl")
    undo(store, first)
    assert [epoch.identity.suite for epoch in store.list_epochs("default")] == [build.IDENTITY.suite] * 2 + ["other"]
    of_metric, of_series = store.list_epochs("default", build.IDENTITY)
    assert (of_metric.epoch_id, of_metric.metric_key, of_metric.first_run_id) == (second, "kl", None)
    assert (of_series.epoch_id, of_series.metric_key, of_series.first_run_id) == (first, None, written[2].run_id)
    assert (of_series.reason, build.who(of_series.actor), of_series.identity) == ("new data", "me", build.IDENTITY)
    assert of_metric.undone_at is None
    assert of_series.started_at <= of_metric.started_at <= of_series.undone_at
    assert store.list_epochs("another") == []


def test_the_list_says_what_is_in_force(store, build, written):
    """An epoch is replaced by a later one of the same metric or of the whole series, and returns when that is undone."""

    def in_force() -> list[bool]:
        return [epoch.in_force for epoch in store.list_epochs("default", build.IDENTITY)]

    start(store, build, metric="kl")
    start(store, build, metric="loss")
    assert in_force() == [True, True]
    whole = start(store, build)
    again = start(store, build, metric="loss")
    assert in_force() == [True, True, False, False]
    undo(store, whole)
    assert in_force() == [True, False, False, True]
    undo(store, again)
    assert in_force() == [False, False, True, True]


def test_start_and_undo_are_in_the_trust_log(store, build, written):
    """Who, when, why; a line for each."""
    epoch_id = start(store, build)
    undo(store, epoch_id)
    lines = [
        (line.action, build.who(line.actor), line.reason, line.run_id, line.selector)
        for line in store.trust_events("default")
    ]
    assert lines == [
        ("undo_epoch", "bo", "too soon", None, f"epoch_id={epoch_id}"),
        ("start_epoch", "me", "new data", None, f"epoch_id={epoch_id}"),
    ]


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
    assert [step for step in steps if step in ("SCAN packed_series", "SCAN runs", "SCAN step_sets")] == []
    assert sum("ix_packed_series_history" in step for step in steps) == 5


@pytest.mark.parametrize("number", [None, 3])
def test_the_same_start_again_starts_nothing(store, build, written, number):
    """Of a request whose answer was lost: one epoch, one line of the log, and one undo takes it back."""
    run_id = None if number is None else written[number].run_id
    epoch_id = start(store, build, run_id)
    assert start(store, build, run_id) == epoch_id
    assert [epoch.epoch_id for epoch in store.list_epochs("default")] == [epoch_id]
    assert len(store.trust_events("default")) == 1
    undo(store, epoch_id)
    assert build.history(store).epoch_id is None
    assert start(store, build, run_id) != epoch_id


def test_a_start_that_differs_is_another_epoch(store, build, written):
    """By its metric, by its first run, or because another was started since."""
    first = start(store, build, written[3].run_id)
    others = [
        start(store, build, written[3].run_id, "loss"),
        start(store, build, written[4].run_id, "loss"),
        start(store, build, written[3].run_id),
        start(store, build),
    ]
    store.write_run(build.run(7, epochs={"loss": others[-1]}))
    assert len({first, *others, start(store, build)}) == 6


@pytest.mark.usefixtures("written")
class TestRefused:
    """Each with one line that says what and where; nothing is stored."""

    def test_a_run_that_is_not_there(self, store, build):
        """Unknown, or of another project, which is the same."""
        foreign = store.write_run(build.run(1, identity=replace(build.IDENTITY, project="theirs")))
        for run_id in ("typo", foreign.run_id):
            with pytest.raises(NotFound, match=f"no run '{run_id}' in project 'default'"):
                start(store, build, run_id)
        assert store.list_epochs("default") == []

    def test_a_run_of_another_series(self, store, build):
        """Both series are named."""
        other = store.write_run(build.run(1, identity=replace(build.IDENTITY, suite="other")))
        with pytest.raises(StoreConflict, match=r"belongs to .* in other, not to .* in nightly-8-gpu"):
            start(store, build, other.run_id)
        assert store.trust_events("default") == []

    def test_a_series_without_runs(self, store, build):
        """Unknown, or known by its attempts only."""
        new = replace(build.IDENTITY, suite="new")
        for _ in range(2):
            with pytest.raises(NotFound, match=r"no run of tests/test_ppo\.py on cuda in new"):
                store.start_epoch(new, reason="r", actor="a")
            store.record_attempts([Attempt(new, 1, 1, 1, "fail", 1.0, build.START)])

    def test_a_metric_that_is_not_there(self, store, build):
        """A typo must not look like success."""
        with pytest.raises(NotFound, match=r"no metric 'los' \(did you mean 'loss'\?\); stored: kl, loss"):
            start(store, build, metric="los")

    def test_an_epoch_that_cannot_be_undone(self, store, build):
        """Unknown, of another project, undone already."""
        epoch_id = start(store, build)
        for unknown in ("typo", "", "a/b", "../x?y#z", ".."):
            with pytest.raises(NotFound, match=rf"^no epoch '{re.escape(unknown)}' in project 'default'"):
                undo(store, unknown)
        with pytest.raises(NotFound, match=f"no epoch '{epoch_id}' in project 'theirs'"):
            store.undo_epoch(project="theirs", epoch_id=epoch_id, reason="r", actor="a")
        undo(store, epoch_id)
        with pytest.raises(StoreConflict, match=r"was undone at .* already"):
            undo(store, epoch_id)

    @pytest.mark.parametrize("given", [{"reason": " "}, {"actor": ""}])
    def test_without_reason_or_name(self, store, build, given):
        """Both are asked for."""
        (name,) = given
        with pytest.raises(ValueError, match=f"{name} is empty"):
            store.start_epoch(build.IDENTITY, **({"reason": "r", "actor": "a"} | given))
        epoch_id = start(store, build)
        with pytest.raises(ValueError, match=f"{name} is empty"):
            store.undo_epoch(project="default", epoch_id=epoch_id, **({"reason": "r", "actor": "a"} | given))

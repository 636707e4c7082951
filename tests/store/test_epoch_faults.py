"""Epochs under faults and among many writers: all of a call or nothing, once, and no run slips past."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from faults import Broken, at_statement, break_off
from sqlalchemy.engine import make_url

from store.contract import RunFilter
from store.opening import open_store

ALL = RunFilter(limit=1000)


def _stored(store):
    runs = [store.get_run("default", run.run_id) for run in store.list_runs("default", ALL)]
    return runs, store.list_epochs("default"), store.trust_events("default")


def _start(store, judging, run_id: str | None = None):
    return store.start_epoch(judging.IDENTITY, from_run=run_id, reason="new data", actor="me")


def _undo(store, epoch_id: str):
    return store.undo_epoch(project="default", epoch_id=epoch_id, reason="too soon", actor="me")


def _breaking(store, call):
    """Break off before each statement in turn; nothing has changed each time. The answer of the call that came through."""
    number = 0
    while True:
        number += 1
        before = _stored(store)
        with at_statement(store, number, break_off) as seen:
            try:
                answer = call()
            except Broken:
                assert _stored(store) == before
                continue
        assert number > 6
        assert len(seen) < number
        return answer


def test_a_start_and_an_undo_that_break_off_change_nothing(database, judging):
    """Epoch, runs, gate specs and log together, or none of them."""
    ids = judging.nights(database, [1.0, 2.0, 2.0])
    before = _stored(database)[0]
    epoch_id = _breaking(database, lambda: _start(database, judging, ids[1])).epoch_id
    assert _breaking(database, lambda: _undo(database, epoch_id)).runs == tuple(ids[1:])
    assert _stored(database)[0] == before


@pytest.fixture(params=["postgres_url", pytest.param("pgbouncer_url", marks=pytest.mark.pgbouncer)])
def pooled(request: pytest.FixtureRequest, postgres):
    """The URL of a database, and a way to kill every server process that works for it."""
    url = request.getfixturevalue(request.param)
    name = make_url(url).database

    def kill() -> None:
        postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")  # noqa: S608 - a name made by the fixture

    return url, kill


def test_a_connection_killed_inside_starts_and_undoes_once(pooled, judging):
    """At every statement, also COMMIT: one epoch for each call, and the answer tells what changed."""
    url, kill = pooled
    with open_store(url, one_shot=False) as store:
        ids = judging.nights(store, [1.0, 2.0])
        number, reached = 0, True
        while reached:
            number += 1
            with at_statement(store, number, kill) as seen:
                started = _start(store, judging, ids[1])
            reached = len(seen) >= number
            assert started.runs == (ids[1],)
            with at_statement(store, number, kill):
                assert _undo(store, started.epoch_id).runs == (ids[1],)
        assert number > 8
        epochs = store.list_epochs("default")
        assert (len(epochs), any(epoch.in_force for epoch in epochs)) == (number, False)
        assert len(store.trust_events("default", limit=1000)) == 4 * number


@pytest.mark.parametrize("backdated", [True, False])
def test_while_eight_write_no_run_slips_past(url, judging, backdated):
    """Each run of the epoch was judged under it, at first or again, and is trusted, or is kept as `epoch changed`.

    At the new level a run judged before is red, so that one which nobody judged again would be seen.
    """
    with open_store(url) as first:
        ids = judging.nights(first, [1.0, 1.0, 2.0])
    begun = threading.Barrier(9)

    def write(writer: int) -> None:
        with open_store(url) as store:
            begun.wait()
            for number in range(4):
                judging.night(store, 10 + 8 * number + writer, 2.0)

    def change() -> str:
        with open_store(url) as store:
            begun.wait()
            return _start(store, judging, ids[2] if backdated else None).epoch_id

    with ThreadPoolExecutor(9) as pool:
        changing = pool.submit(change)
        for writing in [pool.submit(write, writer) for writer in range(8)]:
            writing.result()
        epoch_id = changing.result()
    with open_store(url) as store:
        _check_runs(store, epoch_id, backdated=backdated)


def _check_runs(store, epoch_id: str, *, backdated: bool) -> None:
    runs = store.list_runs("default", ALL)
    assert len(runs) == 35
    (epoch,) = store.list_epochs("default")
    for run in runs:
        if run.created_at < epoch.begins_at or (run.created_at == epoch.begins_at and not backdated):
            continue
        judged_again = store.trust_events("default", run_id=run.run_id)
        if run.verdict["specs"][0]["epoch_id"] == epoch_id or judged_again:
            assert (run.trusted, run.untrusted_reason) == (True, None)
        else:
            assert (run.trusted, run.untrusted_reason) == (False, "epoch changed")

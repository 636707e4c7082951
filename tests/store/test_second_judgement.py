"""Runs of a writer whose word is not enough, on every database: judged again in the transaction that stores them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from gate.policy import GatePolicy
from store.contract import RunFilter
from store.opening import open_database

STRICT = GatePolicy()


def test_it_is_judged_by_what_is_stored_at_that_moment(database, judging):
    """What came between the client's read and its write is seen: the corridor has moved away from it."""
    early = judging.judged(database, 2, 9.0)
    assert early.trusted
    judging.night(database, 1, 1.0)
    stored = database.write_judged_run(early, STRICT)
    assert (stored.trusted, stored.gate_trusted, stored.verdict["verdict"]) == (False, False, "not_trusted")
    assert judging.recent(database, "loss") == [1.0]


def test_a_repeat_is_not_judged(database, judging):
    """The stored run and verdict of then, though its numbers would be outside by now."""
    first = database.write_judged_run(judging.judged(database, 1, 1.0), STRICT)
    database.mark_untrusted(project="default", run_id=first.run_id, reason="r", actor="a")
    judging.night(database, 2, 9.0)
    again = replace(judging.judged(database, 1, 1.0), trusted=True)
    found = database.write_judged_run(again, STRICT)
    assert (found.run_id, found.repeat, found.gate_trusted, found.verdict) == (
        first.run_id,
        True,
        True,
        first.verdict,
    )


def test_the_ci_run_itself_is_no_history(database, judging):
    """A rerun is not judged by the attempt that it supersedes."""
    database.write_judged_run(judging.judged(database, 1, 1.0), STRICT)
    rerun = judging.judged(database, 1, 9.0, ci_run_attempt=2)
    assert database.write_judged_run(rerun, STRICT).trusted


def test_held_back(database, judging):
    """Stored untrusted with the reason, whatever it is worth; an operator may still let it in."""
    stored = database.write_judged_run(judging.judged(database, 1, 1.0), STRICT, "not yours to say")
    assert (stored.trusted, stored.gate_trusted, stored.untrusted_reason) == (False, True, "not yours to say")
    assert database.get_run("default", stored.run_id).run == stored
    database.mark_trusted(project="default", run_id=stored.run_id, reason="mine", actor="a")
    assert judging.recent(database, "loss") == [1.0]


def test_an_epoch_does_not_let_a_held_back_run_in(database, judging):
    """Judged again under a new epoch it would be trusted, but it is not the gate that holds it back."""
    judging.night(database, 1, 1.0)
    held = database.write_judged_run(judging.judged(database, 2, 9.0), STRICT, "not yours to say")
    changed = database.start_epoch(judging.IDENTITY, from_run=held.run_id, reason="r", actor="a")
    assert changed.runs == ()


@pytest.mark.parametrize("workers", [8])
def test_of_many_at_once_each_sees_those_before_it(url, judging, workers):
    """All were judged before any was stored, at levels that exclude each other: only the first may be trusted."""
    with open_database(url, one_shot=False) as store:
        runs = [judging.judged(store, number, number * 10.0) for number in range(1, workers + 1)]
        assert all(run.trusted for run in runs)
        with ThreadPoolExecutor(workers) as pool:
            stored = list(pool.map(lambda run: store.write_judged_run(run, STRICT), runs))
        assert sum(run.trusted for run in stored) == 1
        assert len(store.list_runs("default", RunFilter())) == workers

"""An epoch that begins in the past: what is judged again, what is left alone, and that an undo takes back exactly that."""

from __future__ import annotations

from dataclasses import replace

import pytest

from store.contract import RunFilter
from store.errors import StoreConflict

ALL = RunFilter(limit=1000)


def start(store, judging, run_id: str, metric: str | None = None):
    return store.start_epoch(judging.IDENTITY, metric=metric, from_run=run_id, reason="new optimiser", actor="ana")


def undo(store, epoch_id: str):
    return store.undo_epoch(project="default", epoch_id=epoch_id, reason="too soon", actor="bo")


def mark(store, *, trusted: bool, **selector) -> int:
    apply = store.mark_trusted if trusted else store.mark_untrusted
    return apply(project="default", reason="said so", actor="on duty", **selector)


def trusted(store, ids: list[str]) -> list[bool]:
    return [found.run.trusted for found in store.get_runs("default", ids)]


def state(store):
    """Everything that is stored of the runs."""
    return [store.get_run("default", run.run_id) for run in store.list_runs("default", ALL)]


def lines(store, action: str):
    """The log's lines on runs, oldest first."""
    return [line for line in store.trust_events("default")[::-1] if line.action == action and line.run_id]


class TestStart:
    def test_the_runs_since_then_are_judged_again_in_order(self, store, judging):
        """A step that made every night red is accepted: the first run is a cold start, each later one has its
        predecessors; what has returned to the old level is red now.
        """
        ids = judging.nights(store, [1.0, 1.0, 1.0, 2.0, 2.0, 1.0, 2.0])
        assert trusted(store, ids) == [True, True, True, False, False, True, False]
        changed = start(store, judging, ids[3])
        assert changed.runs == tuple(ids[3:])
        assert trusted(store, ids) == [True, True, True, True, True, False, True]
        assert judging.night(store, 8, 2.05).trusted

    def test_each_change_is_a_line_with_the_new_verdict(self, store, build, judging):
        """Who, when, why; what the gate said at the time is not rewritten."""
        ids = judging.nights(store, [1.0, 2.0, 1.0])
        before = [found.run.verdict for found in store.get_runs("default", ids)]
        epoch_id = start(store, judging, ids[1]).epoch_id
        found = lines(store, "start_epoch")
        assert [(line.run_id, line.trusted_before, line.trusted_after) for line in found] == [
            (ids[1], False, True),
            (ids[2], True, False),
        ]
        assert {(build.who(line.actor), line.reason, line.selector) for line in found} == {
            ("ana", "new optimiser", f"epoch_id={epoch_id}")
        }
        assert [line.verdict["verdict"] for line in found] == ["trusted", "not_trusted"]
        assert [line.verdict["specs"][0]["epoch_id"] for line in found] == [epoch_id] * 2
        after = store.get_runs("default", ids)
        assert [run.run.verdict for run in after] == before
        assert [run.run.gate_trusted for run in after] == [True, False, True]
        assert [line.run_id for line in store.trust_events("default", run_id=ids[2])] == [ids[2]]

    def test_operators_and_holds_are_left_alone(self, store, judging):
        """Only trust that the gate itself had set changes: not marks, not standing marks, not `epoch changed`, not
        superseded runs.
        """
        old = judging.nights(store, [1.0, 1.0])
        stale = judging.judged(store, 4, 2.0)
        first = start(store, judging, old[1]).epoch_id
        undo(store, first)
        stale = replace(stale, trusted=True, epochs={"loss": first})
        named = {
            "begin": judging.night(store, 3, 2.0),
            "stale": store.write_run(stale),
            "marked": judging.night(store, 5, 2.0),
            "by hand": judging.night(store, 6, 2.0),
            "ruled": judging.night(store, 7, 2.0),
            "superseded": judging.night(store, 8, 2.0),
            "rerun": judging.night(store, 8, 2.0, ci_run_attempt=2),
        }
        assert named["stale"].untrusted_reason == "epoch changed"
        mark(store, trusted=False, run_id=named["marked"].run_id)
        mark(store, trusted=True, run_id=named["by hand"].run_id)
        mark(store, trusted=False, ci_run_id=7)
        before = {name: store.get_run("default", run.run_id) for name, run in named.items()}
        changed = start(store, judging, named["begin"].run_id)
        assert changed.runs == (named["begin"].run_id, named["rerun"].run_id)
        for name in ("stale", "marked", "by hand", "ruled", "superseded"):
            assert store.get_run("default", named[name].run_id) == before[name], name

    def test_of_one_metric(self, metric_store, judging):
        """The other keeps its epoch and its verdict: the run stays red, the metric that was accepted counts again."""
        ids = judging.nights(metric_store, [{"kl": 1.0, "loss": 1.0}] * 2 + [{"kl": 2.0, "loss": 2.0}])
        changed = start(metric_store, judging, ids[2], "kl")
        assert changed.runs == ()
        assert [one.trusted for one in metric_store.get_run("default", ids[2]).series] == [True, False]
        kl, loss = (judging.recent(metric_store, name) for name in ("kl", "loss"))
        assert (kl, loss) == ([2.0], [1.0, 1.0])
        assert [line.changed for line in lines(metric_store, "start_epoch")] == [False]
        undo(metric_store, changed.epoch_id)
        assert judging.recent(metric_store, "kl") == [1.0, 1.0]

    def test_errors_that_came_from_the_history_go(self, store, judging):
        """Curves of half the length were errors; under their own epoch they are valid, and after the undo no more."""
        for number in (1, 2, 3):
            judging.night(store, number, 1.0, points=10)
        short = judging.night(store, 4, 1.0, points=5)
        assert short.has_error
        epoch_id = start(store, judging, short.run_id).epoch_id
        assert store.get_run("default", short.run_id).run.valid
        undo(store, epoch_id)
        assert store.get_run("default", short.run_id).run.has_error

    def test_runs_without_a_verdict_keep_their_trust(self, store, build):
        """Imported ones, for example."""
        ids = [store.write_run(build.run(number, verdict={})).run_id for number in (1, 2)]
        changed = store.start_epoch(build.IDENTITY, from_run=ids[0], reason="r", actor="a")
        assert changed.runs == ()
        assert trusted(store, ids) == [True, True]


class TestUndo:
    def test_takes_back_exactly_what_the_start_changed(self, store, judging):
        """Trust, verdicts of gate specs, errors; the log grows by the same number of lines."""
        ids = judging.nights(store, [1.0, 1.0, 2.0, 1.0, 2.0])
        before = state(store)
        changed = start(store, judging, ids[2])
        assert state(store) != before
        assert undo(store, changed.epoch_id).runs == changed.runs
        assert state(store) == before
        assert [line.run_id for line in lines(store, "undo_epoch")] == list(changed.runs)

    def test_runs_that_came_later_stay(self, store, judging):
        """They were judged under the epoch that was in force then."""
        ids = judging.nights(store, [1.0, 2.0])
        changed = start(store, judging, ids[1])
        later = judging.night(store, 3, 2.0)
        assert undo(store, changed.epoch_id).runs == (ids[1],)
        assert store.get_run("default", later.run_id).run.trusted

    def test_a_later_mark_wins(self, store, judging):
        """What an operator decided in between stays; a mark that changed nothing decided nothing."""
        ids = judging.nights(store, [1.0, 2.0, 2.0, 2.0])
        changed = start(store, judging, ids[1])
        mark(store, trusted=False, run_id=ids[1])
        mark(store, trusted=True, run_id=ids[2])
        mark(store, trusted=False, run_id=ids[3])
        mark(store, trusted=True, run_id=ids[3])
        assert undo(store, changed.epoch_id).runs == (ids[2],)
        assert trusted(store, ids) == [True, False, False, True]

    @pytest.mark.parametrize("selector", [{"ci_run_id": 2}, {"commit_sha": "c" * 40}])
    def test_beneath_a_standing_mark_it_is_undone_too(self, store, judging, selector):
        """The mark holds the run as long as it stands; lifted, it gives back what was before the epoch."""
        judging.night(store, 1, 1.0)
        red = judging.night(store, 2, 2.0, tested_sha="c" * 40)
        changed = start(store, judging, red.run_id)
        assert mark(store, trusted=False, **selector) == 1
        assert undo(store, changed.epoch_id).runs == ()
        assert mark(store, trusted=True, **selector) == 0
        now = store.get_run("default", red.run_id).run
        assert (now.trusted, now.marked, now.untrusted_reason) == (False, None, None)

    def test_a_mark_that_was_lifted_leaves_no_trace(self, store, judging):
        """Marked and unmarked in between, by a rule: the undo finds the run as the start left it."""
        ids = judging.nights(store, [1.0, 2.0])
        before = state(store)
        changed = start(store, judging, ids[1])
        mark(store, trusted=False, ci_run_id=2)
        mark(store, trusted=True, ci_run_id=2)
        assert undo(store, changed.epoch_id).runs == (ids[1],)
        assert state(store) == before

    def test_what_a_later_epoch_judged_again_is_undone_from_the_top(self, store, judging):
        """The one beneath is refused, naming the one above, even where that changed nothing; in order both go."""
        ids = judging.nights(store, [1.0, 2.0, 2.0, 2.0])
        before = state(store)
        first, second = start(store, judging, ids[1]), start(store, judging, ids[2])
        with pytest.raises(StoreConflict, match=f"epoch {second.epoch_id} was started later"):
            undo(store, first.epoch_id)
        undo(store, second.epoch_id)
        undo(store, first.epoch_id)
        assert state(store) == before

    def test_an_epoch_beneath_that_shares_no_run_can_go(self, store, judging):
        """The later one began after everything that the first one changed."""
        ids = judging.nights(store, [1.0, 2.0])
        first = start(store, judging, ids[1])
        judging.night(store, 3, 2.0)
        second = store.start_epoch(judging.IDENTITY, reason="r", actor="a")
        assert undo(store, first.epoch_id).runs == (ids[1],)
        assert (
            store.read_history(judging.IDENTITY, [judging.spec().key], 20, 20, None).of(judging.spec().key).epoch_id
            == second.epoch_id
        )

"""Marks: what operators decide, what it changes, what remains of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from store.contract import MarkRequest, MetricHistoryStore, RunFilter
from store.errors import NotFound, StoreConflict

SELECTORS = [{"ci_run_id": 7}, {"commit_sha": f"{7:040x}"}]
SECOND = {"ci_run_attempt": 2}
ANY_SELECTOR = pytest.mark.parametrize("selector", SELECTORS, ids=["ci_run_id", "commit_sha"])


def _state(store: MetricHistoryStore, run_id: str) -> tuple[bool, bool | None, str | None]:
    run = store.get_run("default", run_id).run
    return run.trusted, run.marked, run.untrusted_reason


class TestByRun:
    def test_a_marked_run_leaves_every_baseline_at_once(self, store: MetricHistoryStore, build):
        """The next read is without it, nothing is deleted, and back again it serves as before."""
        runs = [store.write_run(build.run(number)) for number in (1, 2, 3)]
        assert store.mark_untrusted(**build.BY, run_id=runs[1].run_id) == 1
        assert build.recent(store) == [[3.0, 1.0]]
        assert store.get_run("default", runs[1].run_id).series == build.run(2).series
        assert _state(store, runs[1].run_id) == (False, False, "bad driver")
        assert store.mark_trusted(**build.BY, run_id=runs[1].run_id) == 1
        assert build.recent(store) == [[3.0, 2.0, 1.0]]
        assert _state(store, runs[1].run_id) == (True, True, None)

    def test_only_real_changes_count(self, store: MetricHistoryStore, build):
        """A second mark changes nothing, nor does one on a run that was red anyway."""
        run_id = store.write_run(build.run(1)).run_id
        red = store.write_run(build.run(2, trusted=False)).run_id
        assert [store.mark_untrusted(**build.BY, run_id=run_id) for _ in range(2)] == [1, 0]
        assert store.mark_untrusted(**build.BY, run_id=red) == 0
        assert [store.mark_trusted(**build.BY, run_id=run_id) for _ in range(2)] == [1, 0]

    def test_a_red_run_can_be_trusted(self, store: MetricHistoryStore, build):
        """The operator's word outweighs the verdict; what the gate said stays readable."""
        run_id = store.write_run(build.run(1, trusted=False)).run_id
        assert store.mark_trusted(**build.BY, run_id=run_id) == 1
        assert build.recent(store) == [[1.0]]
        assert not store.get_run("default", run_id).run.gate_trusted

    def test_a_marked_red_run_is_no_longer_valid(self, store: MetricHistoryStore, build):
        """Noise is not estimated from a run that somebody called bad."""
        run_id = store.write_run(build.run(1, trusted=False)).run_id
        assert len(build.history(store).valid) == 1
        store.mark_untrusted(**build.BY, run_id=run_id)
        assert build.history(store).valid == ()

    @pytest.mark.parametrize("order", [(1, 3, 4), (4, 1, 3), (3, 4, 1), (3, 1, 4)])
    def test_a_superseded_run_is_never_trusted(self, store: MetricHistoryStore, build, order):
        """It is refused, and the run that counts now is named, however many were superseded between."""
        run_ids = {
            attempt: store.write_run(build.run(7, facts={"ci_run_attempt": attempt})).run_id for attempt in order
        }
        for attempt in (1, 3):
            with pytest.raises(StoreConflict, match=f"superseded by run {run_ids[4]} and cannot be trusted"):
                store.mark_trusted(**build.BY, run_id=run_ids[attempt])

    def test_an_unknown_run_is_an_error(self, store: MetricHistoryStore, build):
        """A typo must not look like success."""
        for mark in (store.mark_untrusted, store.mark_trusted):
            with pytest.raises(NotFound, match="no run 'typo'"):
                mark(**build.BY, run_id="typo")


class TestStanding:
    @ANY_SELECTOR
    def test_all_runs_of_the_selector_change(self, store: MetricHistoryStore, build, selector):
        """Across series, and the ids of those that changed are told."""
        written = [store.write_run(build.run(7, identity=replace(build.IDENTITY, suite=name))) for name in "ab"]
        other = store.write_run(build.run(8))
        changed = store.mark(MarkRequest("default", trusted=False, reason="bad", actor="me", **selector))
        assert changed.runs == tuple(run.run_id for run in written)
        assert _state(store, other.run_id) == (True, None, None)

    @ANY_SELECTOR
    def test_a_late_shard_is_stored_untrusted(self, store: MetricHistoryStore, build, selector):
        """The rule stands for what arrives later, says so, and ends with the opposite mark."""
        assert store.mark_untrusted(**build.BY, **selector) == 0
        late = store.write_run(build.run(7))
        assert (late.trusted, late.gate_trusted, late.marked) == (False, True, False)
        assert "bad driver" in late.untrusted_reason
        assert store.get_run("default", late.run_id).run == late
        assert store.mark_trusted(**build.BY, **selector) == 1
        assert build.recent(store) == [[7.0]]
        assert store.write_run(build.run(7, identity=replace(build.IDENTITY, suite="later"))).trusted

    @ANY_SELECTOR
    def test_lifting_restores_exactly_what_the_mark_took(self, store: MetricHistoryStore, build, selector):
        """A run that was red, or marked by its own id, stays as it was; one trusted by hand is trusted again."""
        names = ("green", "red", "marked", "by hand")
        ids = {}
        for name in names:
            red = name in ("red", "by hand")
            new = build.run(7, identity=replace(build.IDENTITY, suite=name), trusted=not red)
            ids[name] = store.write_run(new).run_id
        store.mark_untrusted(**build.BY, run_id=ids["marked"])
        store.mark_trusted(**build.BY, run_id=ids["by hand"])
        before = {name: _state(store, ids[name]) for name in names}
        assert store.mark_untrusted(**build.BY, **selector) == 2
        late_red = store.write_run(build.run(7, identity=replace(build.IDENTITY, suite="late"), trusted=False))
        assert store.mark_trusted(**build.BY, **selector) == 2
        assert {name: _state(store, ids[name]) for name in names} == before
        assert _state(store, late_red.run_id) == (False, None, None)

    @ANY_SELECTOR
    def test_lifting_restores_superseded_runs_too(self, store: MetricHistoryStore, build, selector):
        """As many runs go back as were taken, each to what it was; what is superseded still does not count."""
        first = store.write_run(build.run(7))
        store.mark_trusted(**build.BY, run_id=store.write_run(build.run(7, trusted=False, facts=SECOND)).run_id)
        runs = store.list_runs("default", RunFilter())
        assert [run.superseded_by is None for run in runs] == [True, False]
        assert store.mark_untrusted(**build.BY, **selector) == store.mark_trusted(**build.BY, **selector) == 2
        assert store.list_runs("default", RunFilter()) == runs
        assert build.history(store).baseline[0].run.run_id != first.run_id

    @ANY_SELECTOR
    def test_lifting_restores_a_run_superseded_under_the_mark(self, store: MetricHistoryStore, build, selector):
        """The run from before the mark and the one that superseded it since are both what they would have been."""
        first = store.write_run(build.run(7))
        assert store.mark_untrusted(**build.BY, **selector) == 1
        second = store.write_run(build.run(7, build.values({0: 9.0}), facts=SECOND))
        assert store.mark_trusted(**build.BY, **selector) == 2
        assert [_state(store, run.run_id) for run in (first, second)] == [(True, None, None)] * 2
        assert store.get_run("default", first.run_id).run.superseded_by == second.run_id
        assert build.recent(store) == [[9.0]]

    def test_a_run_under_two_rules_waits_for_both(self, store: MetricHistoryStore, build):
        """Lifting one leaves it to the other, whichever goes first."""
        ci, commit = SELECTORS
        for number, (first, second) in enumerate(((ci, commit), (commit, ci))):
            written = store.write_run(build.run(7, identity=replace(build.IDENTITY, suite=str(number))))
            store.mark_untrusted(**build.BY, **ci)
            store.mark_untrusted(**build.BY, **commit)
            assert store.mark_trusted(**build.BY, **first) == 0
            assert not store.get_run("default", written.run_id).run.trusted
            assert store.mark_trusted(**build.BY, **second) == number + 1
            assert store.get_run("default", written.run_id).run.trusted

    def test_a_mark_by_run_outlives_the_rule(self, store: MetricHistoryStore, build):
        """Who marks the run itself means it, whatever becomes of the rule."""
        written = store.write_run(build.run(7))
        store.mark_untrusted(**build.BY, ci_run_id=7)
        store.mark_untrusted(**build.BY, run_id=written.run_id)
        assert store.mark_trusted(**build.BY, ci_run_id=7) == 0
        assert _state(store, written.run_id) == (False, False, "bad driver")

    def test_a_commit_is_found_in_either_case(self, store: MetricHistoryStore, build):
        """A SHA is a number."""
        store.write_run(build.run(1, facts={"tested_sha": "ABCDEF" + "0" * 34}))
        assert store.mark_untrusted(**build.BY, commit_sha="abcdef" + "0" * 34) == 1
        late = store.write_run(build.run(2, facts={"tested_sha": "aBcDeF" + "0" * 34}))
        assert not late.trusted


class TestEpochs:
    def test_judged_under_an_epoch_that_ended(self, store: MetricHistoryStore, build):
        """Stored untrusted, whatever the gate said, with the reason; under the epoch in force it is trusted."""
        stale = store.write_run(build.run(1, epochs={"loss": "e" * 32}))
        assert (stale.trusted, stale.gate_trusted, stale.untrusted_reason) == (False, True, "epoch changed")
        assert store.get_run("default", stale.run_id).run == stale
        assert store.write_run(build.run(2, epochs={"loss": None, "new": None})).trusted
        assert build.recent(store) == [[2.0]]


class TestLog:
    def test_each_changed_run_and_each_rule_is_a_line(self, store: MetricHistoryStore, build):
        """Who, when, why, by which selector; newest first; undoing adds lines and removes none."""
        run_id = store.write_run(build.run(7)).run_id
        store.mark_untrusted(project="default", ci_run_id=7, reason="bad driver", actor="ana")
        store.mark_trusted(project="default", ci_run_id=7, reason="fine after all", actor="bo")
        found = store.trust_events("default")
        lines = [(one.action, build.who(one.actor), one.reason, one.run_id, one.selector) for one in found]
        assert lines == [
            ("mark_trusted", "bo", "fine after all", run_id, "ci_run_id=7"),
            ("mark_trusted", "bo", "fine after all", None, "ci_run_id=7"),
            ("mark_untrusted", "ana", "bad driver", run_id, "ci_run_id=7"),
            ("mark_untrusted", "ana", "bad driver", None, "ci_run_id=7"),
        ]
        assert len(store.trust_events("default", limit=1)) == 1
        assert all(one.at.tzinfo is not None for one in store.trust_events("default"))

    def test_a_late_shard_is_a_line_too(self, store: MetricHistoryStore, build):
        """Under the name of whoever set the rule."""
        store.mark_untrusted(**build.BY, ci_run_id=7)
        late = store.write_run(build.run(7))
        newest = store.trust_events("default")[0]
        assert (newest.run_id, build.who(newest.actor), newest.selector) == (late.run_id, "on duty", "ci_run_id=7")

    def test_without_a_change_nothing_is_logged(self, store: MetricHistoryStore, build):
        """Repeating a mark adds no line."""
        store.write_run(build.run(7))
        for _ in range(2):
            store.mark_untrusted(**build.BY, ci_run_id=7)
        assert len(store.trust_events("default")) == 2


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        ({}, "exactly one"),
        ({"run_id": "r", "ci_run_id": 1}, "exactly one"),
        ({"ci_run_id": 0}, "ci_run_id 0 is out of range"),
        ({"ci_run_id": -7}, "ci_run_id -7 is out of range"),
        ({"ci_run_id": 2**63}, "ci_run_id 9223372036854775808 is out of range; give a number from 1"),
        ({"commit_sha": "abc123"}, "not a full SHA"),
        ({"commit_sha": "z" * 40}, "not a full SHA"),
        ({"ci_run_id": 1, "reason": " "}, "reason is empty"),
        ({"ci_run_id": 1, "actor": ""}, "actor is empty"),
        ({"ci_run_id": 1, "reason": "\0"}, "reason"),
    ],
)
def test_a_mark_that_says_too_little_is_refused(store: MetricHistoryStore, build, selector, words):
    """Exactly one selector, in full, with a reason and a name."""
    for mark in (store.mark_untrusted, store.mark_trusted):
        with pytest.raises(ValueError, match=words):
            mark(**(build.BY | selector))

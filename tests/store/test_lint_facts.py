"""What the one read brings along for warnings: what an anchor once was, and histories under other declarations."""

from __future__ import annotations

from store.contract import MetricHistoryStore


def _numbers(rows):
    return [row.values[0] for row in rows]


class TestAnchorEver:
    """`anchor_ever`: runs of the epoch that count or once did, as many as an anchor has."""

    def test_marked_runs_stay_counted(self, store: MetricHistoryStore, build):
        """Four of six count; a mark takes one away from the anchor, not from what it once was."""
        for number in range(1, 7):
            store.write_run(build.run(number, trusted=number != 2, has_error=number == 2))
        store.mark_untrusted(**build.BY, ci_run_id=3)
        found = build.history(store, anchor_runs=10)
        assert (_numbers(found.anchor), found.anchor_ever) == ([1.0, 4.0, 5.0, 6.0], 5)

    def test_it_is_counted_up_to_the_size_of_an_anchor(self, store: MetricHistoryStore, build):
        """More are not asked for."""
        for number in range(1, 5):
            store.write_run(build.run(number))
        store.mark_untrusted(**build.BY, ci_run_id=1)
        found = build.history(store, anchor_runs=3)
        assert (_numbers(found.anchor), found.anchor_ever) == ([2.0, 3.0, 4.0], 3)

    def test_a_red_rerun_takes_its_run_out_of_the_anchor_only(self, store: MetricHistoryStore, build):
        """The anchor loses it; that it was there once is not forgotten, and the attempts of a CI run are one."""
        store.write_run(build.run(1))
        store.write_run(build.run(2))
        store.write_run(build.run(2, facts={"ci_run_attempt": 2}, hours=2, trusted=False))
        found = build.history(store)
        assert (_numbers(found.anchor), found.anchor_ever) == ([1.0], 2)

    def test_superseded_and_left_out_runs_are_not(self, store: MetricHistoryStore, build):
        """A rerun replaces its attempt, and runs of one CI run never judge each other."""
        store.write_run(build.run(1))
        store.write_run(build.run(1, facts={"ci_run_attempt": 2}, hours=2))
        store.write_run(build.run(3))
        assert build.history(store).anchor_ever == 2
        assert build.history(store, exclude_ci_run_id=3).anchor_ever == 1
        assert build.history(store, build.key("unknown")).anchor_ever == 0

    def test_an_operator_who_trusts_makes_one(self, store: MetricHistoryStore, build):
        """Counting now is enough."""
        written = store.write_run(build.run(1, trusted=False))
        assert build.history(store).anchor_ever == 0
        store.mark_trusted(**build.BY, run_id=written.run_id)
        assert build.history(store).anchor_ever == 1

    def test_single_specs_count_at_grain_metric(self, metric_store: MetricHistoryStore, build):
        """The spec's own trust decides, whatever became of the run."""
        kl = build.values({0: 2.0}, build.key("kl"), trusted=False)
        metric_store.write_run(build.run(1, build.values({0: 1.0}), kl, trusted=False))
        read = metric_store.read_history(build.IDENTITY, [build.key(), build.key("kl")], 20, 20, None)
        assert [read.of(key).anchor_ever for key in (build.key(), build.key("kl"))] == [1, 0]


class TestOthers:
    """`others`: for a spec without a baseline, the newest counting rows of the metric's other specs."""

    def test_an_edited_band_finds_the_old_history(self, store: MetricHistoryStore, build):
        """Newest first, as many as a baseline has, trusted ones only; nothing for another metric."""
        for number in range(1, 9):
            store.write_run(build.run(number, trusted=number != 7))
        found = build.history(store, build.key(rel_up=0.9), limit=5)
        assert (found.baseline, _numbers(found.others)) == ((), [8.0, 6.0, 5.0, 4.0, 3.0])
        assert build.history(store, build.key("kl", rel_up=0.9)).others == ()

    def test_a_spec_with_a_baseline_gets_none(self, store: MetricHistoryStore, build):
        """From its second run on, an edited band has a history of its own."""
        store.write_run(build.run(1))
        edited = build.key(rel_up=0.9)
        store.write_run(build.run(2, build.values({0: 2.0}, edited)))
        found = build.history(store, edited)
        assert (_numbers(found.baseline), found.others) == ([2.0], ())

    def test_a_spec_that_was_stored_but_never_counted_is_cold_too(self, store: MetricHistoryStore, build):
        """An error at its first run."""
        store.write_run(build.run(1))
        edited = build.key(rel_up=0.9)
        store.write_run(build.run(2, build.values({0: 2.0}, edited), trusted=False))
        assert _numbers(build.history(store, edited).others) == [1.0]

    def test_a_declaration_that_is_asked_for_is_no_other(self, store: MetricHistoryStore, build):
        """Two declarations of one metric in one file: the new one is not told of the one beside it."""
        store.write_run(build.run(1))
        new = build.key(rel_up=0.9)
        read = store.read_history(build.IDENTITY, [new, build.key()], 20, 20, None)
        assert (read.of(new).others, _numbers(read.of(build.key()).baseline)) == ((), [1.0])

    def test_a_last_value_and_a_mean_are_not_mixed(self, store: MetricHistoryStore, build):
        """They share step -1; rows with real steps serve every list of steps."""
        last, mean = build.key(steps='"last"'), build.key(steps='{"last":5,"reduce":"mean"}')
        store.write_run(build.run(1, build.values({-1: 1.0}, last), build.values({0: 7.0})))
        assert [row.steps.tolist() for row in build.history(store, mean).others] == [[0]]
        assert 1.0 in _numbers(build.history(store, build.key(steps='"last"', rel_up=0.9)).others)
        assert _numbers(build.history(store, build.key(steps="[0]")).others) == [7.0]

    def test_an_earlier_epoch_is_another_level(self, store: MetricHistoryStore, build):
        """What an intended change left behind is no history to compare with."""
        store.write_run(build.run(1))
        second = store.write_run(build.run(2))
        store.start_epoch(build.IDENTITY, from_run=second.run_id, reason="new kernel", actor="on duty")
        assert _numbers(build.history(store, build.key(rel_up=0.9)).others) == [2.0]


def test_an_empty_store_has_no_facts(store: MetricHistoryStore, build):
    """Nothing to warn of."""
    found = build.history(store)
    assert (found.others, found.anchor_ever, found.baseline) == ((), 0, ())

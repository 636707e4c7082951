"""What every store promises (`store.contract`), over every backend."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.identity import SeriesIdentity
from gate.provenance import Provenance
from store.contract import Attempt, AttemptFilter, MetricHistoryStore, RunFilter
from store.errors import NotFound, StoreConflict

ON_ONE_STORE = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
EXACT = [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072011e-308, 1e308, -1.7976931348623157e308, 0.1, 1 / 3, 1e-5, 3.0]


class TestWriting:
    def test_a_run_comes_back_as_it_was_given(self, store: MetricHistoryStore, build):
        """Identity, time, trust, provenance, verdict, values: everything, with an id of its own."""
        facts = Provenance(
            tested_sha=build.SHA,
            ci_sha="b" * 40,
            ci_run_id=2**40,
            ci_run_attempt=2,
            test_attempt=3,
            pr=7,
            packages={"torch": "2.9"},
            seed=1,
            fork=False,
        )
        given_run = build.run(
            1,
            build.values({0: 1.5, 7: 2.5}),
            replace(build.values({-1: 0.25}, build.key("kl", '"last"')), at_step=9, points=10, trusted=False),
            provenance=facts,
            trusted=False,
            has_error=True,
            verdict=build.verdict() | {"text": "é ${jndi:ldap://x} <script>", "none": None, "deep": [{"a": [1, -0.0]}]},
        )
        written = store.write_run(given_run)
        found = store.get_run("default", written.run_id)
        assert found.run == written
        assert found.series == given_run.series
        assert (found.run.identity, found.run.created_at) == (given_run.identity, given_run.created_at)
        assert (found.run.provenance, found.run.verdict) == (facts, given_run.verdict)
        assert (found.run.trusted, found.run.gate_trusted, found.run.has_error) == (False, False, True)
        assert not written.repeat

    @ON_ONE_STORE
    @given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
    def test_doubles_are_exact(self, store: MetricHistoryStore, build, numbers):
        """Every finite double reads back bit by bit: zero's sign, subnormals, the largest."""
        numbers = [*EXACT, *numbers]
        new = build.run(1, build.values(dict(enumerate(numbers))), idempotency_key=repr(numbers))
        read_back = store.get_run("default", store.write_run(new).run_id).series[0].values
        assert np.array(read_back).tobytes() == np.array(numbers).tobytes()

    def test_doubles_are_exact_in_the_gates_read(self, store: MetricHistoryStore, build):
        """The gate reads the same bits as a person does."""
        store.write_run(build.run(1, build.values(dict(enumerate(EXACT)))))
        (row,) = build.history(store).baseline
        assert row.values.tobytes() == np.array(EXACT).tobytes()
        assert (row.values.dtype, row.steps.dtype) == (np.float64, np.int64)

    def test_the_same_run_again_is_a_repeat(self, store: MetricHistoryStore, build):
        """Same key, same content: the stored run and verdict, nothing written, also when told otherwise this time."""
        first = store.write_run(build.run(1))
        again = store.write_run(build.run(1, trusted=False, verdict={}, hours=9))
        assert again == replace(first, repeat=True)
        assert len(store.list_runs("default", RunFilter())) == 1

    @pytest.mark.parametrize("other", [{0: 2.0}, {1: 1.0}, {0: 1.0, 1: 1.0}])
    def test_the_same_key_with_other_content_is_a_conflict(self, store: MetricHistoryStore, build, other):
        """Other values, other steps: refused, naming the stored run and what to do."""
        first = store.write_run(build.run(1))
        with pytest.raises(StoreConflict, match=rf"{first.run_id}.*suite names"):
            store.write_run(build.run(1, build.values(other)))
        assert build.recent(store) == [[1.0]]

    def test_a_conflict_outside_of_ci_speaks_of_no_suite(self, store: MetricHistoryStore, build):
        """Without a CI run there are no two variants in it: the advice is about the key."""
        local = {"facts": {"ci_run_id": None}, "idempotency_key": "k"}
        store.write_run(build.run(1, **local))
        with pytest.raises(StoreConflict, match=r"'k' is already stored.*a key of its own$"):
            store.write_run(build.run(2, **local))

    def test_zeros_of_different_sign_are_different_content(self, store: MetricHistoryStore, build):
        """The content is compared bit by bit."""
        store.write_run(build.run(1, build.values({0: 0.0})))
        with pytest.raises(StoreConflict):
            store.write_run(build.run(1, build.values({0: -0.0})))

    def test_a_given_key_belongs_to_the_project(self, store: MetricHistoryStore, build):
        """The identity is part of the content: one key for two series is a conflict, in another project it is free."""
        store.write_run(build.run(1, idempotency_key="k"))
        with pytest.raises(StoreConflict, match="'k'"):
            store.write_run(build.run(1, idempotency_key="k", identity=replace(build.IDENTITY, suite="other")))
        other = store.write_run(build.run(1, idempotency_key="k", identity=replace(build.IDENTITY, project="other")))
        assert not other.repeat

    def test_the_default_key_belongs_to_the_series(self, store: MetricHistoryStore, build):
        """Two tests of one CI run do not collide."""
        store.write_run(build.run(1))
        other = store.write_run(build.run(1, identity=replace(build.IDENTITY, test_path="tests/test_other.py")))
        assert not other.repeat

    def test_without_a_ci_run_a_key_is_needed(self, store: MetricHistoryStore, build):
        """Nothing else could tell a retry from a second run."""
        local = {"ci_run_id": None, "ci_run_attempt": None, "test_attempt": None}
        with pytest.raises(ValueError, match="idempotency key"):
            store.write_run(build.run(1, facts=local))
        assert not store.write_run(build.run(1, facts=local, idempotency_key="k")).repeat

    @pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
    def test_a_value_that_is_not_finite_is_refused(self, store: MetricHistoryStore, build, bad):
        """By metric and step; nothing of the run is stored."""
        with pytest.raises(ValueError, match=r"kl step 4: .*not a finite"):
            store.write_run(build.run(1, build.values({0: 1.0}), build.values({3: 1.0, 4: bad}, build.key("kl"))))
        assert store.list_runs("default", RunFilter()) == []

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"created_at": datetime(2024, 1, 1)}, "no time zone"),  # noqa: DTZ001 - the fault under test
            ({"created_at": datetime.now(UTC) + timedelta(days=1, hours=1)}, "more than a day ahead"),
            ({"identity": SeriesIdentity("", "t", "cuda", "s")}, "project is empty"),
            ({"identity": SeriesIdentity("p", "t\0", "cuda", "s")}, "NUL"),
            ({"identity": SeriesIdentity("p", "t\ud800", "cuda", "s")}, "Unicode"),
            ({"identity": SeriesIdentity("p", "t" * 3000, "cuda", "s")}, "exceed"),
            ({"idempotency_key": " "}, "idempotency key is empty"),
            ({"idempotency_key": "k" * 3000}, "idempotency key"),
            ({"verdict": {"x": object()}}, "verdict"),
            ({"facts": {"ci_run_id": 2**63}}, "ci_run_id"),
            ({"facts": {"ci_run_attempt": 2**63}}, "ci_run_attempt"),
            ({"facts": {"ci_run_attempt": -1}}, "ci_run_attempt"),
            ({"facts": {"test_attempt": 2**63}}, "test_attempt"),
        ],
    )
    def test_what_cannot_be_stored_is_refused(self, store: MetricHistoryStore, build, changes, words):
        """One line each, before the database is asked."""
        with pytest.raises(ValueError, match=words):
            store.write_run(build.run(1, **changes))

    def test_job_ids_of_gitlab_are_attempts(self, store: MetricHistoryStore, build):
        """Numbers beyond 32 bits serve as CI attempts of runs and attempts, and the higher one counts."""
        later = {"ci_run_attempt": 9_876_543_210, "test_attempt": 2**63 - 1}
        run = store.write_run(build.run(7, build.values({0: 9.0}), facts=later))
        store.write_run(build.run(7, facts={"ci_run_attempt": 9_876_543_209}))
        assert store.get_run("default", run.run_id).run.provenance.ci_run_attempt == 9_876_543_210
        assert build.recent(store) == [[9.0]]
        attempt = replace(_attempt(build.IDENTITY, 2**63 - 1), ci_run_attempt=9_876_543_210)
        assert [store.record_attempts([attempt]) for _ in range(2)] == [1, 0]

    @pytest.mark.parametrize("name", ["ci_run_id", "ci_run_attempt", "test_attempt"])
    @pytest.mark.parametrize("number", [-1, 2**63])
    def test_an_attempt_that_cannot_be_stored_is_refused(self, store: MetricHistoryStore, build, name, number):
        """By the name of its number; the others of the same report are not stored either."""
        good = _attempt(build.IDENTITY, 1)
        with pytest.raises(ValueError, match=f"{name} {number} is out of range"):
            store.record_attempts([good, replace(good, **{name: number})])
        assert store.record_attempts([good]) == 1

    def test_steps_that_do_not_fit_are_refused(self, store: MetricHistoryStore, build):
        """As many steps as values, ascending, each gate spec once."""
        one = build.values({0: 1.0, 1: 2.0})
        with pytest.raises(ValueError, match="2 steps but 1 values"):
            store.write_run(build.run(1, replace(one, values=(1.0,))))
        with pytest.raises(ValueError, match="do not ascend"):
            store.write_run(build.run(1, replace(one, steps=(1, 1))))
        with pytest.raises(ValueError, match="64 bits"):
            store.write_run(build.run(1, replace(one, steps=(1, 2**63))))
        with pytest.raises(ValueError, match="twice"):
            store.write_run(build.run(1, one, one))

    def test_another_time_zone_is_the_same_instant(self, store: MetricHistoryStore, build):
        """Times come back in UTC, to the microsecond."""
        at = datetime(2024, 5, 1, 2, 30, 0, 123456, tzinfo=timezone(timedelta(hours=9)))
        written = store.write_run(build.run(1, created_at=at))
        found = store.get_run("default", written.run_id).run
        assert found.created_at == at
        assert found.created_at.utcoffset() == timedelta(0)

    def test_a_steps_key_of_many_steps_is_stored(self, store: MetricHistoryStore, build):
        """Keys may be longer than an index entry, values many."""
        steps = tuple(range(10_000))
        spec = build.key(steps=str(list(steps)).replace(" ", ""))
        store.write_run(build.run(1, build.values(dict.fromkeys(steps, 1.0), spec)))
        assert build.history(store, spec).baseline[0].values.shape == (10_000,)

    def test_a_run_without_values_is_stored(self, store: MetricHistoryStore, build):
        """A run whose every coordinate was ERROR still happened."""
        stored = store.write_run(build.run(1, series=(), trusted=False, has_error=True))
        assert store.get_run("default", stored.run_id).series == ()


class TestSuperseding:
    ATTEMPTS = ((1, 1), (1, 2), (2, 1))

    @ON_ONE_STORE
    @given(st.permutations(ATTEMPTS))
    def test_only_the_highest_attempt_counts_in_any_order(self, store: MetricHistoryStore, build, order):
        """Of one series and CI run the highest (CI attempt, test attempt) counts, whatever came first."""
        identity = replace(build.IDENTITY, suite=str(order))
        for ci, test in order:
            facts = {"ci_run_attempt": ci, "test_attempt": test}
            new = build.run(7, build.values({0: ci * 10.0 + test}), identity=identity, facts=facts)
            written = store.write_run(new)
            assert store.get_run("default", written.run_id).run == written
        assert build.recent(store, identity=identity) == [[21.0]]

    def test_a_red_rerun_supersedes_too(self, store: MetricHistoryStore, build):
        """The verdict of the higher attempt does not matter: nobody picks the attempt they like."""
        first = store.write_run(build.run(7))
        second = store.write_run(build.run(7, build.values({0: 9.0}), trusted=False, facts={"ci_run_attempt": 2}))
        assert build.recent(store) == [[]]
        assert store.get_run("default", first.run_id).run.superseded_by == second.run_id

    def test_other_series_and_ci_runs_are_left_alone(self, store: MetricHistoryStore, build):
        """A rerun replaces its own earlier attempt only."""
        store.write_run(build.run(6))
        store.write_run(build.run(7, identity=replace(build.IDENTITY, suite="other")))
        store.write_run(build.run(7, facts={"ci_run_attempt": 2}))
        assert build.recent(store) == [[7.0, 6.0]]
        assert build.recent(store, identity=replace(build.IDENTITY, suite="other")) == [[7.0]]

    def test_runs_without_a_ci_run_never_supersede(self, store: MetricHistoryStore, build):
        """Local runs have no attempts."""
        for name in "ab":
            store.write_run(build.run(1, facts={"ci_run_id": None}, idempotency_key=name))
        assert build.recent(store) == [[1.0, 1.0]]

    def test_a_run_beside_others_counts_with_them(self, store: MetricHistoryStore, build):
        """It supersedes no run of its CI run and none supersedes it, until a later rerun does as ever."""
        for name, attempt in (("a", 2), ("b", 1), ("c", 2)):
            facts = {"ci_run_attempt": attempt}
            store.write_run(build.run(7, facts=facts, idempotency_key=name, beside_others=True))
        assert build.recent(store) == [[7.0, 7.0, 7.0]]
        store.write_run(build.run(7, build.values({0: 9.0}), facts={"ci_run_attempt": 3}))
        assert build.recent(store) == [[9.0]]


class TestReading:
    def test_an_empty_store_knows_nothing(self, store: MetricHistoryStore, build):
        """Unknown series, unknown coordinate: empty answers, no errors."""
        assert build.recent(store, 0, 1) == [[], []]
        assert build.history(store) == build.history(store, build.key("never"))
        assert (build.history(store).baseline, build.history(store).epoch_id) == ((), None)
        assert (store.list_series("default"), store.list_specs(build.IDENTITY)) == ([], [])

    def test_newest_first_by_time_then_arrival(self, store: MetricHistoryStore, build):
        """The clock of the run decides, its arrival breaks ties."""
        for number, hours in ((1, 5), (2, 3), (3, 5), (4, 4)):
            store.write_run(build.run(number, hours=hours))
        assert build.recent(store) == [[3.0, 1.0, 4.0, 2.0]]
        assert build.recent(store, limit=2) == [[3.0, 1.0]]

    @pytest.mark.parametrize("limit", [0, -1])
    def test_a_limit_is_at_least_one(self, store: MetricHistoryStore, build, limit):
        """Anything else is a mistake of the caller."""
        with pytest.raises(ValueError, match="limit"):
            build.recent(store, limit=limit)

    @ON_ONE_STORE
    @given(
        st.lists(
            st.tuples(
                st.integers(0, 6),
                st.sets(st.integers(0, 4), min_size=1),
                st.sampled_from(["good", "good", "good", "red", "ours"]),
            ),
            max_size=14,
        ),
        st.integers(1, 6),
    )
    def test_exact_where_runs_lack_steps(self, store: MetricHistoryStore, behind, build, made, limit):
        """Each coordinate has its own newest values, equal to a plain model's, also without the CI run left out."""
        identity = replace(build.IDENTITY, suite=repr((made, limit)))
        rows = []
        for place, (hours, steps, kind) in enumerate(made):
            by_step = {step: place + step / 10 for step in sorted(steps)}
            facts = {"ci_run_id": 10_000 + place if kind == "ours" else place + 1}
            new = build.run(place, build.values(by_step), identity=identity, hours=hours, facts=facts)
            behind(store).write_run(replace(new, trusted=kind != "red"))
            if kind != "red":
                rows.append((new.created_at, place, by_step))
        found = build.recent(store, *range(5), limit=limit, identity=identity)
        assert found == [build.newest(rows, step, limit) for step in range(5)]

    def test_a_ci_run_is_left_out_everywhere(self, store: MetricHistoryStore, build):
        """Runs of one CI run never judge each other: baseline, anchor, valid and recent runs."""
        for number in (1, 2, 3):
            store.write_run(build.run(number))
        read = store.read_history(build.IDENTITY, [build.key()], 20, 20, 2)
        found = read.of(build.key())
        for rows in (found.baseline, found.anchor, found.valid):
            assert sorted(row.values[0] for row in rows) == [1.0, 3.0]
        assert len(read.recent_runs) == 2

    def test_only_the_newest_500_counting_runs_are_looked_at(self, store: MetricHistoryStore, behind, build):
        """A value further back is not found, red runs between do not shorten the window, the anchor is exempt."""
        only_old = {0: 1.0, 5: 1.0}
        behind(store).write_run(build.run(1, build.values(only_old), hours=0))
        behind(store).write_run(build.run(2, build.values(only_old), hours=1))
        behind(store).write_run(build.run(3, trusted=False, hours=2))
        for number in range(4, 503):
            behind(store).write_run(build.run(number))
        assert [len(found) for found in build.recent(store, 0, 5, limit=600)] == [500, 1]
        assert [row.values[0] for row in build.history(store, anchor_runs=2).anchor] == [1.0, 1.0]

    def test_anchor_baseline_and_valid(self, store: MetricHistoryStore, build):
        """Anchor oldest first, baseline newest first, valid with red runs but without errors and marks."""
        for number in range(1, 7):
            store.write_run(build.run(number, trusted=number != 3, has_error=number == 4))
        store.mark_untrusted(**build.BY, ci_run_id=5)
        found = build.history(store, limit=2, anchor_runs=2)

        def numbers(rows):
            return [row.values[0] for row in rows]

        assert numbers(found.baseline)[:2] == [6.0, 4.0]
        assert numbers(found.anchor) == [1.0, 2.0]
        assert numbers(found.valid) == [6.0, 3.0, 2.0, 1.0]
        by_number = {row.values[0]: row.run for row in (*found.baseline, *found.valid)}
        assert (by_number[3.0].trusted, by_number[3.0].counting, by_number[3.0].valid) == (False, False, True)
        assert (by_number[4.0].trusted, by_number[4.0].counting, by_number[4.0].valid) == (True, True, False)

    def test_five_point_counts_even_at_a_small_limit(self, store: MetricHistoryStore, build):
        """The usual number of points is taken from five runs, whatever the limit."""
        for number in range(1, 8):
            store.write_run(build.run(number))
        found = build.history(store, limit=1, anchor_runs=0)
        assert [row.points for row in found.baseline] == [1] * 5
        assert found.anchor == ()

    def test_equal_steps_are_one_array(self, store: MetricHistoryStore, build):
        """Vectorised readers recognise runs with equal steps by identity."""
        for number in (1, 2):
            store.write_run(build.run(number, build.values({0: 1.0, 4: float(number)})))
        one, two = build.history(store).baseline
        assert one.steps is two.steps

    def test_recent_runs_are_the_newest_twenty(self, store: MetricHistoryStore, build):
        """Whatever became of them, newest first."""
        written = [store.write_run(build.run(number, trusted=number % 2 == 0)) for number in range(1, 26)]
        read = store.read_history(build.IDENTITY, [build.key()], 20, 20, None)
        assert [ref.run_id for ref in read.recent_runs] == [run.run_id for run in reversed(written[-20:])]
        assert {ref.trusted for ref in read.recent_runs} == {True, False}

    def test_many_specs_in_one_read(self, store: MetricHistoryStore, build):
        """No limit on the number of gate specs of one question."""
        keys = [build.key(f"m{number}") for number in range(1200)]
        store.write_run(build.run(1, *(build.values({0: 1.0}, one) for one in keys[:3])))
        read = store.read_history(build.IDENTITY, keys, 20, 20, None)
        assert sum(len(read.of(one).baseline) for one in keys) == 3
        many = [build.coordinate(step) for step in range(40_000)]
        assert store.recent_trusted_values(build.IDENTITY, many) == {one: [] for one in many}

    def test_another_project_does_not_exist(self, store: MetricHistoryStore, build):
        """Neither by series, nor by run id, nor by CI run, commit or listing."""
        theirs = store.write_run(build.run(1, identity=replace(build.IDENTITY, project="theirs")))
        assert build.recent(store) == [[]]
        assert store.list_runs("default", RunFilter()) == []
        assert store.list_series("default") == []
        with pytest.raises(NotFound):
            store.get_run("default", theirs.run_id)
        with pytest.raises(NotFound):
            store.mark_untrusted(**build.BY, run_id=theirs.run_id)
        assert store.mark_untrusted(**build.BY, ci_run_id=1) == 0
        assert store.mark_untrusted(**build.BY, commit_sha=f"{1:040x}") == 0
        assert [event.run_id for event in store.trust_events("theirs")] == []
        assert store.get_run("theirs", theirs.run_id).run.trusted


class TestMetricGrain:
    def test_the_good_spec_of_a_red_run_counts(self, metric_store: MetricHistoryStore, build):
        """With trust by metric a failing metric does not starve its neighbours."""
        good, bad = build.key("loss"), build.key("kl")
        red = build.run(1, build.values({0: 1.0}, good), build.values({0: 9.0}, bad, trusted=False), trusted=False)
        metric_store.write_run(red)
        assert [len(build.history(metric_store, one).baseline) for one in (good, bad)] == [1, 0]
        assert [len(build.history(metric_store, one).anchor) for one in (good, bad)] == [1, 0]

    def test_an_operator_decides_for_all_specs(self, metric_store: MetricHistoryStore, build):
        """Marked untrusted nothing of the run counts, marked trusted everything."""
        good, bad = build.key("loss"), build.key("kl")
        red = build.run(1, build.values({0: 1.0}, good), build.values({0: 9.0}, bad, trusted=False), trusted=False)
        run_id = metric_store.write_run(red).run_id
        metric_store.mark_untrusted(**build.BY, run_id=run_id)
        assert [len(build.history(metric_store, one).baseline) for one in (good, bad)] == [0, 0]
        metric_store.mark_trusted(**build.BY, run_id=run_id)
        assert [len(build.history(metric_store, one).baseline) for one in (good, bad)] == [1, 1]

    def test_red_runs_do_not_fill_the_window(self, metric_store: MetricHistoryStore, behind, build):
        """A run of which nothing counts is no counting run."""
        metric_store.write_run(build.run(1))
        for number in range(2, 503):
            behind(metric_store).write_run(build.run(number, build.values({0: 2.0}, trusted=False), trusted=False))
        assert build.recent(metric_store) == [[1.0]]


class TestListings:
    def test_runs_are_filtered_and_newest_first(self, store: MetricHistoryStore, build):
        """Each filter alone, both together, and the limit."""
        other = replace(build.IDENTITY, suite="other")
        first, *_ = [store.write_run(build.run(number, trusted=number != 2)) for number in (1, 2, 3)]
        store.write_run(build.run(4, identity=other, facts={"tested_sha": build.SHA.upper()}))

        def listed(**where) -> list[int]:
            return [run.provenance.ci_run_id for run in store.list_runs("default", RunFilter(**where))]

        assert listed() == [4, 3, 2, 1]
        assert listed(limit=2) == [4, 3]
        assert listed(trusted=False) == [2]
        assert listed(suite="other") == [4]
        assert listed(test_path=build.IDENTITY.test_path, backend="cuda", trusted=True) == [4, 3, 1]
        assert listed(ci_run_id=3) == [3]
        assert listed(commit_sha=build.SHA) == [4]
        assert listed(backend="rocm") == []
        assert listed(run_id=first.run_id) == [1]
        assert listed(run_id="unknown") == listed(run_id=first.run_id, trusted=False) == []

    def test_series_are_summarised(self, store: MetricHistoryStore, build):
        """Counts, and the newest run by time, not by arrival."""
        newest = store.write_run(build.run(2, trusted=False))
        store.write_run(build.run(1))
        store.record_attempts([_attempt(replace(build.IDENTITY, suite="a-suite"), 1)])
        never, known = store.list_series("default")
        assert (never.identity.suite, never.runs, never.counting, never.last_run_id) == ("a-suite", 0, 0, None)
        assert (known.identity, known.runs, known.counting) == (build.IDENTITY, 2, 1)
        assert (known.last_run_id, known.last_run_at, known.last_trusted) == (newest.run_id, newest.created_at, False)

    @pytest.mark.parametrize(
        ("trusted", "streak"), [([], 0), ([True], 0), ([False], 1), ([True, False, False], 2), ([False, True], 0)]
    )
    def test_how_many_runs_came_after_the_newest_trusted_one(self, store: MetricHistoryStore, build, trusted, streak):
        """By time; a series that was never trusted counts all of its runs."""
        store.record_attempts([_attempt(build.IDENTITY, 1)])
        for number, is_trusted in reversed(list(enumerate(trusted, start=1))):
            store.write_run(build.run(number, trusted=is_trusted))
        (found,) = store.list_series("default")
        assert found.untrusted_streak == streak

    def test_specs_are_listed_by_newest_use(self, store: MetricHistoryStore, build):
        """By the time of the run that used them last."""
        keys = [build.key("a"), build.key("b"), build.key("c")]
        for number, one in ((3, keys[0]), (1, keys[1]), (2, keys[2])):
            store.write_run(build.run(number, build.values({0: 1.0}, one)))
        assert store.list_specs(build.IDENTITY) == [keys[0], keys[2], keys[1]]

    def test_several_runs_in_the_order_asked_for(self, store: MetricHistoryStore, build):
        """In one call; a missing one is named."""
        ids = [store.write_run(build.run(number)).run_id for number in (1, 2, 3)]
        asked = [ids[2], ids[0], ids[1]]
        assert [found.run.run_id for found in store.get_runs("default", asked)] == asked
        with pytest.raises(NotFound, match="unknown"):
            store.get_runs("default", [ids[0], "unknown"])
        assert store.get_runs("default", []) == []

    def test_a_metric_as_a_data_frame(self, store: MetricHistoryStore, build):
        """Every value, oldest first, never sampled; one step if asked; an unknown metric has the columns."""
        store.write_run(build.run(2, build.values({0: 2.0, 1: 2.5}), trusted=False))
        store.write_run(build.run(1, build.values({1: 1.5}), facts={"ci_run_id": None}, idempotency_key="k"))
        frame = store.metric_history(build.IDENTITY, "loss")
        assert frame["value"].tolist() == [1.5, 2.0, 2.5]
        assert frame["step"].tolist() == [1, 0, 1]
        assert frame["trusted"].tolist() == [True, False, False]
        assert frame["ci_run_id"].fillna(0).tolist() == [0, 2, 2]
        assert frame["created_at"].dt.tz is not None
        assert store.metric_history(build.IDENTITY, "loss", step=1)["value"].tolist() == [1.5, 2.5]
        empty = store.metric_history(build.IDENTITY, "never")
        assert (len(empty), list(empty)) == (0, list(frame))

    def test_the_gates_read_tells_the_ci_run(self, store: MetricHistoryStore, build):
        """Of each row and of each recent run, so that a reader of an export can leave out its own."""
        store.write_run(build.run(7))
        store.write_run(build.run(8, facts={"ci_run_id": None}, idempotency_key="k"))
        found = store.read_history(build.IDENTITY, [build.key()], 20, 20, None)
        assert [row.run.ci_run_id for row in found.of(build.key()).baseline] == [None, 7]
        assert [run.ci_run_id for run in found.recent_runs] == [None, 7]

    def test_attempts_are_stored_once(self, store: MetricHistoryStore, build):
        """A retry of the same report adds nothing; new ones are counted."""
        other = replace(build.IDENTITY, suite="other")
        attempts = [_attempt(build.IDENTITY, 1), _attempt(build.IDENTITY, 2), _attempt(other, 1)]
        assert store.record_attempts(attempts) == 3
        assert store.record_attempts([*attempts, _attempt(other, 2)]) == 1
        local = replace(attempts[0], ci_run_id=None, ci_run_attempt=None)
        later = replace(local, started_at=local.started_at + timedelta(seconds=1))
        assert store.record_attempts([local, later, local]) == 2
        assert store.record_attempts([]) == 0

    def test_attempts_come_back_as_they_were_given(self, store: MetricHistoryStore, build):
        """By series, newest start first; another project's are not there."""
        other = replace(build.IDENTITY, suite="other")
        given_ones = [
            replace(_attempt(build.IDENTITY, 2), started_at=build.START + timedelta(hours=2), attempt_class="pass"),
            replace(_attempt(build.IDENTITY, 1), exit_code=None, ci_run_id=None, ci_run_attempt=None),
            _attempt(other, 1),
        ]
        store.record_attempts([given_ones[1], given_ones[2], given_ones[0]])
        store.record_attempts([_attempt(replace(build.IDENTITY, project="foreign"), 1)])
        assert store.list_attempts("default", AttemptFilter()) == given_ones
        assert store.list_attempts("unknown", AttemptFilter()) == []

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            ({"attempt_class": "pass"}, [4, 2]),
            ({"since": datetime(2024, 1, 1, 3, tzinfo=UTC)}, [4, 3]),
            ({"newest": 1}, [4]),
            ({"newest": 1, "attempt_class": "fail"}, [3]),
            ({"backend": "cuda", "suite": "nightly-8-gpu"}, [4, 3, 2, 1]),
            ({"backend": "cpu"}, []),
            ({"suite": "unknown"}, []),
        ],
    )
    def test_attempts_are_filtered(self, store: MetricHistoryStore, build, where, expected):
        """The newest of each series are taken of those that pass every other filter."""
        classes = {1: "fail", 2: "pass", 3: "fail", 4: "pass"}
        store.record_attempts(
            [
                replace(_attempt(build.IDENTITY, n), started_at=build.START + timedelta(hours=n), attempt_class=name)
                for n, name in classes.items()
            ]
        )
        found = store.list_attempts("default", AttemptFilter(**where))
        assert [attempt.test_attempt for attempt in found] == expected
        with pytest.raises(ValueError, match="limit 0"):
            store.list_attempts("default", AttemptFilter(newest=0))


def _attempt(identity: SeriesIdentity, number: int) -> Attempt:
    return Attempt(identity, 77, 1, number, "fail", 12.5, datetime(2024, 1, 1, tzinfo=UTC), exit_code=1)

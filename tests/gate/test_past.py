"""`Past` answers as the store does, row by row."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate.history import History
from gate.identity import SeriesIdentity, SpecKey
from gate.past import Past, PastRun, SeriesPast
from gate.policy import GatePolicy
from gate.provenance import Provenance
from store.contract import NewRun, SeriesValues
from store.opening import open_store
from store.schema import epochs, series
from store.sql_store import SqlMetricHistoryStore

KEYS = [SpecKey(metric, '"all"', '{"abs_floor_down":1,"abs_floor_up":1}') for metric in ("loss", "kl")]
START = datetime(2026, 1, 1, tzinfo=UTC)
STEP_SETS = st.sampled_from([(0, 1, 2), (0, 1), (1, 2, 3), (7,), ()])
SPEC_VALUES = st.one_of(st.none(), st.tuples(STEP_SETS, st.booleans()))
RUNS = st.fixed_dictionaries(
    {
        "hour": st.integers(0, 30),
        "ci": st.integers(1, 12),
        "attempt": st.integers(1, 3),
        "trusted": st.booleans(),
        "has_error": st.booleans(),
        "stale": st.sampled_from([False, False, False, True]),
        "specs": st.tuples(SPEC_VALUES, SPEC_VALUES),
    }
)
STARTS = st.lists(st.tuples(st.sampled_from([None, "loss", "kl"]), st.integers(0, 31), st.booleans()), max_size=3)
MARKS = st.lists(st.tuples(st.booleans(), st.integers(0, 25)), max_size=6)
QUESTIONS = st.tuples(st.integers(1, 7), st.integers(0, 6), st.one_of(st.none(), st.integers(1, 12)))


def new_run(identity, facts, number):
    specs = [
        SeriesValues(key, steps, tuple(number + step / 8 for step in steps), trusted, points=len(steps) + 1)
        for key, given_ in zip(KEYS, facts["specs"], strict=True)
        if given_ is not None
        for steps, trusted in [given_]
    ]
    return NewRun(
        identity=identity,
        created_at=START + timedelta(hours=facts["hour"]),
        trusted=facts["trusted"],
        has_error=facts["has_error"],
        series=tuple(specs),
        provenance=Provenance(ci_run_id=facts["ci"], ci_run_attempt=facts["attempt"], test_attempt=1),
        verdict={},
        idempotency_key=f"{identity.test_path} {number}",
        epochs={"loss": "gone"} if facts["stale"] else None,
    )


@pytest.fixture(scope="module")
def stores():
    """One store of each grain for every example: each has a series of its own."""
    with open_store("sqlite://", one_shot=False) as by_run:
        # The same rows, read with the other grain.
        yield {"run": by_run, "metric": SqlMetricHistoryStore(by_run._connections, "metric", GatePolicy())}


def a_series():
    return SeriesIdentity("default", uuid.uuid4().hex, "cpu", "stage-a-cpu")


def filled(store, identity, runs):
    return [store.write_run(new_run(identity, facts, number)) for number, facts in enumerate(runs)]


def mark(store, written, marks):
    for trusted, place in marks:
        run = written[place % len(written)]
        if trusted and store.get_run("default", run.run_id).run.superseded_by is not None:
            continue
        apply = store.mark_trusted if trusted else store.mark_untrusted
        apply(project="default", run_id=run.run_id, reason="said so", actor="on duty")


def start_epochs(store, identity, starts):
    """Rows as they will stand there, without the operation that makes them."""

    def insert(connection):
        series_id = connection.execute(series.select().where(series.c.test_path == identity.test_path)).one().id
        for metric, hour, undone in starts:
            at = START + timedelta(hours=hour)
            row = {
                "epoch_id": uuid.uuid4().hex,
                "series_id": series_id,
                "metric_key": metric,
                "reason": "",
                "actor": "",
            }
            times = {"start_created_at": at, "started_at": at, "undone_at": at if undone else None}
            connection.execute(epochs.insert(), row | times | {"start_seq": 0})

    store._connections.write(insert)


def plain(history: History):
    """Every row of a history as values that compare."""

    def rows(stored):
        return [(asdict(one.run), one.steps.tolist(), one.values.tolist(), one.points) for one in stored]

    specs = {
        key: (rows(spec.baseline), rows(spec.anchor), rows(spec.valid), spec.epoch_id)
        for key, spec in history.specs.items()
    }
    return specs, [asdict(run) for run in history.recent_runs]


LAW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@LAW
@given(
    runs=st.lists(RUNS, min_size=1, max_size=20),
    starts=STARTS,
    marks=MARKS,
    question=QUESTIONS,
    grain=st.sampled_from(["run", "metric"]),
)
def test_past_equals_the_sql_read(stores, runs, starts, marks, question, grain):
    """Ragged steps, late and repeated attempts, marks, stale epochs, epochs undone or not, exclusion: row by row."""
    store, identity = stores[grain], a_series()
    mark(store, filled(store, identity, runs), marks)
    start_epochs(store, identity, starts)
    stored = store.read_past(identity)
    past = Past.as_of(stored, len(stored.runs), grain)
    assert plain(past.read_history(identity, KEYS, *question)) == plain(store.read_history(identity, KEYS, *question))


@LAW
@given(runs=st.lists(RUNS, min_size=1, max_size=12), question=QUESTIONS, grain=st.sampled_from(["run", "metric"]))
def test_as_of_a_position_later_runs_do_not_exist(stores, runs, question, grain):
    """Before each run, `Past` says what a store said that had only the runs before: a rerun supersedes when it comes."""
    store, identity = stores[grain], a_series()
    answers = []
    for number, facts in enumerate(sorted(runs, key=lambda facts: facts["hour"])):
        answers.append(plain(store.read_history(identity, KEYS, *question)))
        store.write_run(new_run(identity, facts, number))
    stored = store.read_past(identity)
    past = Past(stored, grain)
    for answer, run in zip(answers, stored.runs, strict=True):
        assert plain(past.read_history(identity, KEYS, *question)) == answer
        past.admit(run)


def test_the_window_of_newest_counting_runs(stores):
    """A row older than the newest 500 counting runs is in no baseline, but may be in the anchor."""
    store, identity = stores["run"], a_series()
    runs = [_simple(n) | {"specs": (((0,), True), ((0,), True) if n < 3 else None)} for n in range(502)]
    filled(store, identity, runs)
    past = Past.as_of(store.read_past(identity), 502)
    answer = past.read_history(identity, KEYS, 20, 20, 502)
    assert plain(answer) == plain(store.read_history(identity, KEYS, 20, 20, 502))
    assert (len(answer.of(KEYS[1]).baseline), len(answer.of(KEYS[1]).anchor)) == (2, 3)


def test_an_epoch_begins_for_the_runs_from_its_start_on(stores):
    """As of a run before it, an epoch that was started later does not exist."""
    store, identity = stores["run"], a_series()
    filled(store, identity, [_simple(hour) for hour in range(4)])
    start_epochs(store, identity, [(None, 2, False)])
    stored = store.read_past(identity)
    past = Past.as_of(stored, 3)
    counts = [
        len(past.read_history(identity, KEYS, 20, 20, None, at=run.place).of(KEYS[0]).baseline) for run in stored.runs
    ]
    assert counts == [3, 3, 1, 1]


def test_runs_come_in_order_and_of_one_series():
    """A run out of order is refused; another series has no history here."""
    runs = [PastRun(f"{n}", START, n, trusted=True, gate_trusted=True, has_error=False) for n in range(2)]
    past = Past(SeriesPast(a_series(), tuple(runs)))
    past.admit(runs[1])
    with pytest.raises(ValueError, match="run 0 is not later"):
        past.admit(runs[0])
    assert past.read_history(a_series(), KEYS, 20, 20, None).recent_runs == ()


def _simple(hour):
    facts = {"attempt": 1, "trusted": True, "has_error": False, "stale": False}
    return facts | {"hour": hour, "ci": hour + 1, "specs": (((0,), True), None)}

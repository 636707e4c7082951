"""A dry run tells what then happens."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from driftgate.config.load import load_config
from driftgate.harness.judgement import Judgeable, judge
from gate.effects import epoch_effects, mark_effects
from gate.identity import Coordinate, SeriesIdentity
from gate.past import PastEpoch
from gate.policy import GatePolicy
from gate.provenance import Provenance
from store.opening import open_store

IDENTITY = SeriesIdentity("default", "tests/test_a.py", "cpu", "stage-a-cpu")
START = datetime(2026, 1, 1, tzinfo=UTC)
POLICY = GatePolicy()


def marked(past, run_ids, *, trusted):
    """The past as a mark would leave it: a superseded run is never marked trusted."""

    def covered(run):
        return run.run_id in run_ids and not (trusted and run.superseded_by is not None)

    return replace(
        past, runs=tuple(replace(run, trusted=trusted, marked=trusted) if covered(run) else run for run in past.runs)
    )


def new_epoch(past, metric=None, from_run=None):
    """An epoch from a run on, or after the newest."""
    start = next((run for run in past.runs if run.run_id == from_run), past.runs[-1])
    created_at, seq = start.place
    return PastEpoch(1, "tried", metric, (created_at, seq + 1 if from_run is None else seq))


class Nights:
    """A store that the harness fills with one value a night."""

    def __init__(self, folder, specs):
        self.config = load_config(file=None, start=folder, env={}, options={})
        self.folder, self.specs = folder, specs
        self.store = open_store("sqlite://", one_shot=False)
        self.ids = []

    def judge(self, *values):
        for value in values:
            number = len(self.ids)
            records = self.folder / str(number)
            records.mkdir()
            (records / "1.jsonl").write_text(json.dumps({"metric": "m", "series": [[0, value], [1, 5.0]]}) + "\n")
            facts, created = Provenance(ci_run_id=number + 1), START + timedelta(days=number)
            attempt = Judgeable(IDENTITY, self.specs, records, facts, created, writes=True, may_enforce=False)
            verdict = judge(attempt, self.config, lambda: nullcontext(self.store)).verdict
            self.ids.append(verdict.written.run_id)
        return self

    @property
    def past(self):
        return self.store.read_past(IDENTITY)

    def mark_untrusted(self, number):
        self.store.mark_untrusted(project="default", run_id=self.ids[number], reason="bad", actor="on duty")

    def means(self):
        key = self.specs[0].key
        place = (key.metric_key, key.steps_key, key.constraint_key)
        found = self.store.recent_trusted_values(IDENTITY, [Coordinate(*place, step) for step in (0, 1)])
        return [np.mean(values) if values else None for values in found.values()]


@pytest.fixture
def nights(tmp_path, build):
    made = Nights(tmp_path, (build.spec("m", constraint={"abs_floor_up": 0.1, "abs_floor_down": 0.1}),))
    yield made
    made.store.close()


def untrusting(nights, *numbers):
    past = nights.past
    return mark_effects(past, marked(past, [nights.ids[number] for number in numbers], trusted=False), POLICY)


def test_a_poisoned_seed(nights):
    """The runs that the seed made red would be trusted; the means that move are exactly those, as the store then says."""
    nights.judge(2.0, 1.0, 1.0, 1.02)
    found = untrusting(nights, 0)
    assert [(flip.run_id, flip.stored, flip.rejudged) for flip in found.flips] == [
        (run_id, "not_trusted", "trusted") for run_id in nights.ids[1:]
    ]
    assert [(change.run_id, change.before, change.after) for change in found.trust] == [(nights.ids[0], True, False)]
    before = nights.means()
    nights.mark_untrusted(0)
    assert (before, nights.means()) == ([2.0, 5.0], [None, None])
    (moved,) = found.means
    assert (moved.reference, moved.steps.tolist(), moved.old.tolist()) == ("baseline", [0, 1], [2.0, 5.0])
    assert np.isnan(moved.new).all()


def test_only_means_that_move_are_told(nights):
    """Step 1 has the same value in every run, so its mean stays."""
    nights.judge(1.0, 1.0, 1.06)
    (moved,) = untrusting(nights, 2).means
    nights.mark_untrusted(2)
    assert moved.steps.tolist() == [0]
    assert [moved.new[0], 5.0] == nights.means()


def test_each_verdict_is_judged_once_and_flips_do_not_cascade(nights):
    """Without run 1 the mean of run 2's baseline is 1.0: red. Run 3 is still judged with run 2 as it is stored."""
    nights.judge(1.0, 1.09, 1.12, 1.15)
    found = untrusting(nights, 1)
    assert [flip.run_id for flip in found.flips] == nights.ids[2:3]
    assert found.flips[0].reasons == (
        "m: 1 of 2 outside the corridor",
        "m step 0: 1.12 is 1.2 bands above the mean 1 of 1 run (allowed 0.9 to 1.1)",
    )


def test_what_an_earlier_mark_would_flip_is_not_told_again(nights):
    """The verdict on run 3 is stale since earlier marks: judged with or without run 1 it comes out otherwise than stored."""
    nights.judge(2.0, 1.0, 2.0, 1.0)
    nights.mark_untrusted(0)
    nights.mark_untrusted(2)
    nights.store.mark_trusted(project="default", run_id=nights.ids[1], reason="good", actor="on duty")
    assert untrusting(nights, 1).flips == ()


def test_marking_trusted(nights):
    """The same the other way: a red run that an operator trusts moves the mean and may turn later runs red."""
    nights.judge(1.0, 1.3, 1.0)
    past = nights.past
    found = mark_effects(past, marked(past, [nights.ids[1]], trusted=True), POLICY)
    assert [(flip.run_id, flip.rejudged) for flip in found.flips] == [(nights.ids[2], "not_trusted")]
    assert found.means[0].new[0] == pytest.approx(1.1)


def test_a_superseded_run_stays_untrusted(nights):
    """As the store refuses it."""
    past = nights.judge(1.0, 1.0).past
    beaten = replace(past.runs[0], superseded_by=past.runs[1].run_id, trusted=False)
    past = replace(past, runs=(beaten, past.runs[1]))
    assert mark_effects(past, marked(past, [beaten.run_id], trusted=True), POLICY).trust == ()


def test_the_anchor_moves_too(nights):
    """With a full anchor, the run that takes the place of the marked one moves its mean."""
    nights.judge(1.0, *[1.05] * 24)
    found = untrusting(nights, 0)
    assert {moved.reference: moved.new[0] for moved in found.means} == {"anchor": pytest.approx(1.05)}


@pytest.mark.parametrize("metric", [None, "m"])
def test_an_epoch_judges_its_runs_again_in_order(nights, metric):
    """After an intended step: its first run seeds, and the ones after it are judged by that, as the store then does."""
    nights.judge(1.0, 1.0, 2.0, 2.05, 2.3)
    past = nights.past
    found = epoch_effects(past, new_epoch(past, metric, nights.ids[2]), POLICY)
    assert [(flip.run_id, flip.rejudged) for flip in found.flips] == [(run, "trusted") for run in nights.ids[2:4]]
    assert [(change.run_id, change.after) for change in found.trust] == [(run, True) for run in nights.ids[2:4]]
    assert found.means[0].new[0] == pytest.approx(2.025)
    nights.store.start_epoch(IDENTITY, metric=metric, from_run=nights.ids[2], reason="intended", actor="on duty")
    assert [run.trusted for run in nights.past.runs] == [True, True, True, True, False]
    assert nights.means()[0] == found.means[0].new[0]


def test_an_epoch_after_the_newest_run_empties_the_baseline(nights):
    """Nothing is judged again; every mean goes."""
    past = nights.judge(1.0, 1.0).past
    found = epoch_effects(past, new_epoch(past), POLICY)
    assert (found.flips, found.trust) == ((), ())
    assert np.isnan(found.means[0].new).all()


def test_an_operators_decision_outlives_the_epoch(nights):
    """A marked run of the epoch keeps its trust."""
    nights.judge(1.0, 2.0, 2.0)
    nights.mark_untrusted(1)
    past = nights.past
    found = epoch_effects(past, new_epoch(past, None, nights.ids[1]), POLICY)
    assert [change.run_id for change in found.trust] == [nights.ids[2]]


def test_a_verdict_that_cannot_be_read_is_passed_over(nights):
    """A run that was imported without a verdict has none to flip."""
    past = nights.judge(2.0, 1.0, 1.0).past
    runs = (past.runs[0], replace(past.runs[1], verdict={}), replace(past.runs[2], verdict={"schema": 1}))
    past = replace(past, runs=runs)
    assert mark_effects(past, marked(past, [past.runs[0].run_id], trusted=False), POLICY).flips == ()


def test_json(nights):
    """Plain values; a mean that is not there is null."""
    nights.judge(2.0, 1.0)
    found = json.loads(json.dumps(untrusting(nights, 0).to_json()))
    assert found["verdicts"][0]["rejudged"] == "trusted"
    assert found["means"][0] | {"constraint_key": ""} == {
        "metric_key": "m",
        "steps_key": '"all"',
        "constraint_key": "",
        "reference": "baseline",
        "steps": [0, 1],
        "old": [2.0, 5.0],
        "new": [None, None],
    }
    assert found["trust"][0]["after"] is False

"""Whatever happens in whatever order: the store holds what a plain model holds."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from gate.canonical import canonical_json
from gate.identity import Coordinate, SeriesIdentity, SpecKey
from gate.provenance import Provenance
from gate.record import MetricSeries, Record
from gate.spec import Constraint, GateSpec
from store.contract import MarkRequest, RunFilter
from store.errors import StoreConflict
from store.opening import open_store

START = datetime(2024, 1, 1, tzinfo=UTC)
WHO = {"reason": "said so", "actor": "on duty"}
COMMITS = ("a" * 40, "b" * 40)
HOURS, CI_RUNS, ATTEMPTS = st.integers(0, 12), st.integers(1, 6), st.integers(1, 3)
VALUES = st.sampled_from([1.0, 1.0, 1.0625, 2.0, 2.0625])
COMMIT = st.sampled_from(COMMITS)
PICK = st.integers(0, 99)


class History(RuleBasedStateMachine):
    """One series of a project of its own. Each rule does the same to the store and to the model."""

    store, judging, models = None, None, None

    def __init__(self) -> None:
        super().__init__()
        self.identity = SeriesIdentity(uuid.uuid4().hex, "tests/test_ppo.py", "cuda", "nightly")
        band = {"abs_floor_down": self.models.BAND, "abs_floor_up": self.models.BAND}
        self.spec = GateSpec(SpecKey("loss", '"all"', canonical_json(band)), "all", Constraint(**band), checks=())
        self.model = self.models.Model()
        self.pending = []
        self.verdicts = {}
        self.log = []

    @initialize(steps=st.lists(VALUES, min_size=4, max_size=8))
    def begin(self, steps):
        """A few nights."""
        for number, value in enumerate(steps, 1):
            self._write(*self._judged(2 * number, number, 1, COMMITS[number % 2], value))

    def _pick(self, pick):
        """Any run, but as often as not one that an epoch in force has changed."""
        changed = [run for epoch in self.model.epochs if not epoch.undone for run in epoch.before]
        among = changed if changed and pick % 2 else self.model.runs
        return among[pick // 2 % len(among)]

    def _judged(self, hour, ci, attempt, commit, value):
        """A run judged now, and what the model says of it; None where this attempt is stored or under way."""
        taken = [(run.ci, run.attempt) for run in self.model.runs] + [one[1][:2] for one in self.pending]
        if (ci, attempt) in taken:
            return None
        record = Record({"loss": MetricSeries((0,), (value,))})
        facts = Provenance(tested_sha=commit, ci_run_id=ci, ci_run_attempt=attempt, test_attempt=1)
        at = START + timedelta(hours=hour)
        new = self.judging.judge(self.store, self.identity, [self.spec], record, facts, at)
        gate = self.model.judge(ci, value)
        assert new.trusted == gate
        return new, (ci, attempt, commit, value, hour, gate, self.model.in_force)

    def _write(self, new, facts):
        ci, attempt, commit, value, hour, gate, under = facts
        stored = self.store.write_run(new)
        stale = under is not self.model.in_force
        place = (hour, len(self.model.runs))
        run = self.models.Run(stored.run_id, place, ci, attempt, commit, value, gate, stale)
        self.model.write(run)
        self.verdicts[stored.run_id] = stored.verdict
        assert (stored.trusted, stored.marked) == (run.trusted, run.marked)

    @rule(hour=HOURS, ci=CI_RUNS, attempt=ATTEMPTS, commit=COMMIT, value=VALUES)
    def write(self, hour, ci, attempt, commit, value):
        """New, rerun, late attempt, late by its time."""
        judged = self._judged(hour, ci, attempt, commit, value)
        if judged is not None:
            self._write(*judged)

    @rule(hour=HOURS, ci=CI_RUNS, attempt=ATTEMPTS, commit=COMMIT, value=VALUES)
    def judge(self, hour, ci, attempt, commit, value):
        """Another writer has read; what it writes comes later."""
        judged = self._judged(hour, ci, attempt, commit, value)
        if judged is not None:
            self.pending.append(judged)

    @rule(hour=HOURS, ci=CI_RUNS, attempt=ATTEMPTS, value=VALUES)
    def overtaken(self, hour, ci, attempt, value):
        """An epoch starts between another writer's read and its write."""
        judged = self._judged(hour, ci, attempt, COMMITS[0], value)
        if judged is not None:
            self._start(self.model.in_order[-1], backdated=False)
            self._write(*judged)

    @precondition(lambda self: self.pending)
    @rule(pick=PICK)
    def write_pending(self, pick):
        self._write(*self.pending.pop(pick % len(self.pending)))

    @rule(pick=PICK)
    def repeat(self, pick):
        """The same content under the same key is a repeat, whatever became of the run."""
        run = self.model.runs[pick % len(self.model.runs)]
        record = Record({"loss": MetricSeries((0,), (run.value,))})
        facts = Provenance(tested_sha=run.commit, ci_run_id=run.ci, ci_run_attempt=run.attempt, test_attempt=1)
        new = self.judging.judge(self.store, self.identity, [self.spec], record, facts, START)
        again = self.store.write_run(new)
        assert (again.run_id, again.repeat) == (run.run_id, True)

    def _mark(self, *, trusted, **selector):
        request = MarkRequest(self.identity.project, trusted, **WHO, **selector)
        told = self.store.mark(MarkRequest(self.identity.project, trusted, **WHO, **selector, dry_run=True))
        return told.runs, self.store.mark(request).runs

    def _changing(self, change) -> tuple[str, ...]:
        """The runs whose trust a change of the model flips."""
        before = {run: run.trusted for run in self.model.runs}
        change()
        return tuple(run.run_id for run in self.model.runs if run.trusted != before[run])

    @rule(pick=PICK, trusted=st.booleans())
    def mark_run(self, pick, trusted):
        run = self._pick(pick)
        if trusted and run.superseded_by is not None:
            with pytest.raises(StoreConflict):
                self._mark(trusted=trusted, run_id=run.run_id)
            return
        told, done = self._mark(trusted=trusted, run_id=run.run_id)
        assert told == done == self._changing(lambda: self.model.mark_run(run, trusted=trusted))

    @rule(pick=PICK, by_ci=st.booleans())
    def set_rule(self, pick, by_ci):
        run = self._pick(pick)
        self._mark_many({"ci_run_id": run.ci} if by_ci else {"commit_sha": run.commit}, trusted=False)

    @precondition(lambda self: self.model.rules)
    @rule(pick=PICK)
    def lift_rule(self, pick):
        rules = sorted(self.model.rules)
        name, _, value = rules[pick % len(rules)].partition("=")
        self._mark_many({name: int(value) if name == "ci_run_id" else value}, trusted=True)

    @rule(ci=CI_RUNS)
    def lift_no_rule(self, ci):
        """What stands under no rule is left alone."""
        if f"ci_run_id={ci}" not in self.model.rules:
            self._mark_many({"ci_run_id": ci}, trusted=True)

    def _mark_many(self, selector, *, trusted):
        ((name, value),) = selector.items()
        told, done = self._mark(trusted=trusted, **selector)
        change = self.model.lift_rule if trusted else self.model.set_rule
        assert told == done == self._changing(lambda: change(f"{name}={value}"))

    @rule(pick=PICK, backdated=st.booleans(), metric=st.sampled_from([None, "loss"]))
    def start_epoch(self, pick, backdated, metric):
        self._start(self._pick(pick) if backdated else self.model.in_order[-1], backdated=backdated, metric=metric)

    def _start(self, run, *, backdated, metric=None):
        how = {"metric": metric, "from_run": run.run_id if backdated else None, **WHO}
        told = self.store.start_epoch(self.identity, **how, dry_run=True)
        done = self.store.start_epoch(self.identity, **how)
        hour, arrival = run.place
        epoch = self.models.Epoch(done.epoch_id, (hour, arrival if backdated else arrival + 0.5))
        again = self.model.in_force
        if again is not None and again.epoch_id == done.epoch_id:
            assert (told.runs, done.runs, again.start) == ((), (), epoch.start)
            return
        assert told.runs == done.runs == self._changing(lambda: self.model.start(epoch, backdated=backdated))

    @precondition(lambda self: self.model.in_force is not None)
    @rule()
    def undo_the_latest(self):
        epoch = self.model.in_force
        told, done = self._undo(epoch, dry_run=True), self._undo(epoch)
        assert told.runs == done.runs == self._changing(lambda: self.model.undo(epoch))

    @precondition(lambda self: self.model.epochs)
    @rule(pick=PICK)
    def undo_any(self, pick):
        """Refused where it was undone, or a later epoch has judged the same runs again."""
        blocked = [epoch for epoch in self.model.epochs if epoch.undone or self.model.blocks(epoch) is not None]
        among = blocked if blocked and pick % 2 else self.model.epochs
        epoch = among[pick // 2 % len(among)]
        if epoch in blocked:
            with pytest.raises(StoreConflict):
                self._undo(epoch)
        else:
            assert self._undo(epoch).runs == self._changing(lambda: self.model.undo(epoch))

    def _undo(self, epoch, **how):
        return self.store.undo_epoch(project=self.identity.project, epoch_id=epoch.epoch_id, **WHO, **how)

    @invariant()
    def every_run_is_as_the_model_has_it(self):
        stored = {run.run_id: run for run in self.store.list_runs(self.identity.project, RunFilter(limit=1000))}
        assert list(stored) == [run.run_id for run in reversed(self.model.in_order)]
        for run in self.model.runs:
            found = stored[run.run_id]
            beaten = None if run.superseded_by is None else run.superseded_by.run_id
            assert (found.trusted, found.marked, found.superseded_by) == (run.trusted, run.marked, beaten)
            assert found.verdict == self.verdicts[run.run_id]

    @invariant()
    def baseline_and_anchor_are_what_counts_in_the_epoch(self):
        key, counting = self.spec.key, self.model.counting()
        found = self.store.read_history(self.identity, [key], 4, 3, None).of(key)
        assert [row.run.run_id for row in found.anchor] == [run.run_id for run in counting[:3]]
        epoch = self.model.in_force
        assert found.epoch_id == (None if epoch is None else epoch.epoch_id)
        at = Coordinate(key.metric_key, key.steps_key, key.constraint_key, 0)
        newest = self.store.recent_trusted_values(self.identity, [at], 4)[at]
        assert newest == [run.value for run in reversed(counting)][:4]

    @invariant()
    def the_log_only_grows(self):
        events = self.store.trust_events(self.identity.project, limit=10_000)[::-1]
        assert events[: len(self.log)] == self.log
        self.log = events


def _run(store, judging, models, examples: int, steps: int) -> None:
    machine = type("Bound", (History,), {"store": store, "judging": judging, "models": models})
    bounds = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )
    run_state_machine_as_test(machine, settings=bounds)


def test_on_sqlite(judging, history_model):
    """Writes, reruns, late attempts, marks, rules, epochs, undoes and a second writer, in memory."""
    with open_store("sqlite://", one_shot=False) as store:
        _run(store, judging, history_model, examples=80, steps=30)


def test_on_postgres(postgres_url, judging, history_model):
    """The same, shorter."""
    with open_store(postgres_url, one_shot=False) as store:
        _run(store, judging, history_model, examples=4, steps=25)

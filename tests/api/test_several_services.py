"""Two real services over one Postgres: whatever arrives at both at once, and should one be killed, every rule holds."""

import itertools
import random
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta

import pytest

from gate.identity import Coordinate
from store.contract import RunFilter
from store.errors import StoreConflict, StoreUnavailable
from store.http_service import HttpService
from store.http_store import HttpMetricHistoryStore
from store.opening import open_database

SUITES = ("s0", "s1", "s2")
CI_RUNS, ATTEMPTS = range(1, 7), (1, 2)
EVERYTHING = RunFilter(limit=1000)
BY = {"project": "default", "reason": "r", "actor": "ana"}


class Team:
    """Clients of both services. Who finds one dead goes to the other with the same request."""

    def __init__(self, services, kept):
        self._stores = {scope: [self._store(kept, one, scope) for one in services] for scope in ("write", "operate")}
        self._turns = itertools.count()
        self.dead = set()

    def _store(self, kept, service, scope):
        secret = service.token(scope)
        http = HttpService(service.url, lambda: secret, sleep=lambda _: None)
        return kept.enter_context(HttpMetricHistoryStore(service.url, service=http))

    def call(self, scope, work):
        """``work`` on a store of either service."""
        number = next(self._turns) % 2
        if number not in self.dead:
            try:
                return work(self._stores[scope][number])
            except StoreUnavailable:
                assert number in self.dead
        return work(self._stores[scope][1 - number])

    def each(self, scope):
        return [store for number, store in enumerate(self._stores[scope]) if number not in self.dead]


@pytest.fixture
def services(serve, postgres_url):
    return [serve(db=postgres_url), serve(db=postgres_url)]


@pytest.fixture
def team(services):
    with ExitStack() as kept:
        yield Team(services, kept)


def writing(team, judging, suite, ci_run_id, attempt):
    """A run as a job writes it: judged by what its service tells, then stored."""

    def write(store):
        facts = {"ci_run_attempt": attempt, "tested_sha": f"{ci_run_id:040x}"}
        run = judging.judged(store, ci_run_id, 1.0 + ci_run_id / 100 + attempt / 1000, suite=suite, **facts)
        return store.write_run(replace(run, created_at=run.created_at + timedelta(hours=attempt)))

    written = team.call("write", write)
    return (suite, ci_run_id, attempt), written.run_id


def marking(team, selector, *, trusted):
    """How many runs changed, by action and selector."""
    name = "mark_trusted" if trusted else "mark_untrusted"
    changed = team.call("operate", lambda store: getattr(store, name)(**BY, **selector))
    ((kind, value),) = selector.items()
    return (name, f"{kind}={value}"), changed


def starting(team, identity, *, from_newest):
    """An epoch on the run that is the newest now, or after it; sometimes undone."""

    def start(store):
        newest = store.list_runs("default", RunFilter(suite=identity.suite, limit=1))
        if not newest:
            return None
        chosen = newest[0].run_id if from_newest else None
        return store.start_epoch(identity, from_run=chosen, reason="r", actor="ana").epoch_id

    return team.call("operate", start)


def undoing(team, epoch_id):
    """Refused where a later epoch has judged its runs again."""

    def undo(store):
        try:
            store.undo_epoch(**BY, epoch_id=epoch_id)
        except StoreConflict:
            return None
        return epoch_id

    return None if epoch_id is None else team.call("operate", undo)


def turning(team, *, on):
    return team.call("operate", lambda store: store.set_enforcement(**BY, on=on).changed)


def reading(team, done):
    """Whoever reads meanwhile sees a state in which every rule holds, too."""
    while not done.is_set():
        runs = team.call("operate", lambda store: store.list_runs("default", EVERYTHING))
        counting = Counter((run.identity.suite, run.provenance.ci_run_id) for run in runs if run.superseded_by is None)
        assert set(counting.values()) <= {1}
        assert team.call("operate", lambda store: store.list_series("default")) is not None


def arrivals(ci_run_id):
    """Every run of a CI run twice: all of them are on their way together."""
    jobs = [(suite, ci_run_id, attempt) for suite in SUITES for attempt in ATTEMPTS] * 2
    random.Random(ci_run_id).shuffle(jobs)  # noqa: S311 - an order, no secret
    return jobs


def selector_of(ci_run_id):
    return {"commit_sha": f"{ci_run_id:040x}"} if ci_run_id % 3 == 2 else {"ci_run_id": ci_run_id}


def everything_at_once(team, judging, kill):
    """Runs, a mark amid those that it covers, marks lifted, epochs, the switch and readers. Gives what was answered."""
    done, written, marked, turned, started = threading.Event(), [], [], [], []
    with ThreadPoolExecutor(8) as pool, ThreadPoolExecutor(1) as readers, ExitStack() as at_end:
        at_end.callback(done.set)
        looking = readers.submit(reading, team, done)
        for ci in CI_RUNS:
            for number, job in enumerate(arrivals(ci)):
                written.append(pool.submit(writing, team, judging, *job))
                if number == 4:
                    marked.append(pool.submit(marking, team, selector_of(ci), trusted=False))
                if number % 6 == 5:
                    turned.append(pool.submit(turning, team, on=number == 11))
            identity = replace(judging.IDENTITY, suite=SUITES[ci % len(SUITES)])
            started.append(pool.submit(starting, team, identity, from_newest=ci % 2 == 0))
            if ci % 2:
                marked.append(pool.submit(marking, team, selector_of(ci), trusted=True))
            if ci == CI_RUNS[2]:
                written[-6].result()
                kill()
        epochs = [one.result() for one in started]
        undone = [undoing(team, epoch_id) for epoch_id in epochs[::2]]
        answers = [[one.result() for one in futures] for futures in (written, marked, turned)]
        done.set()
        looking.result()
    return [*answers, epochs, undone]


def check_runs(runs, written):
    """Each is stored once, everybody got the same id, and of each CI run the last attempt counts."""
    stored = {(one.identity.suite, one.provenance.ci_run_id, one.provenance.ci_run_attempt): one for one in runs}
    assert len(stored) == len(runs) == len(SUITES) * len(CI_RUNS) * len(ATTEMPTS)
    assert {(job, run_id) for job, run_id in written} == {(job, one.run_id) for job, one in stored.items()}
    for (suite, ci, attempt), one in stored.items():
        last = stored[suite, ci, max(ATTEMPTS)].run_id
        assert one.superseded_by == (None if attempt == max(ATTEMPTS) else last)


def check_marks(runs, log):
    """Whatever a standing mark covers is untrusted, whenever it came."""
    rules = {}
    for event in log:
        if event.run_id is None and event.action.startswith("mark_"):
            rules[event.selector] = event.action == "mark_untrusted"
    assert any(rules.values())
    for one in runs:
        covering = {f"ci_run_id={one.provenance.ci_run_id}", f"commit_sha={one.provenance.commit_sha}"}
        if any(rules.get(selector) for selector in covering):
            assert not one.trusted


def check_log(runs, log, marked, turned, *, whole):
    """Each run's lines are a chain that ends in what it is, and every answer has its lines. ``whole``: and, but for
    the runs that came later under a standing mark, no line more.
    """
    for one in runs:
        states = [(event.trusted_before, event.trusted_after) for event in log if event.run_id == one.run_id]
        assert all(earlier[1] == later[0] for earlier, later in itertools.pairwise(states))
        assert not states or states[-1][1] == one.trusted
    turns = [event.action for event in log if event.action.startswith("enforcement_")]
    assert turns == [("enforcement_off", "enforcement_on")[number % 2] for number in range(len(turns))]
    assert len(turns) == sum(turned) if whole else len(turns) >= sum(turned)
    flips = Counter((event.action, event.selector) for event in log if event.run_id is not None and event.changed)
    answered = Counter()
    for key, changed in marked:
        answered[key] += changed
    assert answered <= flips
    assert not whole or all(flips[key] == answered[key] for key in answered if key[0] == "mark_trusted")


def check_baselines(store, team, runs, judging):
    """What counts, in the epoch in force, newest first, from each service."""
    for suite in SUITES:
        identity = replace(judging.IDENTITY, suite=suite)
        begins = [one for one in store.list_epochs("default", identity) if one.in_force]
        assert len(begins) <= 1
        of_suite = {one.run_id: one for one in runs if one.identity == identity}
        counting = [one for one in of_suite.values() if one.trusted and one.superseded_by is None]
        if begins:
            first = of_suite.get(begins[0].first_run_id)
            counting = [] if first is None else [one for one in counting if one.created_at >= first.created_at]
        counting.sort(key=lambda one: one.created_at, reverse=True)
        expected = [store.get_run("default", one.run_id).series[0].values[0] for one in counting]
        spec = judging.spec().key
        step = Coordinate(spec.metric_key, spec.steps_key, spec.constraint_key, 0)
        for service in (store, *team.each("write")):
            assert service.recent_trusted_values(identity, [step], limit=500)[step] == expected


@pytest.mark.parametrize("killed", [False, True])
def test_every_rule_holds(services, team, judging, postgres_url, killed):
    """Writes, reruns, repeats, marks, epochs, the switch and reads at both; killed: one dies amid them."""

    def kill():
        if killed:
            team.dead.add(0)
            services[0].stop(signal.SIGKILL)

    written, marked, turned, epochs, undone = everything_at_once(team, judging, kill)
    with open_database(postgres_url) as store:
        runs = store.list_runs("default", EVERYTHING)
        log = store.trust_events("default", limit=100_000)[::-1]
        check_runs(runs, written)
        check_marks(runs, log)
        check_log(runs, log, marked, turned, whole=not killed)
        check_baselines(store, team, runs, judging)
        listed = {one.epoch_id: one for one in store.list_epochs("default")}
        assert {one for one in epochs if one} <= listed.keys()
        assert all(listed[one].undone_at is not None for one in undone if one)
        logged = Counter(event.action for event in log if event.run_id is None)
        assert logged["start_epoch"] == len(listed)
        assert logged["undo_epoch"] == sum(one.undone_at is not None for one in listed.values())
    for service in services[killed:]:
        assert [line for line in service.log() if "traceback" in line] == []
        assert service.stop() == 0

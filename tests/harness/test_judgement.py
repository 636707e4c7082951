"""One gate call on a real store: verdict, exit and what is written, in every mode."""

import json
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import numpy as np
import pytest

from driftgate.config.load import load_config
from driftgate.harness import judgement as judgement_module
from driftgate.harness.history_access import configured_history
from driftgate.harness.judgement import Judgeable, judge, logged_seed
from driftgate.harness.merge import MERGED_NAME
from driftgate.harness.new_run import new_run, series_values
from driftgate.harness.outcome import JobExit
from driftgate.harness.records import KEY_FILE
from gate.history import History, SpecHistory
from gate.identity import SeriesIdentity, SpecKey
from gate.provenance import Provenance
from gate.record import MetricSeries, Record
from gate.spec import Constraint, GateSpec
from gate.verdict_json import to_json
from store.contract import RunFilter
from store.errors import StoreUnavailable

IDENTITY = SeriesIdentity("default", "test_ppo.py", "cpu", "stage-a-cpu")
BAND = {"rel_up": 0.5, "rel_down": 0.5}


def spec(metric="m", steps="all", *, enforce=False):
    key = SpecKey(metric, json.dumps(steps), json.dumps(BAND, separators=(",", ":")))
    return GateSpec(key, steps, Constraint(rel_up=0.5, rel_down=0.5), enforce=enforce)


SPECS = (spec(),)
NOWHERE = Provenance()


@pytest.fixture
def config(tmp_path):
    def make(url="sqlite:///history.db", on_outage="fail"):
        text = f'[store]\nurl = "{url}"\n[enforcement]\non_outage = "{on_outage}"\n'
        (tmp_path / "driftgate.toml").write_text(text)
        return load_config(file=None, start=tmp_path, env={}, options={})

    return make


@pytest.fixture
def attempt(tmp_path):
    """An attempt whose record holds these values of metric m, in a folder of its own."""
    made = []

    def make(*values, specs=SPECS, provenance=NOWHERE, writes=True, may_enforce=False):
        folder = tmp_path / f"attempt-{len(made)}"
        folder.mkdir()
        made.append(folder)
        series = [[step, value] for step, value in enumerate(values)]
        if values:
            (folder / "1.jsonl").write_text(json.dumps({"metric": "m", "series": series}) + "\n")
        return Judgeable(IDENTITY, specs, folder, provenance, datetime.now(UTC), writes, may_enforce)

    return make


def judged(attempt, config):
    return judge(attempt, config, partial(configured_history, config))


def stored(config):
    with configured_history(config) as store:
        return store.list_runs("default", RunFilter())


def test_a_cold_start_is_trusted_and_written(attempt, config):
    """The first run seeds the baseline: trusted, stored, and its merged record kept beside its files."""
    first = attempt(1.0, 2.0)
    found = judged(first, config())
    (run,) = stored(config())
    assert (found.verdict.outcome, found.exit) == ("trusted", JobExit.FINE)
    assert (run.run_id, run.trusted) == (found.verdict.written.run_id, True)
    assert (first.records / MERGED_NAME).is_file()


def test_a_failing_run_is_written_untrusted(attempt, config):
    """Outside the corridor in shadow: the job stays green, the run is stored and enters no baseline."""
    judged(attempt(1.0), config())
    found = judged(attempt(2.0), config())
    assert (found.verdict.outcome, found.verdict.mode, found.exit) == ("not_trusted", "shadow", JobExit.FINE)
    assert found.verdict.written.trusted is False
    assert [run.trusted for run in stored(config())] == [False, True]
    assert judged(attempt(1.2), config()).verdict.outcome == "trusted"


def test_a_run_that_does_not_write_is_judged_all_the_same(attempt, config):
    """A shadow run sees the baseline and leaves nothing behind."""
    judged(attempt(1.0), config())
    found = judged(attempt(2.0, writes=False), config())
    assert (found.verdict.outcome, found.verdict.written) == ("not_trusted", None)
    assert len(stored(config())) == 1


@pytest.mark.parametrize(
    ("enforce", "may_enforce", "mode", "code"),
    [(True, True, "enforced", 3), (True, False, "shadow", 0), (False, True, "shadow", 0)],
)
def test_enforcement_needs_both(attempt, config, enforce, may_enforce, mode, code):
    """Exit 3 iff the declaration asks for it and the configuration allows it; the run is written either way."""
    specs = (spec(enforce=enforce),)
    judged(attempt(1.0, specs=specs), config())
    found = judged(attempt(2.0, specs=specs, may_enforce=may_enforce), config())
    assert (found.verdict.mode, found.exit) == (mode, code)
    assert found.verdict.written.trusted is False


def test_another_declaration_fails_no_job(attempt, config):
    """With m enforced and in order, a missing metric that is not enforced is shown and costs nothing."""
    specs = (spec(enforce=True), spec("gone"))
    found = judged(attempt(1.0, specs=specs, may_enforce=True), config())
    assert (found.verdict.outcome, found.verdict.mode, found.exit) == ("not_trusted", "enforced", JobExit.FINE)


def test_no_declaration(attempt, config):
    """Nothing to judge, nothing written, no store needed: NOT JUDGED (no declaration), whatever the mode."""
    found = judged(attempt(1.0, specs=(), may_enforce=True), config("sqlite:////proc/no/where.db"))
    assert (found.verdict.outcome, found.verdict.reason, found.exit) == ("not_judged", "no declaration", JobExit.FINE)


@pytest.mark.parametrize(("enforce", "code"), [(False, 0), (True, 3)])
def test_an_empty_record_is_an_error(attempt, config, enforce, code):
    """A folder without a record means that every declared metric is missing: NOT TRUSTED, never NOT JUDGED."""
    found = judged(attempt(specs=(spec(enforce=enforce),), may_enforce=True), config())
    assert (found.verdict.outcome, found.exit) == ("not_trusted", code)
    (run,) = stored(config())
    assert (run.trusted, run.has_error) == (False, True)


@pytest.mark.parametrize(
    ("outage", "enforce", "on_outage", "expected"),
    [
        ("store", False, "fail", ("shadow", 0)),
        ("store", True, "fail", ("enforced", 4)),
        ("store", True, "shadow", ("shadow", 0)),
        ("records", False, "fail", ("shadow", 0)),
        ("records", True, "fail", ("enforced", 4)),
        ("records", True, "shadow", ("enforced", 4)),
    ],
)
def test_an_outage(attempt, config, outage, enforce, on_outage, expected):
    """No store or no record: NOT JUDGED with the reason; exit 4 where enforced. Only the store's outage is forgiven."""
    found_attempt = attempt(1.0, specs=(spec(enforce=enforce),), may_enforce=True)
    if outage == "records":
        found_attempt = replace(found_attempt, records=found_attempt.records / "gone")
    settings = config("sqlite:////proc/no/where.db" if outage == "store" else "sqlite:///history.db", on_outage)
    found = judged(found_attempt, settings)
    assert found.verdict.outcome == "not_judged"
    assert (found.verdict.mode, found.exit) == expected
    assert ("/proc/no" if outage == "store" else "gone") in found.verdict.reason
    assert "\n" not in found.verdict.reason


@pytest.mark.parametrize(("enforce", "code"), [(False, 0), (True, 4)])
def test_an_outage_between_read_and_write(attempt, config, enforce, code):
    """The verdict stands, that it was not stored is said, and an enforced job tells it by its exit."""
    settings = config()

    @contextmanager
    def half_gone():
        def refuse(_run):
            raise StoreUnavailable("the server went away")

        with configured_history(settings) as store:
            store.write_run = refuse
            yield store

    found = judge(attempt(1.0, specs=(spec(enforce=enforce),), may_enforce=True), settings, half_gone)
    assert (found.verdict.outcome, found.verdict.written, found.exit) == ("trusted", None, code)
    assert [notice.text for notice in found.verdict.warnings if notice.kind == "not_written"] == [
        "the run was not stored: the server went away"
    ]


def test_a_crash_of_the_gate_fails_no_test(attempt, config, monkeypatch):
    """A bug of ours is shown as NOT JUDGED and changes no result in shadow."""

    def crash(*_args, **_named):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(judgement_module, "evaluate", crash)
    found = judged(attempt(1.0), config())
    assert (found.verdict.outcome, found.exit) == ("not_judged", JobExit.FINE)
    assert found.verdict.reason.startswith("error of the gate: ZeroDivisionError: oops (test_judgement.py:")


def test_bad_values_are_told_of_and_the_rest_is_stored(attempt, config):
    """NaN at one step: that coordinate is an error, the others are stored, untrusted."""
    found = judged(attempt(1.0, "NaN", 3.0), config())
    assert found.verdict.outcome == "not_trusted"
    with configured_history(config()) as store:
        (series,) = store.get_run("default", found.verdict.written.run_id).series
    assert (series.steps, series.values, series.trusted, series.points) == ((0, 2), (1.0, 3.0), False, 3)


def test_judging_an_attempt_again_writes_once(attempt, config):
    """Without a CI run id the folder's own key makes a second call a repeat."""
    once = attempt(1.0)
    first, second = judged(once, config()), judged(once, config())
    assert (first.verdict.written.repeat, second.verdict.written.repeat) == (False, True)
    assert first.verdict.written.run_id == second.verdict.written.run_id
    assert len(stored(config())) == 1


def test_a_repeat_shows_the_verdict_of_the_first_time(attempt, config):
    """The run's own stored values do not enter the baseline that its repeat is shown against."""
    judged(attempt(1.0), config())
    once = attempt(1.3)
    first, second = (judged(once, config()).verdict for _ in range(2))
    documents = [to_json(verdict) for verdict in (first, second)]
    assert [document.pop("written")["repeat"] for document in documents] == [False, True]
    assert documents[0] == documents[1]
    assert documents[1]["coordinates"][0]["checks"]["corridor"]["n"] == 1


def test_a_standing_mark_is_told(attempt, config):
    """A run that the gate trusts and the store does not: the verdict stands, and why it was stored untrusted is said."""
    with configured_history(config()) as store:
        store.mark_untrusted(project="default", ci_run_id=7, reason="bad machine", actor="me")
    found = judged(attempt(1.0, provenance=Provenance(ci_run_id=7)), config()).verdict
    assert (found.outcome, found.written.trusted) == ("trusted", False)
    assert "bad machine" in found.written.reason


def test_a_ci_run_is_its_own_key(attempt, config):
    """With a CI run id no key is put into the folder, and a higher attempt supersedes the lower one."""
    lower = attempt(1.0, provenance=Provenance(ci_run_id=7, ci_run_attempt=1, test_attempt=1))
    judged(lower, config())
    judged(attempt(1.1, provenance=Provenance(ci_run_id=7, ci_run_attempt=2, test_attempt=1)), config())
    assert not (lower.records / KEY_FILE).exists()
    assert [run.superseded_by is None for run in stored(config())] == [True, False]


def test_a_failing_run_says_what_changed(attempt, config):
    """The report on a failing run compares it with the last trusted one; a trusted run needs no such line."""
    old, new = (Provenance(tested_sha="a" * 40, image_digest=image) for image in ("sha256:1", "sha256:2"))
    first = judged(attempt(1.0, provenance=old), config()).verdict
    judged(attempt(9.0, provenance=new), config())
    found = judged(attempt(9.0, provenance=new), config()).verdict
    assert first.warnings == ()
    (notice,) = found.warnings
    assert notice.text == (
        f"against the last trusted run {first.written.run_id}: changed: image (sha256:1 -> sha256:2); the same: code"
    )


def test_one_read(attempt, config):
    """The history is read once, also in a writing run."""
    settings, reads = config(), []

    @contextmanager
    def counted():
        with configured_history(settings) as store:
            read = store.read_history
            store.read_history = lambda *args: reads.append(args) or read(*args)
            yield store

    judge(attempt(1.0, specs=(spec(), spec(steps="last"))), settings, counted)
    assert len(reads) == 1


def test_a_record_that_cannot_be_kept_is_judged(attempt, config, monkeypatch):
    """A read-only folder costs the merged copy, not the verdict."""

    def refuse(_record, _folder):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(judgement_module, "write_merged", refuse)
    found = judged(attempt(1.0, writes=False), config())
    assert found.verdict.outcome == "trusted"
    assert "could not be kept" in found.verdict.warnings[0].text


def test_what_the_store_gets(attempt, config):
    """The epoch of each metric as it was read, and where a single value came from."""
    found = judged(attempt(1.0, 2.0, specs=(spec(), spec(steps="last")), writes=False), config()).verdict
    history = History({declared.spec.key: SpecHistory(epoch_id="e1") for declared in found.specs})
    run = new_run(found, history, datetime.now(UTC), "key")
    assert run.epochs == {"m": "e1"}
    assert [(part.steps, part.values, part.at_step) for part in run.series] == [
        ((0, 1), (1.0, 2.0), None),
        ((-1,), (2.0,), 1),
    ]
    assert (run.trusted, run.has_error, run.idempotency_key) == (True, False, "key")
    json.dumps(run.verdict)


def test_a_value_without_a_step_came_from_nowhere(attempt, config):
    """The last of points without steps has no step to tell."""
    (last,) = judged(attempt(1.0, specs=(spec(steps="last"),), writes=False), config()).verdict.specs
    assert series_values(replace(last, at_steps=np.array([-1]))).at_step is None


@pytest.mark.parametrize(
    ("values", "seed"), [((3.0, 7.0), 7), ((0.5,), None), ((float("nan"),), None), ((1e30,), None), ((), None)]
)
def test_a_logged_seed(values, seed):
    """The last whole number logged as ``seed``; anything else is no seed."""
    record = Record({"seed": MetricSeries((None,) * len(values), values)})
    assert logged_seed(record) == seed
    assert logged_seed(Record()) is None

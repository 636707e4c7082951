"""The store's kill switch: what it spares, and what it costs."""

import json
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from driftgate.config.load import load_config
from driftgate.harness.history_access import configured_history
from driftgate.harness.hook import GateRequest, judge_attempt
from driftgate.harness.judgement import Judgeable, judge
from driftgate.harness.kill_switch import KillSwitch
from gate.identity import SeriesIdentity, SpecKey
from gate.outline import facts
from gate.provenance import Provenance
from gate.spec import Constraint, GateSpec
from store.contract import RunFilter
from store.errors import StoreUnavailable

IDENTITY = SeriesIdentity("default", "test_ppo.py", "cpu", "stage-a-cpu")
OFF = {"project": "default", "on": False, "reason": "image\nbroke", "actor": "on duty"}


def spec(*, enforce):
    band = {"rel_up": 0.5, "rel_down": 0.5}
    return GateSpec(SpecKey("m", '"all"', json.dumps(band)), "all", Constraint(**band), enforce=enforce)


class Counted:
    """Opens the store; counts how often the switch is read."""

    def __init__(self, config):
        self.config = config
        self.reads = 0
        self.unreachable = False

    @contextmanager
    def __call__(self):
        if self.unreachable:
            raise StoreUnavailable("gone")
        with configured_history(self.config) as store:
            read = store.get_enforcement

            def counted(project):
                self.reads += 1
                return read(project)

            store.get_enforcement = counted
            yield store


@pytest.fixture
def config(tmp_path):
    text = '[store]\nurl = "sqlite:///history.db"\n[enforcement]\nallow = ["*"]\n'
    (tmp_path / "driftgate.toml").write_text(text)
    return load_config(file=None, start=tmp_path, env={}, options={})


@pytest.fixture
def opened(config):
    return Counted(config)


@pytest.fixture
def gate(tmp_path, config, opened):
    """Judges an attempt of one value; None: without a record."""
    made = []

    def call(value, *, enforce=True, may_enforce=True):
        folder = tmp_path / f"attempt-{len(made)}"
        made.append(folder)
        if value is not None:
            folder.mkdir()
            (folder / "1.jsonl").write_text(json.dumps({"metric": "m", "series": [[0, value]]}) + "\n")
        specs = (spec(enforce=enforce),)
        attempt = Judgeable(
            IDENTITY, specs, folder, Provenance(), datetime.now(UTC), writes=True, may_enforce=may_enforce
        )
        return judge(attempt, config, opened)

    return call


def throw(config):
    with configured_history(config) as store:
        store.set_enforcement(**OFF)


@pytest.mark.parametrize(
    ("value", "enforce", "may_enforce", "thrown", "code", "mode", "reads"),
    [
        (9.0, True, True, False, 3, "enforced", 1),
        (9.0, True, True, True, 0, "shadow", 1),
        (9.0, False, True, True, 0, "shadow", 0),
        (9.0, True, False, True, 0, "shadow", 0),
        (1.0, True, True, False, 0, "enforced", 0),
        (1.0, True, True, True, 0, "enforced", 0),
        (None, True, True, False, 4, "enforced", 1),
        (None, True, True, True, 0, "shadow", 1),
        (None, False, True, True, 0, "shadow", 0),
    ],
)
def test_what_it_spares_and_costs(*, gate, config, opened, value, enforce, may_enforce, thrown, code, mode, reads):
    """A job fails by nothing of the gate while it is thrown; only one that would fail asks, and asks once."""
    gate(1.0)
    if thrown:
        throw(config)
    opened.reads = 0
    found = gate(value, enforce=enforce, may_enforce=may_enforce)
    assert (found.exit, found.verdict.mode, opened.reads) == (code, mode, reads)


def test_who_threw_it_is_told_and_stored(gate, config):
    """On one line beside the mode; the verdict is the same, and the stored one says shadow."""
    gate(1.0)
    throw(config)
    found = gate(9.0)
    assert found.verdict.outcome == "not_trusted"
    assert "enforcement was switched off by on duty: image\\nbroke" in list(facts(found.verdict))
    with configured_history(config) as store:
        (run, _) = store.list_runs("default", RunFilter())
    assert (run.verdict["mode"], run.trusted) == ("shadow", False)
    assert [notice["kind"] for notice in run.verdict["warnings"]] == ["enforcement_off"]


def test_an_unreachable_store_changes_nothing(gate, opened):
    """Nobody can say that it is thrown: the outage fails the job as it would have."""
    opened.unreachable = True
    found = gate(1.0)
    assert (found.exit, found.verdict.mode) == (4, "enforced")
    assert KillSwitch("default", opened).thrown() is None


@pytest.mark.parametrize(("thrown", "code", "mode"), [(False, 2, "enforced"), (True, 0, "shadow")])
def test_declarations_that_cannot_be_read(tmp_path, config, *, thrown, code, mode):
    """They fail an enforced job, and none while the switch is thrown."""
    if thrown:
        throw(config)
    test = tmp_path / "test_a.py"
    test.write_text("from driftgate import register_ci_gate\nregister_ci_gate(metric_key=1)\n")
    result = judge_attempt(GateRequest(test, tmp_path, config, {}))
    assert (result.exit, result.verdict.mode) == (code, mode)
    assert any(notice.kind == "enforcement_off" for notice in result.verdict.warnings) is thrown

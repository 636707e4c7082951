"""``judge_attempt``: one call for people with a harness of their own."""

import json

import pytest

from driftgate.config.load import load_config
from driftgate.harness.history_access import configured_history
from driftgate.harness.hook import GateRequest, judge_attempt
from driftgate.harness.outcome import JobExit
from driftgate.harness.trigger import Requests
from gate.errors import ConfigError
from gate.identity import SeriesIdentity
from store.contract import RunFilter

REGISTERED = 'register_cpu_ci(est_time=1, suite="stage-a-cpu")\n'
DECLARED = 'register_ci_gate(metric_key="m", steps="all", constraint={{"rel_up": 0.5, "rel_down": 0.5}}{})\n'
NIGHTLY = Requests(cadence="nightly")
GITHUB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_EVENT_NAME": "schedule",
    "GITHUB_REF": "refs/heads/main",
    "GITHUB_RUN_ID": "42",
    "GITHUB_RUN_ATTEMPT": "1",
    "GITHUB_SHA": "a" * 40,
}


@pytest.fixture
def gate(tmp_path):
    """Judge a record of one value of m with a test file of this text."""
    records = tmp_path / "attempt"
    records.mkdir()

    def call(text, requests=NIGHTLY, environment=None, value=1.0, **named):
        if text is not None:
            (tmp_path / "test_a.py").write_bytes(text if isinstance(text, bytes) else text.encode())
        (tmp_path / "driftgate.toml").write_text(named.pop("config", ""))
        (records / "1.jsonl").write_text(json.dumps({"metric": "m", "series": [[0, value]]}) + "\n")
        config = load_config(file=None, start=tmp_path, env={}, options={"store.url": f"sqlite:///{tmp_path}/h.db"})
        return judge_attempt(GateRequest(tmp_path / "test_a.py", records, config, environment or {}, requests, **named))

    return call


def stored(result, tmp_path):
    config = load_config(file=None, start=tmp_path, env={}, options={"store.url": f"sqlite:///{tmp_path}/h.db"})
    with configured_history(config) as store:
        return store.list_runs("default", RunFilter())


def test_the_only_registration_says_where(gate):
    """Without options the series is that of the file's one registration, its path relative to the configuration."""
    verdict = gate(REGISTERED + DECLARED.format("")).verdict
    assert verdict.identity == SeriesIdentity("default", "test_a.py", "cpu", "stage-a-cpu")
    assert (verdict.outcome, verdict.written.trusted, verdict.provenance.cadence) == ("trusted", True, "nightly")


def test_options_say_where(gate):
    """With both options no registration is needed; a suite of no table is judged and remarked."""
    verdict = gate(DECLARED.format(""), backend="cuda", suite="stage-c-8-gpu-h10").verdict
    assert (verdict.identity.backend, verdict.identity.suite) == ("cuda", "stage-c-8-gpu-h10")
    (warning,) = [notice.text for notice in verdict.warnings if notice.kind == "unknown_suite"]
    assert "did you mean 'stage-c-8-gpu-h100'" in warning


@pytest.mark.parametrize(
    ("text", "named", "message"),
    [
        (None, {}, "test_a.py: no such test file"),
        (DECLARED.format(""), {}, "test_a.py: has no registration; give both --backend and --suite"),
        (REGISTERED, {"backend": "cuda"}, "not registered for cuda alone, but for cpu stage-a-cpu; give both"),
        (REGISTERED, {"suite": "stage-a-gpu"}, r"for stage-a-gpu \(did you mean 'stage-a-cpu'\?\) alone, but for cpu"),
        (REGISTERED, {"backend": "gpu", "suite": "s"}, "--backend: unknown 'gpu'"),
        (REGISTERED, {"backend": "cuda", "suite": "stage-a-cpu"}, "--suite: stage-a-cpu runs on cpu, not on cuda"),
        (REGISTERED, {"requests": Requests(cadence="nightli")}, "--cadence: unknown 'nightli'"),
        (REGISTERED, {"environment": {"DRIFTGATE_ENFORCEMENT": "offf"}}, "DRIFTGATE_ENFORCEMENT"),
    ],
)
def test_wrong_calls(gate, text, named, message):
    """A wrong option or a missing test file is refused in every mode, in one line."""
    with pytest.raises(ConfigError, match=message):
        gate(text, **named)


@pytest.mark.parametrize("text", [b"\xff", "def (", REGISTERED + DECLARED.format(", step=3"), "\0"])
@pytest.mark.parametrize(("config", "code"), [("", 0), ('[enforcement]\nallow = ["test_a.py"]', 2)])
def test_unreadable_content(gate, tmp_path, text, config, code):
    """Not UTF-8, no Python, wrong declarations: NOT JUDGED with the place, never a pass where the test may be enforced."""
    result = gate(text, config=config)
    assert (result.verdict.outcome, result.exit, len(result.problems)) == ("not_judged", code, 1)
    assert result.verdict.reason.startswith("test_a.py")
    assert (tmp_path / "h.db").exists() is (code != 0)  # asked for its kill switch


def test_no_declaration(gate, tmp_path):
    """A file that declares nothing is not judged and not written."""
    result = gate(REGISTERED)
    assert (result.verdict.outcome, result.verdict.reason, result.exit) == (
        "not_judged",
        "no declaration",
        JobExit.FINE,
    )
    assert not (tmp_path / "h.db").exists()


@pytest.mark.parametrize(
    ("environment", "requests", "writes"),
    [
        ({}, Requests(), False),
        ({}, Requests(cadence="nightly"), True),
        ({}, Requests(cadence="nightly", write=False), False),
        ({}, Requests(cadence="release"), False),
        ({"CI": "true"}, Requests(cadence="nightly"), False),
        (GITHUB, Requests(cron="0 15 * * 0-5"), True),
        ({**GITHUB, "GITHUB_REF": "refs/heads/topic"}, Requests(cron="0 15 * * 0-5"), False),
        ({**GITHUB, "GITHUB_EVENT_NAME": "workflow_dispatch"}, Requests(cadence="nightly"), False),
    ],
)
def test_who_writes(gate, tmp_path, environment, requests, writes):
    """A baseline is written by a writing cadence of trusted origin alone, and options can only narrow this."""
    result = gate(REGISTERED + DECLARED.format(""), requests, environment)
    assert (result.verdict.outcome, result.verdict.written is not None, result.policy.writes) == (
        "trusted",
        writes,
        writes,
    )
    assert len(stored(result, tmp_path)) == int(writes)


def test_github_provenance_is_stored(gate, tmp_path):
    """What the CI says of the job is in the stored run."""
    result = gate(REGISTERED + DECLARED.format(""), Requests(cron="0 15 * * 0-5"), GITHUB)
    (run,) = stored(result, tmp_path)
    found = run.provenance
    assert (found.ci_run_id, found.ci_run_attempt, found.ci_sha, found.event) == (42, 1, "a" * 40, "schedule")
    assert found.commit_sha == "a" * 40


@pytest.mark.parametrize(("environment", "code"), [({}, 3), ({"DRIFTGATE_ENFORCEMENT": "off"}, 0)])
def test_enforcement(gate, tmp_path, environment, code):
    """A rejected run fails the job unless the kill switch is thrown, and is stored untrusted."""
    text = REGISTERED + DECLARED.format(', enforce=True, allowlist_reason="stable"')
    config = '[enforcement]\nallow = ["**/test_*.py"]'
    assert gate(text, config=config).exit is JobExit.FINE
    (tmp_path / "attempt" / "idempotency-key").unlink()
    result = gate(text, environment=environment, value=9.0, config=config)
    assert (result.verdict.outcome, result.exit) == ("not_trusted", code)
    assert [run.trusted for run in stored(result, tmp_path)] == [False, True]

"""``driftgate run`` inside of simulated CI jobs: who writes, and where the stored run says it comes from."""

import json
import stat
from dataclasses import fields

import pytest

from gate.provenance import Provenance
from store.contract import AttemptFilter
from store.opening import open_store

HEAD, BASE = "a" * 40, "b" * 40
GITHUB = {
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "GITHUB_SHA": HEAD,
    "GITHUB_RUN_ID": "4711",
    "GITHUB_RUN_ATTEMPT": "2",
}
SCHEDULE = GITHUB | {"GITHUB_EVENT_NAME": "schedule", "GITHUB_REF": "refs/heads/main"}
PULL = GITHUB | {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_REF": "refs/pull/77/merge"}
BY_HAND = GITHUB | {"GITHUB_EVENT_NAME": "workflow_dispatch", "GITHUB_REF": "refs/heads/main"}
GITLAB = {
    "CI": "true",
    "GITLAB_CI": "true",
    "CI_PIPELINE_SOURCE": "schedule",
    "CI_COMMIT_BRANCH": "main",
    "CI_COMMIT_REF_NAME": "main",
    "CI_COMMIT_SHA": HEAD,
    "CI_PIPELINE_ID": "815",
    "CI_JOB_ID": "9001",
}
NIGHTLY, WEEKLY = {"schedule": "0 15 * * 0-5"}, {"schedule": "0 15 * * 6"}
LOGS = "driftgate.log({'train/loss': 1.0, 'seed': 42}, step=0)"


def pull(*labels, head="own/repo"):
    """The event of a pull request."""
    base = {"sha": BASE, "repo": {"full_name": "own/repo"}}
    return {
        "pull_request": {
            "number": 77,
            "labels": [{"name": label} for label in labels],
            "base": base,
            "head": {"repo": {"full_name": head}},
        }
    }


@pytest.fixture
def job(person, clean):
    """Run the plan of the tree in a job with these variables and this event."""
    person.write("driftgate.toml", '[discovery]\nroots = ["tests"]\n')
    person.test(LOGS, name="tests/test_a.py")

    def run(variables, event=None, *options):
        for name, text in variables.items():
            clean.setenv(name, text)
        if event is not None:
            clean.setenv("GITHUB_EVENT_PATH", str(person.write("event.json", json.dumps(event))))
        return person.json("run", *options)

    return run


def stored(person):
    """How many attempts and runs the store holds."""
    with open_store("sqlite:///.driftgate/history.db") as store:
        return len(store.list_attempts("default", AttemptFilter())), len(person.runs())


@pytest.mark.parametrize(
    ("facts", "cadence", "writes"),
    [
        pytest.param((SCHEDULE, NIGHTLY), "nightly", True, id="nightly"),
        pytest.param((SCHEDULE, WEEKLY), "weekly", True, id="weekly"),
        pytest.param((GITLAB, None, "--cadence", "nightly"), "nightly", True, id="nightly on GitLab"),
        pytest.param((SCHEDULE, NIGHTLY, "--no-write"), "nightly", False, id="nightly, not to write"),
        pytest.param((SCHEDULE, NIGHTLY, "--cadence", "release"), "release", False, id="release"),
        pytest.param((SCHEDULE | {"GITHUB_REF": "refs/heads/x"}, NIGHTLY), "nightly", False, id="another branch"),
        pytest.param((BY_HAND, {}), "regular", False, id="regular"),
        pytest.param((BY_HAND, {}, "--cadence", "nightly"), "nightly", False, id="nightly by hand"),
        pytest.param((PULL, pull()), "regular", False, id="pull request"),
        pytest.param((PULL, pull("nightly")), "nightly", False, id="pull request labelled nightly"),
        pytest.param((PULL, pull(head="x/fork")), "regular", False, id="fork"),
        pytest.param((PULL, pull("nightly", head="x/fork")), "nightly", False, id="fork labelled nightly"),
    ],
)
def test_who_writes(job, person, facts, cadence, writes):
    """Runs and attempts are stored by a scheduled nightly or weekly of the default branch, and by nothing else."""
    found = job(*facts)
    (test,) = found["tests"]
    assert (found["cadence"], found["writes_baseline"]) == (cadence, writes)
    assert (test["verdict"]["verdict"], test["verdict"]["written"] is not None) == ("trusted", writes)
    assert stored(person) == ((1, 1) if writes else (0, 0))
    assert bool(found["writes_reason"]) != writes


@pytest.mark.parametrize(("head", "evidence"), [("own/repo", True), ("x/fork", False), (None, False)])
def test_a_fork_is_no_evidence(job, person, head, evidence):
    """Said in the report for people and in the provenance, and for no other pull request."""
    event = pull(head=head)
    report = person.home / "report.md"
    found = job(PULL, event, "--report-md", report)
    assert found["tests"][0]["verdict"]["provenance"]["fork"] is not evidence
    assert ("NOT EVIDENCE" not in report.read_text()) == evidence


def test_every_fact_is_stored(job, person, clean):
    """All of the provenance at once: GPU and packages, seed and shard, retry and pull request. None is forgotten."""
    smi = person.write("bin/nvidia-smi", "#!/bin/sh\necho 'NVIDIA H100, 550.54'\n")
    smi.chmod(smi.stat().st_mode | stat.S_IXUSR)
    clean.setenv("PATH", f"{smi.parent}:/usr/bin:/bin")
    clean.setenv("DRIFTGATE_TESTED_SHA", "c" * 40)
    clean.setenv("DRIFTGATE_IMAGE_DIGEST", "sha256:1234")
    config = '[write]\npr_label_writes = true\n[provenance]\npackages = ["numpy", "never-installed"]\n'
    person.write("driftgate.toml", f'[discovery]\nroots = ["tests"]\n{config}')
    person.test(f"{LOGS}\nassert os.environ['DRIFTGATE_ATTEMPT'] == '2'", name="tests/test_a.py")
    job(PULL, pull("nightly"), "--retry", "--retry-wait", "0", "--shard", "0/1")
    (run,) = person.runs()
    found = run["provenance"]
    assert [field.name for field in fields(Provenance) if found[field.name] in (None, {})] == []
    expected = {
        "tested_sha": "c" * 40,
        "ci_sha": HEAD,
        "commit_sha": "c" * 40,
        "base_sha": BASE,
        "pr": 77,
        "ci_run_id": 4711,
        "ci_run_attempt": 2,
        "event": "pull_request",
        "ref": "refs/pull/77/merge",
        "cadence": "nightly",
        "shard": "0/1",
        "test_attempt": 2,
        "gpu_model": "NVIDIA H100",
        "gpu_driver": "550.54",
        "image_digest": "sha256:1234",
        "seed": 42,
        "fork": False,
    }
    assert {name: found[name] for name in expected} == expected
    assert list(found["packages"]) == ["numpy"]


def test_facts_of_gitlab(job, person):
    """Run id is the pipeline, attempt the job."""
    job(GITLAB, None, "--cadence", "nightly")
    found = person.runs()[0]["provenance"]
    assert (found["ci_run_id"], found["ci_run_attempt"], found["ci_sha"], found["ref"]) == (815, 9001, HEAD, "main")
    assert (found["event"], found["shard"], found["pr"], found["fork"]) == ("schedule", None, None, False)


def test_absent_facts_are_null(job, person, clean):
    """At home only the commit of git, the host, the cadence and the attempt are known; nothing is invented."""
    clean.setenv("PATH", "/usr/bin:/bin")
    person.test("driftgate.log({'train/loss': 1.0}, step=0)", name="tests/test_a.py")
    job({}, None, "--cadence", "nightly")
    found = person.runs()[0]["provenance"]
    known = {name for name, fact in found.items() if fact not in (None, {})}
    assert known <= {"commit_sha", "tested_sha", "host", "cadence", "test_attempt", "gpu_model", "gpu_driver"}
    assert (len(found["tested_sha"]), found["ci_sha"], found["test_attempt"]) == (40, None, 1)


def test_a_red_verdict_says_what_has_changed(job, person, clean):
    """The image is another one, the code is the same: the first thing to know at seven in the morning."""
    clean.setenv("DRIFTGATE_IMAGE_DIGEST", "sha256:old")
    job(SCHEDULE, NIGHTLY)
    clean.setenv("DRIFTGATE_IMAGE_DIGEST", "sha256:new")
    person.test("driftgate.log({'train/loss': 9.0}, step=0)", name="tests/test_a.py")
    found = job(SCHEDULE | {"GITHUB_RUN_ID": "4712"}, NIGHTLY)["tests"][0]["verdict"]
    (text,) = [warning["text"] for warning in found["warnings"] if warning["kind"] == "provenance"]
    changed, same = text.split("; the same: ")
    assert "image (sha256:old -> sha256:new)" in changed
    assert "code" not in changed
    assert "code" in same.split(", ")


def test_what_a_retry_hid_is_told_by_flakes(job, person):
    """Failed, then passed: the run is trusted, and the attempts remember why it was not at once."""
    person.test(f"{LOGS}\nassert os.environ['DRIFTGATE_ATTEMPT'] == '2'", name="tests/test_a.py")
    job(SCHEDULE, NIGHTLY, "--retry", "--retry-wait", "0")
    (flaky,) = person.json("flakes")["flaky"]
    assert (flaky["series"]["test_path"], flaky["flaky"], flaky["classes"]) == ("tests/test_a.py", 1, {"assertion": 1})


def test_durations_are_learned_and_used(job, person):
    """What a night took orders the shards of the next one."""
    job(SCHEDULE, NIGHTLY)
    assert person.json("durations", "--output", "durations.json")["durations"][0]["n"] == 1
    plan = person.json("plan", "--cadence", "nightly", "--durations", "durations.json")
    assert [test["file"] for test in plan["tests"]] == ["tests/test_a.py"]


def test_a_fork_runs_against_the_exported_baseline(job, person):
    """`run` takes the file as well: judged in shadow, nothing written."""
    job(SCHEDULE, NIGHTLY)
    person.call("baseline", "--export", "b.json")
    before = stored(person)
    found = job(PULL | {"GITHUB_RUN_ID": "4712"}, pull(head="x/fork"), "--baseline", "b.json")
    (verdict,) = [test["verdict"] for test in found["tests"]]
    assert (verdict["verdict"], verdict["compared"], verdict["written"]) == ("trusted", 1, None)
    assert "baseline_file" in {warning["kind"] for warning in verdict["warnings"]}
    assert stored(person) == before

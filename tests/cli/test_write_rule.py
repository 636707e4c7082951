"""Who may move a baseline: simulated CI services, their provenance, reruns and repeats."""

import json

import pytest

SHA, OTHER = "a" * 40, "b" * 40
GITHUB = {
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "GITHUB_EVENT_NAME": "schedule",
    "GITHUB_REF": "refs/heads/main",
    "GITHUB_SHA": SHA,
    "GITHUB_RUN_ID": "4711",
    "GITHUB_RUN_ATTEMPT": "1",
}
GITLAB = {
    "CI": "true",
    "GITLAB_CI": "true",
    "CI_PIPELINE_SOURCE": "schedule",
    "CI_COMMIT_BRANCH": "main",
    "CI_COMMIT_REF_NAME": "main",
    "CI_COMMIT_SHA": SHA,
    "CI_PIPELINE_ID": "815",
    "CI_JOB_ID": "9001",
}
PULL = {"GITHUB_EVENT_NAME": "pull_request", "GITHUB_REF": "refs/pull/77/merge"}
CRON = ("--schedule", "0 15 * * 0-5")
NIGHTLY = ("--cadence", "nightly")


@pytest.fixture
def ci(person, clean):
    """Judge one value inside a CI job; a variable that is None is not set."""
    person.test()

    def job(value, options, variables, folder=None):
        for name, text in variables.items():
            clean.delenv(name, raising=False) if text is None else clean.setenv(name, text)
        records = folder or person.record(value)
        answer = person.call("gate", "test_a.py", "--records", records, *options, "--json")
        return answer.json if answer.out else answer

    return job


@pytest.mark.parametrize(
    ("variables", "options", "writes"),
    [
        ({}, NIGHTLY, True),
        ({}, ("--cadence", "weekly"), True),
        ({}, ("--cadence", "release"), False),
        ({}, ("--cadence", "regular"), False),
        ({}, (), False),
        ({}, CRON, False),
        ({}, (*NIGHTLY, "--no-write"), False),
        (GITHUB, CRON, True),
        (GITHUB, ("--schedule", "0 15 * * 6"), True),
        (GITHUB, NIGHTLY, True),
        (GITHUB, (*NIGHTLY, "--no-write"), False),
        (GITHUB, (*NIGHTLY, "--event", "workflow_dispatch"), False),
        (GITHUB, ("--cadence", "release"), False),
        (GITHUB | {"GITHUB_REF": "refs/heads/topic"}, NIGHTLY, False),
        (GITHUB | {"GITHUB_REF": "refs/tags/main"}, NIGHTLY, False),
        (GITHUB | {"GITHUB_EVENT_NAME": "workflow_dispatch"}, NIGHTLY, False),
        (GITHUB | {"GITHUB_EVENT_NAME": "workflow_dispatch"}, (*NIGHTLY, "--event", "schedule"), False),
        (GITHUB | PULL, (), False),
        (GITHUB | PULL, NIGHTLY, False),
        (GITLAB, NIGHTLY, True),
        (GITLAB | {"CI_COMMIT_BRANCH": "topic"}, NIGHTLY, False),
        (GITLAB | {"CI_PIPELINE_SOURCE": "push"}, NIGHTLY, False),
        ({"CI": "true"}, NIGHTLY, False),
    ],
)
def test_who_writes(ci, person, variables, options, writes):
    """A writing cadence of trusted origin alone, and no option widens that; judged are all."""
    found = ci(1.0, options, variables)
    assert (found["verdict"], found["written"] is not None) == ("trusted", writes)
    assert len(person.runs()) == int(writes)


@pytest.mark.parametrize("variables", [GITHUB | PULL, {"CI": "true"}, GITHUB | {"GITHUB_REF": "refs/heads/topic"}])
def test_insisting_does_not_help(ci, person, variables):
    """--write where this run may not is an error, not a permission."""
    answer = ci(1.0, (*NIGHTLY, "--write"), variables)
    assert (answer.code, len(answer.lines), "--write" in answer.err) == (2, 1, True)
    assert person.runs() == []


def test_a_pull_request_labelled_nightly(ci, person):
    """The nightly scope in shadow, unless the configuration restores the older rule."""
    event = person.write(
        "event.json",
        json.dumps(
            {
                "pull_request": {
                    "number": 77,
                    "labels": [{"name": "nightly"}],
                    "head": {"repo": {"full_name": "o/r"}},
                    "base": {"sha": OTHER, "repo": {"full_name": "o/r"}},
                }
            }
        ),
    )
    variables = GITHUB | PULL | {"GITHUB_EVENT_PATH": str(event)}
    found = ci(1.0, (), variables)
    assert (found["provenance"]["cadence"], found["provenance"]["pr"], found["provenance"]["base_sha"]) == (
        "nightly",
        77,
        OTHER,
    )
    assert found["written"] is None
    person.write("driftgate.toml", "[write]\npr_label_writes = true\n")
    assert ci(1.0, (), variables)["written"]["trusted"]


def test_a_fork(ci, person):
    """Never writes, and is labelled NOT EVIDENCE."""
    event = person.write(
        "event.json",
        json.dumps({"pull_request": {"head": {"repo": {"full_name": "x/r"}}, "base": {"repo": {"full_name": "o/r"}}}}),
    )
    variables = GITHUB | PULL | {"GITHUB_EVENT_PATH": str(event)}
    found = ci(1.0, NIGHTLY, variables)
    assert (found["provenance"]["fork"], found["written"]) == (True, None)
    assert "NOT EVIDENCE" in person.call("gate", "test_a.py", "--records", person.record(1.0)).out


def test_the_schedule_of_github(ci, person):
    """The cron line in the event's file chooses the cadence; none at all is an error, never a default."""
    event = person.write("event.json", json.dumps({"schedule": "0 15 * * 6"}))
    found = ci(1.0, (), GITHUB | {"GITHUB_EVENT_PATH": str(event)})
    assert (found["provenance"]["cadence"], found["written"]["trusted"]) == ("weekly", True)
    answer = ci(1.0, (), {"GITHUB_EVENT_PATH": None})
    assert (answer.code, "give --schedule or --cadence" in answer.err) == (2, True)


def test_provenance_of_github(ci, person, clean):
    """What the job says, what was checked out, and nothing invented."""
    clean.setenv("DRIFTGATE_TESTED_SHA", OTHER)
    clean.setenv("DRIFTGATE_IMAGE_DIGEST", "sha256:1234")
    found = ci(1.0, CRON, GITHUB)["provenance"]
    expected = {
        "commit_sha": OTHER,
        "tested_sha": OTHER,
        "ci_sha": SHA,
        "ci_run_id": 4711,
        "ci_run_attempt": 1,
        "event": "schedule",
        "ref": "refs/heads/main",
        "cadence": "nightly",
        "image_digest": "sha256:1234",
        "fork": False,
        "pr": None,
        "base_sha": None,
        "seed": None,
    }
    assert {name: found[name] for name in expected} == expected
    assert person.runs()[0]["provenance"] == found


def test_provenance_of_gitlab(ci):
    """Run id is the pipeline, attempt is the job."""
    found = ci(1.0, NIGHTLY, GITLAB)["provenance"]
    assert (found["ci_run_id"], found["ci_run_attempt"], found["ci_sha"], found["ref"], found["event"]) == (
        815,
        9001,
        SHA,
        "main",
        "schedule",
    )


def test_provenance_without_ci(ci):
    """The commit is git's, what only a CI knows is null."""
    found = ci(1.0, NIGHTLY, {})["provenance"]
    assert len(found["commit_sha"]) == 40
    assert (found["ci_run_id"], found["ci_run_attempt"], found["event"], found["ref"]) == (None, None, None, None)


def test_a_repeated_write(ci, person):
    """The same job again, say after a lost connection: the stored run is named, nothing is doubled."""
    first = ci(1.0, CRON, GITHUB)["written"]
    again = ci(1.0, CRON, GITHUB)["written"]
    assert (first["repeat"], again) == (False, {**first, "repeat": True})
    assert len(person.runs()) == 1


def test_a_repeated_write_with_other_values(ci, person):
    """A conflict that is told and loses nothing: two image variants need two suite names."""
    ci(1.0, CRON, GITHUB)
    found = ci(1.1, CRON, GITHUB)
    assert (found["verdict"], found["written"]) == ("trusted", None)
    (warning,) = [warning["text"] for warning in found["warnings"] if warning["kind"] == "not_written"]
    assert "suite" in warning
    assert [run["trusted"] for run in person.runs()] == [True]


def test_a_repeated_write_without_ci(ci, person):
    """The record directory itself is the identity of the run."""
    folder = person.record(1.0)
    written = [ci(1.0, NIGHTLY, {}, folder)["written"] for _ in range(3)]
    assert [each["repeat"] for each in written] == [False, True, True]
    assert len({each["run_id"] for each in written}) == len(person.runs()) == 1


@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_the_highest_attempt_counts(ci, person, order):
    """In whatever order they arrive, and runs of one CI run never judge each other."""
    for attempt in order:
        found = ci(float(attempt), CRON, GITHUB | {"GITHUB_RUN_ATTEMPT": str(attempt)})
        assert (found["verdict"], found["compared"]) == ("trusted", 0)
    superseded = {run["provenance"]["ci_run_attempt"]: run["superseded_by"] is not None for run in person.runs()}
    assert superseded == {1: True, 2: False}
    (spec,) = person.json("baseline", "test_a.py")["specs"]
    assert spec["mean"] == [2.0]
    loser = next(run["run_id"] for run in person.runs() if run["superseded_by"])
    refused = person.call("mark-trusted", "--run-id", loser, "--reason", "r")
    assert (refused.code, len(refused.lines)) == (2, 1)
    assert "superseded" in person.call("runs", "list").out


def test_run_follows_the_same_rule(person, clean):
    """`run` writes by the same facts and says why it does not."""
    person.test("driftgate.log({'train/loss': 1.0}, step=0)")
    for name, text in GITHUB.items():
        clean.setenv(name, text)
    assert person.json("run", "test_a.py", *CRON)["tests"][0]["verdict"]["written"]["trusted"]
    clean.setenv("GITHUB_REF", "refs/heads/topic")
    found = person.json("run", "test_a.py", *CRON)
    assert (found["writes_baseline"], found["writes_reason"]) == (
        False,
        "the branch is topic, not main ([write] branch)",
    )
    assert found["tests"][0]["verdict"]["written"] is None

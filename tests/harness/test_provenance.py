"""Where a run comes from, on GitHub, on GitLab, at home."""

import json
import os
import subprocess

import pytest

from driftgate.config.load import load_config
from driftgate.harness import outside_programs
from driftgate.harness.ci_facts import ci_facts
from driftgate.harness.outside_programs import ask
from driftgate.harness.provenance import checked_out_sha, gpu, package_versions, read_provenance
from gate.provenance import Provenance

HEAD = "a" * 40
BASE = "b" * 40


def github(tmp_path, payload, **variables):
    event = tmp_path / "event.json"
    event.write_text(payload if isinstance(payload, str) else json.dumps(payload))
    return ci_facts(
        {
            "GITHUB_ACTIONS": "true",
            "GITHUB_SHA": HEAD,
            "GITHUB_RUN_ID": "12345678901",
            "GITHUB_RUN_ATTEMPT": "2",
            "GITHUB_EVENT_NAME": "schedule",
            "GITHUB_REF": "refs/heads/main",
            "GITHUB_EVENT_PATH": str(event),
            **variables,
        }
    )


def test_a_scheduled_github_run(tmp_path):
    """Commit, ids, event and ref as the variables say; no pull request, no base, no fork."""
    assert github(tmp_path, {"schedule": "0 15 * * 6"}) == Provenance(
        ci_sha=HEAD, ci_run_id=12345678901, ci_run_attempt=2, event="schedule", ref="refs/heads/main", fork=False
    )


@pytest.mark.parametrize(
    ("issue", "pr", "fork"),
    [({"number": 7, "pull_request": {"url": "x"}}, 7, None), ({"number": 7}, None, False), ("x", None, False)],
)
def test_a_comment_on_a_github_pull_request(tmp_path, issue, pr, fork):
    """Its number is known, whether it is a fork is not; a comment on an issue is about no pull request."""
    found = github(tmp_path, {"issue": issue}, GITHUB_EVENT_NAME="issue_comment")
    assert (found.pr, found.fork) == (pr, fork)


@pytest.mark.parametrize(("head", "fork"), [("own/repo", False), ("other/repo", True), (None, True)])
def test_a_github_pull_request(tmp_path, head, fork):
    """Number and base commit come from the ref and the event; a head in another (or deleted) repository is a fork."""
    repo = {"full_name": head} if head else None
    pull = {"number": 7, "base": {"sha": BASE, "repo": {"full_name": "own/repo"}}, "head": {"repo": repo}}
    found = github(tmp_path, {"pull_request": pull}, GITHUB_REF="refs/pull/7/merge", GITHUB_EVENT_NAME="pull_request")
    assert (found.pr, found.base_sha, found.fork) == (7, BASE, fork)


def test_a_github_push(tmp_path):
    """The base of a push is what was there before; of a new branch there is none."""
    assert github(tmp_path, {"before": BASE}).base_sha == BASE
    assert github(tmp_path, {"before": "0" * 40}).base_sha is None


@pytest.mark.parametrize("payload", ["", "[]", "{", '{"pull_request": 3, "before": {}}', "[" * 100_000])
def test_a_bad_event_file_costs_only_its_facts(tmp_path, payload):
    """Whatever the event file holds, the variables are still read; whether it was a fork is then unknown."""
    found = github(tmp_path, payload, GITHUB_REF="refs/pull/9/merge")
    assert (found.ci_sha, found.pr, found.base_sha, found.fork) == (HEAD, 9, None, None)
    assert github(tmp_path, payload, GITHUB_EVENT_NAME="pull_request_target").fork is None


@pytest.mark.parametrize("text", ["", "x", "-1", "1.5", "1e3", "\u0661", "9" * 19, "9" * 5000, " "])
def test_malformed_numbers_are_absent(tmp_path, text):
    """A number that is none is None, never a crash and never a guess."""
    found = github(tmp_path, {}, GITHUB_RUN_ID=text, GITHUB_RUN_ATTEMPT=text)
    assert (found.ci_run_id, found.ci_run_attempt) == (None, None)


def test_gitlab():
    """Run id is the pipeline, attempt the job."""
    variables = {
        "GITLAB_CI": "true",
        "CI_PIPELINE_ID": "55",
        "CI_JOB_ID": "901",
        "CI_COMMIT_SHA": HEAD,
        "CI_PIPELINE_SOURCE": "schedule",
        "CI_COMMIT_REF_NAME": "main",
    }
    expected = Provenance(ci_sha=HEAD, ci_run_id=55, ci_run_attempt=901, event="schedule", ref="main", fork=False)
    assert ci_facts(variables) == expected
    merge_request = {
        "CI_MERGE_REQUEST_IID": "4",
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": BASE,
        "CI_MERGE_REQUEST_PROJECT_ID": "1",
        "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "2",
    }
    found = ci_facts(variables | merge_request)
    assert (found.pr, found.base_sha, found.fork) == (4, BASE, True)


def test_no_ci_no_facts():
    """Left-over variables of a CI that is not detected are not believed."""
    assert ci_facts({"GITHUB_SHA": HEAD, "GITHUB_RUN_ID": "1", "CI_JOB_ID": "2"}) == Provenance()


def test_the_tested_commit(tmp_path):
    """The commit checked out, and None where there is no repository."""
    assert checked_out_sha(tmp_path) is None
    identity = {
        "GIT_AUTHOR_NAME": "t",
        "GIT_AUTHOR_EMAIL": "t@t",
        "GIT_COMMITTER_NAME": "t",
        "GIT_COMMITTER_EMAIL": "t@t",
    }
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "x"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True, env={**os.environ, **identity})
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert checked_out_sha(tmp_path) == head.stdout.strip()


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Puts a shell script of a given name first on PATH."""

    def make(name, script):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{path.parent}:{os.environ['PATH']}")

    return make


def test_gpus(program):
    """Equal cards are named once, different ones all."""
    program(
        "nvidia-smi", "printf 'NVIDIA H100 80GB HBM3, 550.54\\nNVIDIA H100 80GB HBM3, 550.54\\nNVIDIA L4, 550.54\\n'"
    )
    assert gpu() == ("NVIDIA H100 80GB HBM3, NVIDIA L4", "550.54")


@pytest.mark.parametrize("script", ["exit 9", "echo broken", "exec sleep 60", "printf '\\377\\n'"])
def test_a_bad_gpu_program_is_no_gpu(program, monkeypatch, script):
    """Failing, babbling or hanging: absent, and nobody waits."""
    monkeypatch.setattr(outside_programs, "ANSWER_WITHIN_S", 0.2)
    program("nvidia-smi", script)
    assert gpu() == (None, None)


def test_a_missing_program_has_no_answer():
    """A machine without the program gives None."""
    assert ask(("no-such-program-here",)) is None


def test_the_configuration_goes_before_git(tmp_path):
    """What the job says it tested, and in which image, is taken as said; the rest comes from the machine."""
    said = {"DRIFTGATE_TESTED_SHA": HEAD, "DRIFTGATE_IMAGE_DIGEST": "sha256:1"}
    (tmp_path / "driftgate.toml").write_text('[provenance]\npackages = ["numpy"]')
    found = read_provenance({}, load_config(file=None, start=tmp_path, env=said, options={}))
    assert (found.tested_sha, found.image_digest, found.commit_sha) == (HEAD, "sha256:1", HEAD)
    assert found.host
    assert set(found.packages) == {"numpy"}
    assert found.ci_run_id is None


def test_packages():
    """Installed ones have their version, others are absent."""
    assert set(package_versions(["numpy", "no-such-package", ""])) == {"numpy"}

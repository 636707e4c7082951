"""A project that shares nothing with the preset, on GitLab: plan, run and gate work there from its driftgate.toml alone."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driftgate.cli.app import app
from driftgate.config.load import load_config

NIGHT = {"CI_PIPELINE_SOURCE": "schedule", "CI_COMMIT_BRANCH": "trunk", "CI_PIPELINE_ID": "41", "CI_JOB_ID": "411"}
REQUEST = {
    "CI_PIPELINE_SOURCE": "merge_request_event",
    "CI_PIPELINE_ID": "42",
    "CI_JOB_ID": "421",
    "CI_MERGE_REQUEST_IID": "7",
}
QUICK, SLOW, SMOKE = "checks/check_descent.py", "checks/check_small_rate.py", "smoke/test_shape.py"


@pytest.fixture
def project(files, tmp_path, monkeypatch):
    """A repository of its own with the example in it; the call gets GitLab's variables for one job."""
    home = shutil.copytree(
        files.GITLAB, tmp_path / "project", ignore=shutil.ignore_patterns("__pycache__", ".driftgate")
    )
    for command in (
        ("init", "-q", "--template="),
        ("add", "-A"),
        ("-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-qm", "first"),
    ):
        subprocess.run(["git", *command], cwd=home, check=True)
    monkeypatch.chdir(home)

    def call(*arguments, job):
        for name in list(os.environ):
            if name.startswith(("CI", "GITHUB_", "GITLAB_", "DRIFTGATE_", "NEON_")):
                monkeypatch.delenv(name)
        for name, value in {"GITLAB_CI": "true", **job}.items():
            monkeypatch.setenv(name, value)
        result = CliRunner().invoke(app, list(arguments))
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result

    return call


def data(project, *arguments, job):
    result = project(*arguments, "--json", job=job)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def stored(project):
    return data(project, "runs", "list", job={})["runs"]


def test_nothing_of_the_preset_is_left(files):
    """No suite, label, cadence, root or request of this project is one of the preset."""
    own = load_config(file=files.GITLAB / "driftgate.toml", start=files.GITLAB, env={}, options={})
    preset = load_config(file=None, start=Path("/"), env={}, options={})
    assert (own.preset, own.generations) == ("none", ())
    for table in ("suites", "labels", "cadences", "defaults"):
        assert getattr(own, table), table
        assert not set(getattr(own, table)) & set(getattr(preset, table)), table
    assert not {root.path for root in own.roots} & {root.path for root in preset.roots}
    assert not {own.requests.prefix, *own.requests.scopes} & {preset.requests.prefix, *preset.requests.scopes}
    assert own.write.branch != preset.write.branch
    assert own.retry.rules.keys() & preset.retry.rules.keys() <= {"code", "timeout", "other"}


@pytest.mark.parametrize(
    ("cadence", "job", "expected", "writes"),
    [
        ("night", NIGHT, {QUICK, SMOKE}, True),
        ("month", NIGHT, {QUICK, SLOW, SMOKE}, True),
        ("night", {**NIGHT, "CI_COMMIT_BRANCH": "main"}, {QUICK, SMOKE}, False),
        ("", REQUEST, {SMOKE}, False),
        ("", {**REQUEST, "CI_MERGE_REQUEST_LABELS": "run::solver"}, {QUICK, SMOKE}, False),
        ("", {**REQUEST, "CI_MERGE_REQUEST_LABELS": "kind::bug,run::everything"}, {QUICK, SLOW, SMOKE}, False),
        ("", {**REQUEST, "CI_MERGE_REQUEST_LABELS": "as::night"}, {QUICK, SMOKE}, False),
        ("", {**REQUEST, "CI_MERGE_REQUEST_LABELS": "as::night,run::slow"}, {QUICK, SLOW, SMOKE}, False),
        ("", {**REQUEST, "CI_MERGE_REQUEST_LABELS": "run-ci-all,nightly"}, {SMOKE}, False),
        ("", {"CI_PIPELINE_SOURCE": "web", "CI_COMMIT_BRANCH": "trunk"}, {SMOKE}, False),
    ],
)
def test_the_plan_is_that_of_the_projects_own_tables(project, cadence, job, expected, writes):
    """Cadences, scopes and request labels; the preset's labels mean nothing here."""
    plan = data(project, "plan", "--cadence", cadence, job=job)
    assert {test["file"] for test in plan["tests"]} == expected
    assert plan["writes_baseline"] is writes
    assert {test["suite"] for test in plan["tests"]} <= {"quick", "thorough"}
    assert plan["needs_image"] == {"cuda": False, "rocm": False}
    assert plan["warnings"] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("plan", "--cadence", ""), "a schedule needs its cron line, which GitHub tells and GitLab does not"),
        (
            ("plan", "--cadence", "nightly"),
            "--cadence: unknown 'nightly' (did you mean 'night'?); valid: review, night, month",
        ),
        (("run", QUICK, "--cadence", "night", "--suite", "stage-a-cpu"), "stage-a-cpu"),
    ],
)
def test_what_the_project_does_not_have_is_refused(project, arguments, words):
    """A schedule without its cadence, and names of the preset."""
    result = project(*arguments, job=NIGHT)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_a_night_writes_and_a_merge_request_is_judged_against_it(project):
    """The suite runs by its name; its unit test passes and has nothing to judge; the merge request changes no run."""
    for pipeline in ("1", "2"):
        night = data(
            project, "run", "--suite", "quick", "--cadence", "night", job={**NIGHT, "CI_PIPELINE_ID": pipeline}
        )
        assert [test["file"] for test in night["tests"]] == [QUICK, SMOKE]
    before = stored(project)
    assert [run["series"]["suite"] for run in before] == ["quick", "quick"]
    request = data(project, "run", "--suite", "quick", "--label", "run::solver", job=REQUEST)
    judged, unit = (test["verdict"] for test in request["tests"])
    assert (judged["verdict"], judged["compared"], judged["written"]) == ("trusted", 1, None)
    assert unit["verdict"] == "not_judged"
    assert stored(project) == before


def test_the_hook_judges_without_the_runner(project, tmp_path):
    """``driftgate gate`` on the record of a test that somebody else started."""
    record = tmp_path / "record"
    record.mkdir()
    subprocess.run(
        [sys.executable, QUICK],
        env={**os.environ, "DRIFTGATE_RECORD_DIR": str(record), "DRIFTGATE_METRICS": '["solver/residual"]'},
        check=True,
    )
    options = ("--records", str(record), "--backend", "cpu", "--suite", "quick")
    first = data(project, "gate", QUICK, *options, "--cadence", "night", job=NIGHT)
    assert (first["verdict"], first["series"]["project"], first["mode"]) == ("trusted", "descent", "shadow")
    assert first["provenance"]["ci_run_id"] == 41
    assert first["provenance"]["ci_run_attempt"] == 411
    again = data(project, "gate", QUICK, *options, job=REQUEST)
    assert (again["compared"], again["written"]) == (1, None)
    assert len(stored(project)) == 1

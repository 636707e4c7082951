"""The scripts of action.yml, run by a shell as GitHub runs them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HOSTILE = ("$(touch owned)", "`touch owned`", "a'; touch owned; '", '"; touch owned; "', "--write", "a b", "*")
RECORDER = """#!/bin/sh
for argument in "$@"; do printf '%s\\n' "$argument"; done > arguments
env > environment
exit "${EXIT:-0}"
"""
TEST = """\
from driftgate import register_cpu_ci, register_cuda_ci
register_cpu_ci(est_time=5, suite="stage-a-cpu")
register_cuda_ci(est_time=300, suite="stage-c-8-gpu-h100", labels=["megatron"], hardware=["hopper"])
"""


@pytest.fixture
def act(files, tmp_path):
    """Runs one step by its name with inputs as the variables that it gets; returns the finished process."""
    steps = {step.step["name"]: step.step for step in files.steps_of(files.ACTION)}
    program = tmp_path / "bin/driftgate"
    program.parent.mkdir()
    program.write_text(RECORDER)
    program.chmod(0o755)

    def run(name, **given):
        named = [key for key in steps[name].get("env", {}) if key.startswith("ACTION_")]
        environment = {
            **dict.fromkeys(named, ""),
            "PATH": f"{program.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
            "RUNNER_TEMP": str(tmp_path), "GITHUB_OUTPUT": str(tmp_path / "outputs"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            **given,
        }  # fmt: skip
        assert {key for key in given if key.startswith("ACTION_")} <= set(named)
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps[name]["run"]]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return run


def written(path):
    return path.read_text().splitlines()


def test_a_run_without_inputs_gets_reports_alone(act, tmp_path):
    """Empty inputs are no options."""
    assert act("Run", ACTION_REPORTS="/r").returncode == 0
    assert written(tmp_path / "arguments") == [
        "run", "--report-json", "/r/report.json", "--junit", "/r/junit.xml",
    ]  # fmt: skip


def test_a_run_gets_its_inputs_and_ends_as_the_tests_do(act, tmp_path):
    """One label and one argument a line; the exit code is the step's."""
    inputs = {
        "BACKEND": "cuda", "SUITE": "s", "SHARD": "0/2", "CADENCE": "nightly", "LABELS": "run-ci-a\n\nrun-ci-b\n",
        "ARGUMENTS": "--retry\n\na b.py",
    }  # fmt: skip
    done = act("Run", ACTION_REPORTS="/r", EXIT="3", **{f"ACTION_{name}": value for name, value in inputs.items()})
    assert done.returncode == 3
    assert written(tmp_path / "arguments")[5:] == [
        "--hw=cuda", "--suite=s", "--shard=0/2", "--cadence=nightly", "--label=run-ci-a", "--label=run-ci-b", "--retry", "a b.py",
    ]  # fmt: skip


def test_tests_see_nothing_of_the_action(act, tmp_path):
    """Its variables end with it; those of GitHub stay."""
    assert act("Run", ACTION_REPORTS="/r", ACTION_SUITE="s", ACTIONS_RUNTIME_URL="u").returncode == 0
    names = [line.partition("=")[0] for line in written(tmp_path / "environment")]
    assert [name for name in names if name.startswith("ACTION")] == ["ACTIONS_RUNTIME_URL"]


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("name", ["BACKEND", "SUITE", "SHARD", "CADENCE", "LABELS", "ARGUMENTS"])
def test_an_input_is_one_argument_and_never_a_command(act, tmp_path, name, value):
    """Whatever a label or a suite is called."""
    assert act("Run", ACTION_REPORTS="/r", **{f"ACTION_{name}": value}).returncode == 0
    (argument,) = written(tmp_path / "arguments")[5:]
    assert argument.endswith(value)
    assert name == "ARGUMENTS" or argument.startswith("--")
    assert not (tmp_path / "owned").exists()


def test_a_plan_needs_nothing_installed(act, files, tmp_path):
    """The interpreter reads the action's own checkout; outputs and exit code are the plan's."""
    (tmp_path / "tests/e2e").mkdir(parents=True)
    (tmp_path / "tests/e2e/test_a.py").write_text(TEST)
    (tmp_path / "gate.py").write_text("raise SystemExit('the repository under test stood in for driftgate')")
    (tmp_path / "driftgate.toml").write_text('[discovery]\nroots = ["tests/e2e"]\n')
    inputs = {"ACTION_PYTHON": sys.executable, "ACTION_PATH": str(files.CHECKOUT), "ACTION_CADENCE": "nightly"}
    done = act("Plan", **inputs)
    assert done.returncode == 0, done.stderr
    lines = written(tmp_path / "outputs")
    outputs = {line.partition("<<")[0]: lines[index + 1] for index, line in enumerate(lines) if "<<" in line}
    assert (outputs["cadence"], outputs["needs_image_cuda"]) == ("nightly", "true")
    jobs = json.loads(outputs["matrix"])["include"]
    assert [(job["suite"], job["shard"], job["runner"]) for job in jobs] == [
        ("stage-a-cpu", "0/1", ["ubuntu-latest"]),
        ("stage-c-8-gpu-h100", "0/1", ["h100", "8gpu"]),
    ]
    refused = act("Plan", **inputs, ACTION_SUITE="stage-a-cup")
    assert refused.returncode == 2
    assert "did you mean 'stage-a-cpu'?" in refused.stderr


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ({"ACTION_PLACE": "driftgate-any-stage-a-cpu-0/1"}, "driftgate-any-stage-a-cpu-0-1"),
        ({"ACTION_PLACE": "x", "ACTION_NAME": "mine"}, "mine"),
        ({"ACTION_PLACE": "a\nreports=/etc$(touch owned)"}, "a-reports--etc--touch-owned-"),
    ],
)
def test_reports_lie_in_a_folder_and_an_artifact_of_their_own(act, tmp_path, given, name):
    """Two lines, whatever the inputs hold."""
    assert act("Name the reports", **given).returncode == 0
    reports, artifact = written(tmp_path / "outputs")
    assert Path(reports.removeprefix("reports=")).is_dir()
    assert artifact == f"artifact={name}"


def test_an_unknown_command_is_refused(act):
    """One line, exit 2."""
    done = act("Refuse an unknown command", ACTION_COMMAND="paln")
    assert (done.returncode, done.stderr) == (2, "driftgate: the input command is paln; it is plan, run or install\n")


def test_a_test_of_a_comment_is_planned_from_the_snapshot(act, files, tmp_path):
    """As rerun-test.yml asks for it: file and labels are read as data, the runners are the trusted ones; a link is refused."""
    (tmp_path / "driftgate.toml").write_text('[discovery]\nroots = ["tests/e2e"]\n')
    (tmp_path / "tests/e2e").mkdir(parents=True)
    folder = tmp_path / "snapshot/tests/e2e"
    folder.mkdir(parents=True)
    (folder / "test_a.py").write_text(TEST + "open('owned', 'w')\n")
    (folder / "test_link.py").symlink_to(folder / "test_a.py")
    (tmp_path / "snapshot/driftgate.toml").write_text(
        '[labels]\nmegatron = "x"\n[suites.stage-c-8-gpu-h100]\nrunner = ["mine"]\n'
    )
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"issue": {"number": 7, "pull_request": {"url": "u"}}}))
    github = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "issue_comment",
        "GITHUB_EVENT_PATH": str(event),
        "GITHUB_REF": "refs/heads/main",
    }
    plan = next(
        step
        for step in files.steps_of(files.CHECKOUT / "examples/github/rerun-test.yml")
        if step.step.get("id") == "plan"
    )
    given = {
        "ACTION_PYTHON": sys.executable,
        "ACTION_PATH": str(files.CHECKOUT),
        "ACTION_CADENCE": plan.inputs["cadence"],
    }

    def planned(name):
        arguments = plan.inputs["args"].replace("${{ steps.read.outputs.path }}", f"tests/e2e/{name}")
        return act("Plan", **github, **given, ACTION_ARGUMENTS=arguments)

    done = planned("test_a.py")
    assert done.returncode == 0, done.stderr
    (matrix,) = [line for line in written(tmp_path / "outputs") if line.startswith('{"include"') and "h100" in line][:1]
    assert {job["suite"]: job["runner"] for job in json.loads(matrix)["include"]} == {
        "stage-a-cpu": ["ubuntu-latest"],
        "stage-c-8-gpu-h100": ["h100", "8gpu"],
    }
    refused = planned("test_link.py")
    assert refused.returncode == 2
    assert "link" in refused.stderr
    assert not (tmp_path / "owned").exists()

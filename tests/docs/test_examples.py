"""The examples in the help of the pipeline's commands run as they stand."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "cli.md"
SUITE = "stage-c-8-gpu-h100"
TRAINING = f"""\
import driftgate
from driftgate import register_ci_gate, register_cuda_ci

register_cuda_ci(est_time=1, suite="{SUITE}", labels=["megatron"], hardware=["hopper"])
register_ci_gate(metric_key="train/ppo_kl")
for step in range(5):
    driftgate.log({{"train/ppo_kl": 0.02}}, step=step)
"""


@pytest.fixture(scope="module")
def call(tmp_path_factory):
    """Runs a line of shell words in a repository of one night, whose records and report are kept."""
    folder = tmp_path_factory.mktemp("examples")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}

    def run(*words):
        command = [sys.executable, "-m", "driftgate", *words]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    run("init")
    (folder / "tests/e2e/test_grpo.py").write_text(TRAINING)
    (folder / "failed.json").write_text('["gpu (0/2)"]')
    night = ("--cadence", "nightly", "--records", "kept", "--report-json", "reports/gpu.json")
    assert run("run", "--suite", SUITE, *night).returncode == 0
    (record,) = folder.glob("kept/**/*.jsonl")
    record.parent.rename(folder / "records")
    return run


def example_of(command):
    """The words after ``driftgate``, from the page that is generated from the help."""
    found = re.search(
        rf"^## driftgate {command}\n.*?^```text\ndriftgate (.*?)\n```$", PAGE.read_text(), re.DOTALL | re.MULTILINE
    )
    return shlex.split(found[1])


@pytest.mark.parametrize(
    "command",
    [
        *("plan", "run", "gate", "baseline", "coverage", "doctor", "flakes", "durations"),
        *("ci-report", "rerun-policy", "config show"),
    ],
)
def test_an_example_runs(call, command):
    """It ends with 0: names, options and files in it are those that a repository would have."""
    words = example_of(command)
    assert words[: len(command.split())] == command.split()
    answer = call(*words)
    assert answer.returncode == 0, answer.stderr


def test_the_night_was_judged(call):
    """Negative control: what the examples look at is there."""
    assert "train/ppo_kl" in call(*example_of("baseline")).stdout

"""The reference pages that are written by hand know every key and code there is."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from driftgate.collector import DEFAULT_METRICS
from driftgate.config.load import load_config
from driftgate.harness.github_outputs import github_outputs
from driftgate.harness.outcome import JobExit
from driftgate.harness.plan import PlanRequest, make_plan
from driftgate.harness.plan_json import plan_json
from driftgate.harness.trigger import Trigger

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLE = "tests/e2e/test_driftgate_example.py"


def _words(name):
    """What stands in backticks, outside code blocks."""
    prose = re.sub(
        r"^```.*?^```", "", (DOCS / "reference" / name).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    )
    return set(re.findall(r"`([^`]+)`", prose))


@pytest.fixture(scope="module")
def verdict(tmp_path_factory):
    """Of the example's fourth night: judged, with a history."""
    folder = tmp_path_factory.mktemp("verdict")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}

    def call(*arguments):
        command = [sys.executable, "-m", "driftgate", *arguments]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True).stdout

    call("init")
    for _ in range(4):
        output = call("run", EXAMPLE, "--cadence", "nightly", "--json")
    (test,) = json.loads(output)["tests"]
    return test["verdict"]


def test_every_key_of_a_verdict_is_documented(verdict):
    """Top level, and the rows of coordinates and specs with their checks."""
    rows = [verdict, verdict["written"], verdict["policy"], *verdict["coordinates"], *verdict["specs"]]
    answers = [answer for row in (*verdict["coordinates"], *verdict["specs"]) for answer in row["checks"].values()]
    keys = {key for row in (*rows, *answers) for key in row}
    assert not keys - _words("verdict.md")


def test_every_key_of_a_plan_is_documented(tmp_path):
    """Of its JSON with all kinds of rows, of the outputs for GitHub, and of a job in the matrix."""
    root = {"path": "a", "default": {"backend": "cpu", "suite": "stage-a-cpu", "est_time": 1}}
    (tmp_path / "a").mkdir()
    (tmp_path / "a/test_a.py").touch()
    for name, more in (("b", 'disabled="b"'), ("c", "nightly=True")):
        (tmp_path / f"a/test_{name}.py").write_text(f'register_cpu_ci(est_time=1, suite="stage-a-cpu", {more})\n')
    config = load_config(file=None, start=tmp_path, env={}, options={"discovery.roots": [root]})
    plan = make_plan(PlanRequest(config, Trigger()))
    document, outputs = plan_json(plan), github_outputs(plan)
    lists = ("tests", "suites", "disabled", "skipped", "warnings")
    assert all(document[name] for name in lists)
    rows = [document, outputs, *(row for name in lists for row in document[name])]
    rows += [*document["suites"][0]["shards"], *json.loads(outputs["matrix"])["include"]]
    assert not {key for row in rows for key in row} - _words("plan.md")


def test_every_exit_code_is_documented():
    """Each code has its row."""
    rows = re.findall(r"^\| (\d+) \|", (DOCS / "reference" / "exit-codes.md").read_text(), re.MULTILINE)
    assert [int(row) for row in rows] == sorted(JobExit)


def test_every_metric_kept_by_default_is_documented():
    """The built-in list of the collector is the list on the page."""
    assert set(DEFAULT_METRICS) <= _words("record.md")

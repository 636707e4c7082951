"""The page about reports knows every key that they have."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "reports.md"
TESTS = {
    "test_a.py": "import os\nassert os.environ['DRIFTGATE_ATTEMPT'] == '2'\n",
    "test_b.py": "raise ValueError('why')\n",
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """A run with a retry and a failure, and the merge of it with a report that is lost."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / ".git").mkdir()
    for name, body in TESTS.items():
        head = 'from driftgate import register_cpu_ci\nregister_cpu_ci(est_time=1, suite="stage-a-cpu")\n'
        (folder / name).write_text(head + body)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}

    def call(*arguments):
        command = [sys.executable, "-m", "driftgate", *arguments, "--json"]
        return json.loads(subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False).stdout)

    options = ("--continue-on-error", "--retry", "--retry-wait", "0", "--report-json", "report.json")
    return {"run": call("run", *TESTS, *options), "ci-report": call("ci-report", "report.json", "lost.json")}


def keys(document):
    """Every key at any depth; verdicts, series and provenance have pages of their own."""
    for key, value in document.items():
        yield key
        if isinstance(value, list) and key not in ("not_run", "last_lines"):
            for row in value:
                yield from keys(row) if isinstance(row, dict) else ()


@pytest.mark.parametrize("command", ["run", "ci-report"])
def test_every_key_is_documented(reports, command):
    """Top level and below."""
    documented = set(re.findall(r"`([^`]+)`", PAGE.read_text(encoding="utf-8")))
    assert set(keys(reports[command])) - documented == set()


def test_the_lists_are_not_empty(reports):
    """Negative control: keys were taken from rows of every kind."""
    assert [len(test["attempts"]) for test in reports["run"]["tests"]] == [2, 1]
    assert {name: len(reports["ci-report"][name]) for name in ("tests", "problems", "reports")} == {
        "tests": 2, "problems": 1, "reports": 1,
    }  # fmt: skip

"""The page about JSON knows every key that the commands print."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json.md"
EXAMPLE = "tests/e2e/test_driftgate_example.py"
FLAKY = """\
import os
from driftgate import register_cpu_ci
register_cpu_ci(est_time=1, suite="stage-a-cpu")
assert os.environ["DRIFTGATE_ATTEMPT"] == "2"
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What a command prints, in a repository with four nights of which one had a flaky test."""
    folder = tmp_path_factory.mktemp("json")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder)}

    def call(*arguments):
        command = [sys.executable, "-m", "driftgate", *arguments]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True).stdout

    call("init")
    (folder / "driftgate.toml").write_text('[discovery]\nroots = ["tests/e2e"]\n')
    (folder / "tests/e2e/test_flaky.py").write_text(FLAKY)
    for _ in range(4):
        call("run", "--cadence", "nightly", "--retry", "--retry-wait", "0")
    return lambda *arguments: json.loads(call(*arguments, "--json")), folder


def _keys(document):
    """Every key at any depth; of a listing of classes, packages or facts the names are data."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield key
            if key not in ("classes", "provenance", "value"):
                yield from _keys(value)
    elif isinstance(document, list):
        for item in document:
            yield from _keys(item)


def _documented():
    return set(re.findall(r"`([^`]+)`", PAGE.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "command",
    [
        ("flakes",),
        ("durations",),
        ("coverage",),
        ("doctor",),
        ("config", "show"),
        ("baseline", "--export", "baseline.json"),
    ],
    ids=" ".join,
)
def test_every_key_is_documented(printed, command):
    """Top level and below."""
    ask, _ = printed
    document = ask(*command)
    assert document["schema"] == 1
    assert set(_keys(document)) - {"schema", *_documented()} == set()


def test_the_flaky_test_is_there(printed):
    """Negative control: the lists of which the keys are taken are not empty."""
    ask, _ = printed
    assert ask("flakes")["flaky"]
    assert ask("coverage")["series"]
    assert ask("durations")["durations"]


def test_every_key_of_a_baseline_file_is_documented(printed):
    """The format is versioned, so a new key is a decision."""
    ask, folder = printed
    ask("baseline", "--export", "baseline.json")
    document = json.loads((folder / "baseline.json").read_text())
    assert document["series"][0]["specs"][0]["rows"]
    assert set(_keys(document)) - {"schema", *_documented()} == set()

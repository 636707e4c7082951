"""The few commands that people type: the Makefile and what CI starts."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


@pytest.mark.parametrize("target", ["demo", "test", "lint", "fix", "bench", "docs", "constraints", "clean"])
def test_make_knows(target):
    """Each documented target exists and its recipe can be listed."""
    done = subprocess.run(["make", "-n", target], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_ci_is_make_test_and_nothing_cleverer():
    """``.ci/run`` goes to the checkout and runs ``CI=true make test``."""
    path = CHECKOUT / ".ci" / "run"
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    assert lines == ["set -euo pipefail", 'cd "$(dirname "$0")/.."', "CI=true make test"]
    assert path.stat().st_mode & 0o111


def test_the_system_packages_are_installed_in_ci_alone():
    """Nobody's own machine is changed: what `make test` runs first does so under CI=true only."""
    asked = subprocess.run(["make", "-n", "system-packages"], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert re.search(r'if \[ "\$CI" = true \]; then \S+ tests/install-system-packages; fi', asked.stdout)


@pytest.fixture
def make(tmp_path):
    """Runs make in an empty checkout, with only these programs on PATH besides the system's plain tools."""
    shutil.copy(CHECKOUT / "Makefile", tmp_path)
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    for name in ("make", "sh", "touch", "test"):
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))

    def run(target, programs, *options):
        for name, script in programs.items():
            path = tmp_path / "bin" / name
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)
        command = ["make", *options, target]
        environment = {"PATH": str(tmp_path / "bin")}
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return run


def test_the_environment_is_made_with_a_python_that_is_new_enough(make):
    """An old python3 is passed over for a newer one beside it."""
    asked = make("demo", {"python3": "exit 1", "python3.12": "exit 0"}, "-n").stdout
    assert "&& python3.12 -m venv .venv;" in asked


def test_without_such_a_python_it_says_so(make):
    """One line, and nothing is made."""
    done = make("demo", {"python3": "exit 1"})
    assert done.returncode == 2
    assert done.stderr.startswith("no environment: driftgate needs Python 3.11 or newer")

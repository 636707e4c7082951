"""The few commands that people type: the Makefile and what CI starts."""

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
    """A developer's machine is never changed by ``make test``."""
    asked = subprocess.run(["make", "-n", "test"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    assert 'if [ "$CI" = true ]; then tests/install-system-packages; fi' in asked

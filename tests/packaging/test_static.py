"""What ``make lint`` runs, so that ``make test`` alone is the whole answer."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
LINT = {
    "ruff check": ["ruff", "check", "."],
    "ruff format": ["ruff", "format", "--check", "."],
    "mypy": ["mypy"],
    "import-linter": ["lint-imports", "--no-cache"],
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("command", LINT.values(), ids=LINT)
def test_the_checkout_is_clean(command):
    """No finding of this tool anywhere in the checkout."""
    done = subprocess.run([BIN / command[0], *command[1:]], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_make_lint_runs_the_same():
    """Each of these commands is a line of the Makefile's lint target."""
    asked = subprocess.run(["make", "-n", "lint"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    assert all(f"/{' '.join(command)}\n" in asked for command in LINT.values())

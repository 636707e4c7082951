"""What is in the wheel and in the sdist, and what is not."""

import subprocess
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest

import driftgate

CHECKOUT = Path(__file__).parents[2]
PACKAGES = ("driftgate", "gate", "store", "api", "migrations")
INFO = f"driftgate-{driftgate.__version__}.dist-info"
DATA = [
    "driftgate/config/presets/miles.toml",
    "driftgate/cli/templates/driftgate.toml",
    "driftgate/cli/templates/example_test.py",
    "driftgate/_examples/bandit/test_bandit_ppo.py",
    "driftgate/_examples/bandit/bandit_ppo.py",
    "migrations/versions/0001_first_schema.py",
    "migrations/versions/0002_trust_details.py",
    "driftgate/py.typed",
    "gate/py.typed",
    "store/py.typed",
]
JUNK = ("__pycache__", ".venv", ".git", ".driftgate", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache")
JUNK_SUFFIXES = (".pyc", ".db", ".sqlite", ".log", ".orig", ".rej", ".swp")


@pytest.fixture(scope="module")
def in_wheel(wheel):
    return zipfile.ZipFile(wheel).namelist()


@pytest.fixture(scope="module")
def in_sdist(sdist):
    """Without the folder that holds everything."""
    return [name.partition("/")[2] for name in tarfile.open(sdist).getnames()]


@pytest.mark.parametrize("name", DATA)
def test_the_wheel_holds(name, in_wheel):
    """Data, migrations and typed markers are in the wheel."""
    assert name in in_wheel


def test_the_wheel_holds_our_packages_and_nothing_else(in_wheel):
    """No tests, docs or benchmarks end in somebody's site-packages."""
    assert {name.split("/")[0] for name in in_wheel} == {*PACKAGES, INFO}


def test_the_wheel_holds_every_module(in_wheel):
    """Each Python file of the packages is there."""
    modules = {
        path.relative_to(CHECKOUT).as_posix() for package in PACKAGES for path in (CHECKOUT / package).rglob("*.py")
    }
    assert modules <= set(in_wheel)


def test_the_wheel_names_its_licence_and_command(wheel):
    """Metadata that an index and pip read."""
    archive = zipfile.ZipFile(wheel)
    metadata = archive.read(f"{INFO}/METADATA").decode()
    assert "License-Expression: Apache-2.0" in metadata
    assert "Requires-Python: >=3.11" in metadata
    assert "driftgate = driftgate.cli.main:main" in archive.read(f"{INFO}/entry_points.txt").decode()


@pytest.mark.parametrize("archive", ["in_wheel", "in_sdist"])
def test_no_junk_is_shipped(archive, request):
    """No caches, databases or editor files."""
    names = [PurePosixPath(name) for name in request.getfixturevalue(archive)]
    assert not [name for name in names if set(name.parts) & set(JUNK) or name.suffix in JUNK_SUFFIXES]


def test_the_sdist_holds_what_a_packager_builds_and_tests_with(in_sdist):
    """Everything that git knows is in the sdist."""
    listed = subprocess.run(["git", "ls-files"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    tracked = {name for name in listed.splitlines() if (CHECKOUT / name).exists()}
    assert tracked <= set(in_sdist)

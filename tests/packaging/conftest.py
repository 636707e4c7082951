"""The distribution as built from this checkout, and environments that have it installed."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Static checks last: what the code does is the better news."""
    items.sort(key=lambda item: item.path.name == "test_static.py")


@dataclass(frozen=True)
class Environment:
    """A virtual environment that sees the dependencies of this one, but not this checkout unless installed into it."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def call(self, *command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run a program of this environment by name, as a person in ``cwd`` would, outside CI."""
        program = self.folder / "bin" / command[0]
        environment = {"PATH": f"{program.parent}:{os.defpath}", "HOME": str(cwd), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(
            [program, *command[1:]], cwd=cwd, env=environment, capture_output=True, text=True, check=False
        )


def make_environment(folder: Path, *requirements: str | Path) -> Environment:
    """Offline and without dependencies: those come from this environment's site-packages by a path entry, which does
    not make the checkout importable, because path files inside such an entry are not read.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    found = Environment(folder)
    asked = [found.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    own = Path(subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip())
    (own / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    pip = [sys.executable, "-m", "pip", "--isolated", "--python", found.python]
    install = ["install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", *requirements]
    subprocess.run([*pip, *install], check=True)
    return found


def build(target: str, folder: Path) -> Path:
    """The one file that hatchling builds of ``target``."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", folder]
    subprocess.run(command, cwd=CHECKOUT, capture_output=True, check=True)
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="session")
def wheel(tmp_path_factory) -> Path:
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="session")
def sdist(tmp_path_factory) -> Path:
    return build("sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="session")
def from_wheel(tmp_path_factory, wheel) -> Environment:
    return make_environment(tmp_path_factory.mktemp("from-wheel") / "environment", wheel)


@pytest.fixture(scope="session", params=["wheel", "sdist", "editable"])
def installed(request, tmp_path_factory) -> Environment:
    """An environment with driftgate in it, once for each way to install it."""
    if request.param == "wheel":
        return request.getfixturevalue("from_wheel")
    what = ["--editable", CHECKOUT] if request.param == "editable" else [request.getfixturevalue("sdist")]
    return make_environment(tmp_path_factory.mktemp(request.param) / "environment", *what)

"""A person at the command line: a repository of their own, a clean environment, calls in this process or in a real one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from driftgate.cli.app import app

CI_PREFIXES = ("GITHUB_", "GITLAB_", "CI_", "DRIFTGATE_")
CI_NAMES = ("CI", "NEON_DATABASE_URL", "PYTHONPATH")
CONSTRAINT = {"rel_up": 0.5, "abs_floor_up": 0.1, "rel_down": 0.25, "abs_floor_down": 0.1}


@dataclass(frozen=True)
class Answer:
    """What a call left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """What was said on stderr."""
        return self.err.splitlines()


class Person:
    """Works in the folder ``home``, the root of a git repository with one commit."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._records = 0

    def call(self, *args: object) -> Answer:
        """One call of the command line in this process."""
        result = CliRunner().invoke(app, [str(arg) for arg in args])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Answer(int(result.exit_code), result.stdout, result.stderr)

    def json(self, *args: object) -> Any:
        """The data of a call that went well."""
        answer = self.call(*args, "--json")
        assert answer.code == 0, answer
        return answer.json

    def process(self, *args: object, **more: Any) -> Answer:
        """The same in a process of its own; ``more`` goes to `subprocess.run`."""
        command = [sys.executable, "-m", "driftgate", *map(str, args)]
        options = {"cwd": self.home, "capture_output": True, "timeout": 60, **more}
        done = subprocess.run(command, check=False, **options)
        return Answer(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def test(self, body: str = "", *, name: str = "test_a.py", more: str = "", metric: str = "train/loss") -> Path:
        """A test file with one registration and one declaration (and ``more`` of it); ``body`` is what it does."""
        return self.write(
            name,
            "import os, sys, time\nimport driftgate\nfrom driftgate import register_ci_gate, register_cpu_ci\n"
            'register_cpu_ci(est_time=1, suite="stage-a-cpu")\n'
            f'register_ci_gate(metric_key="{metric}", steps="all", constraint={CONSTRAINT}{more})\n{body}\n',
        )

    def record(self, *values: float, metric: str = "train/loss") -> Path:
        """A fresh record directory with one value for each step from 0 on."""
        self._records += 1
        line = json.dumps({"metric": metric, "series": list(enumerate(values))})
        return self.write(f"records/{self._records}/1.jsonl", line + "\n").parent

    def judge(self, *values: float, options: tuple[object, ...] = ("--cadence", "nightly")) -> Any:
        """The verdict on ``test_a.py`` with these values, as JSON."""
        return self.json("gate", "test_a.py", "--records", self.record(*values), *options)

    def runs(self) -> list[Any]:
        """The stored runs, newest first."""
        return self.json("runs", "list")["runs"]


@pytest.fixture
def clean(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """No CI, no driftgate settings."""
    for name in list(os.environ):
        if name.startswith(CI_PREFIXES) or name in CI_NAMES:
            monkeypatch.delenv(name)
    return monkeypatch


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with one commit, to copy."""
    folder = tmp_path_factory.mktemp("repository")
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org")
    for command in (("init", "-q", "--template="), (*identity, "commit", "-q", "--allow-empty", "-m", "first")):
        subprocess.run(["git", *command], cwd=folder, check=True)
    return folder


@pytest.fixture
def person(tmp_path: Path, clean: pytest.MonkeyPatch, repository: Path) -> Person:
    home = shutil.copytree(repository, tmp_path / "work")
    clean.chdir(home)
    return Person(home)

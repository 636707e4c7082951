"""Rivals from PyPI behind the judges' interface, each in a process of an environment of their own.

They get one number per run and metric, the mean over the run's steps, and no verdict is fed back to them.
"""

from __future__ import annotations

import json
import os
import subprocess
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.detection.judges import Reds, Trial, run_means

HERE = Path(__file__).parent
ENVIRONMENT = HERE / ".venv-rivals"
REQUIREMENTS = HERE / "rivals-requirements.txt"
WATCH_FROM = 10
NAMES = {"otava": "apache-otava", "adwin": "river ADWIN"}
INSTALL_TIMEOUT_S = 600
JUDGE_TIMEOUT_S = 1800


class RivalsUnavailableError(Exception):
    """The rivals' environment could not be made; the message says why in one line."""


@dataclass(frozen=True, slots=True)
class RivalJudge:
    """``rival`` is a name of `rival_process.RIVALS`, ``python`` the interpreter of their environment."""

    rival: str
    python: Path

    @property
    def name(self) -> str:
        return NAMES[self.rival]

    def judge(self, trials: Sequence[Trial]) -> list[Reds]:
        """As every judge. Raises RivalsUnavailableError."""
        histories = [{"series": run_means(trial.values).T.tolist(), "stop_from": trial.stop_from} for trial in trials]
        asked = json.dumps({"rival": self.rival, "watch_from": WATCH_FROM, "histories": histories})
        command = [str(self.python), str(HERE / "rival_process.py")]
        return [_reds(answer) for answer in json.loads(_output(command, asked, JUDGE_TIMEOUT_S))]


def rivals(environment: Path = ENVIRONMENT) -> tuple[RivalJudge, ...]:
    """Every rival, ready to judge. Raises RivalsUnavailableError."""
    python = rivals_python(environment)
    return tuple(RivalJudge(rival, python) for rival in NAMES)


def rivals_python(environment: Path = ENVIRONMENT) -> Path:
    """The interpreter of the rivals' environment, which is made on first use. Raises RivalsUnavailableError."""
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    wanted, ready = REQUIREMENTS.read_text(encoding="utf-8"), environment / ".ready"
    try:
        if not ready.exists() or ready.read_text(encoding="utf-8") != wanted:
            venv.create(environment, with_pip=True)
            (environment / ".gitignore").write_text("*\n", encoding="utf-8")
            _output([str(python), "-m", "pip", "install", "--quiet", "-r", str(REQUIREMENTS)], "", INSTALL_TIMEOUT_S)
            ready.write_text(wanted, encoding="utf-8")
    except (OSError, subprocess.CalledProcessError) as error:
        raise RivalsUnavailableError(f"no environment at {environment}: {error}") from error
    return python


def _output(command: Sequence[str], given: str, timeout_s: float) -> str:
    try:
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=timeout_s)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RivalsUnavailableError(f"{command[0]}: {error}") from error
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise RivalsUnavailableError(f"{' '.join(command[:4])} ended with {done.returncode}: {last}")
    return done.stdout


def _reds(answer: dict[str, Any]) -> Reds:
    red = np.zeros(answer["judged"], np.bool_)
    red[np.asarray(answer["red"], np.intp)] = True
    return Reds(red, answer["seconds"])

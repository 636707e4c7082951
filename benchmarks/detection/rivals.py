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
    """``rival`` is a name of `rival_process.RIVALS`; at most ``most`` trials are judged, because some are slow."""

    rival: str
    python: Path
    most: int = 1000

    @property
    def name(self) -> str:
        return NAMES[self.rival]

    def judge(self, trials: Sequence[Trial]) -> list[Reds]:
        """The first ``most`` trials. Raises RivalsUnavailableError."""
        judged = trials[: self.most]
        series = [run_means(trial.values).T.tolist() for trial in judged]
        asked = json.dumps({"rival": self.rival, "series": series, "watch_from": WATCH_FROM})
        command = [str(self.python), str(HERE / "rival_process.py")]
        answers = json.loads(_output(command, asked, JUDGE_TIMEOUT_S))
        return [_reds(answer, trial.values.shape[0]) for answer, trial in zip(answers, judged, strict=True)]


def rivals_python(environment: Path = ENVIRONMENT) -> Path:
    """The interpreter of the rivals' environment, which is made on first use. Raises RivalsUnavailableError."""
    python = environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ready = environment / ".ready"
    if not ready.exists() or ready.read_text(encoding="utf-8") != REQUIREMENTS.read_text(encoding="utf-8"):
        venv.create(environment, with_pip=True)
        (environment / ".gitignore").write_text("*\n", encoding="utf-8")
        _output([str(python), "-m", "pip", "install", "--quiet", "-r", str(REQUIREMENTS)], "", INSTALL_TIMEOUT_S)
        ready.write_text(REQUIREMENTS.read_text(encoding="utf-8"), encoding="utf-8")
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


def _reds(answer: dict[str, list[int] | float], runs: int) -> Reds:
    red = np.zeros(runs, np.bool_)
    red[np.asarray(answer["red"], np.intp)] = True
    return Reds(red, float(answer["seconds"]))  # type: ignore[arg-type]

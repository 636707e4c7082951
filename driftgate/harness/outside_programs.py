"""Small questions to other programs: git, nvidia-smi. No answer is an answer."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

ANSWER_WITHIN_S = 5.0


def ask(command: Sequence[str], folder: Path | None = None) -> str | None:
    """What the program prints, stripped; None where it is missing, fails, says nothing or takes too long."""
    program = shutil.which(command[0])
    if program is None:
        return None
    try:
        answer = subprocess.run(  # noqa: S603 - a fixed program and arguments of our own, without a shell
            [program, *command[1:]],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWER_WITHIN_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.decode("utf-8", "replace").strip() or None

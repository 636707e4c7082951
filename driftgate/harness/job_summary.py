"""The summary that GitHub shows for a job: what a step appends to the file that it is given for this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

VARIABLE = "GITHUB_STEP_SUMMARY"
LARGEST_BYTES = 1_000_000
"""GitHub refuses the whole summary of a step above a mebibyte."""
_LEAST_BYTES = 1_000


def summary_file(environment: Mapping[str, str]) -> Path | None:
    """Where this step's summary belongs; None outside of GitHub."""
    return Path(name) if (name := environment.get(VARIABLE)) else None


def append_summary(path: Path, render: Callable[[int], str]) -> str | None:
    """Append what ``render`` makes of the bytes that are left; returns why not, one line, where it fails.

    Whatever else the step has written there stays, and counts.
    """
    try:
        if path.exists() and not path.is_file():
            return f"the job summary {path} was not written: it is no regular file"
        present = path.stat().st_size if path.exists() else 0
        room = LARGEST_BYTES - present
        if room < _LEAST_BYTES:
            return f"the job summary {path} was not written: it is full ({present} bytes)"
        text = render(room - 1)
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"\n{text}" if present else text)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        return f"the job summary {path} was not written: {reason}"
    return None

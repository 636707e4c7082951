"""Learned durations, as ``driftgate durations`` writes them and ``plan --durations`` reads them. Standard library only.

``{"schema": 1, "durations": [{"file": "tests/e2e/test_a.py", "backend": "cuda", "suite": "...", "p90_s": 312.5}]}``;
more keys may stand beside these.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gate.errors import ConfigError
from gate.wording import printable, shown

SCHEMA = 1
LARGEST_BYTES = 64 << 20
Place = tuple[str, str, str]
"""Test path, backend and the suite that executed it."""


def read_durations(path: Path) -> Mapping[Place, float]:
    """Seconds by place. Raises ConfigError for a file that is missing or wrong.

    Never guessed instead: two jobs of which one reads another file would cut the same suite differently, and a test
    that each leaves to the other runs nowhere.
    """
    rows = _rows(path)
    try:
        return {_place(row): _seconds(row) for row in rows}
    except (KeyError, TypeError, ValueError) as error:
        raise _refused(path, f"a row is wrong ({error})") from None


def _rows(path: Path) -> list[Any]:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise _refused(path, f"cannot be read ({error.strerror})") from None
    if len(content) > LARGEST_BYTES:
        raise _refused(path, f"is above {LARGEST_BYTES >> 20} MiB")
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        raise _refused(path, "is not JSON") from None
    rows = document.get("durations") if isinstance(document, dict) and document.get("schema") == SCHEMA else None
    if not isinstance(rows, list):
        raise _refused(path, f'has no "durations" of schema {SCHEMA}')
    return rows


def _place(row: Any) -> Place:
    file, backend, suite = (row[key] for key in ("file", "backend", "suite"))
    if not all(isinstance(part, str) for part in (file, backend, suite)):
        raise TypeError(f"found {shown(row)}, expected file, backend and suite as strings")
    return file, backend, suite


def _seconds(row: Any) -> float:
    seconds = row["p90_s"]
    is_number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
    if not is_number or not 0 <= seconds < math.inf:
        raise ValueError(f"found p90_s {shown(seconds)}, expected seconds from 0")
    return float(seconds)


def _refused(path: Path, what: str) -> ConfigError:
    return ConfigError(f"--durations: {printable(str(path))} {what}; write it with driftgate durations")

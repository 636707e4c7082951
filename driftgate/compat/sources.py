"""Test files as the compatibility layer reads them: mistakes are one ValueError."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gate.errors import Problem, SourceError
from gate.source import Source, parse_source


def read_source(filename: str) -> Source:
    """The parsed file. Raises OSError, and ValueError where it is not Python in UTF-8."""
    text = Path(filename).read_text(encoding="utf-8-sig")
    try:
        return parse_source(filename, text)
    except SourceError as error:
        raise ValueError(str(error)) from None


def refuse(problems: Iterable[Problem]) -> None:
    """Raises ValueError with every problem on a line of its own, if there is one."""
    found = sorted(problems, key=lambda problem: problem.line)
    if found:
        raise ValueError("\n".join(map(str, found)))

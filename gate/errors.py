"""Errors of driftgate, one tree. Every message is one line: what, where, what to do."""

from __future__ import annotations

from dataclasses import dataclass

from gate.wording import printable


class DriftgateError(Exception):
    """Anything driftgate refuses or cannot do, worded for the person who has to act on it."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in a test file, found without running it.

    ``call`` is the marker's name or ``""`` for the file itself, ``field`` the parameter or ``""`` for the whole call;
    ``line`` counts from 1, 0 where no line applies. ``text`` says what was found and what to write instead.
    """

    file: str
    line: int
    call: str
    field: str
    text: str

    def __str__(self) -> str:
        file = printable(self.file)
        where = f"{file}:{self.line}" if self.line else file
        subject = " ".join(part for part in (self.call, self.field) if part)
        return f"{where}: {subject}: {self.text}" if subject else f"{where}: {self.text}"


class SourceError(DriftgateError):
    """The mistakes of one or more test files, all of them at once."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = problems


class ConfigError(DriftgateError):
    """A configuration file, an environment variable or an option that cannot be used; names the key."""


class RecordError(DriftgateError):
    """A record directory or file that cannot be read at all. What is wrong *inside* a record is a defect, not this."""

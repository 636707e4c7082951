"""The exceptions that a log shows, each with its traceback. Pure; standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_PREFIX = re.compile(r"\[(?:rank|default)(?P<rank>\d+)\]: ?|\([\w.:<>-]+ pid=\d+[^)]*\) ?")
"""What torch, torchrun and Ray put before each line of one process among several."""
_GROUP_MARGIN = re.compile(r" *(?:\| ?|\+ (?=Exception Group ))")
_HEADER = "Traceback (most recent call last):"
_FRAME = re.compile(r'( *)File "[^"]*", line \d+')
_EXCEPTION = re.compile(r"(?P<name>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:\([\w.]+\))?(?P<colon>:(?:\s|$))?")
_ASIDE = re.compile(
    r"Exception ignored (?:in|while|on)\b|--- Logging error ---|Error in atexit\._run_exitfuncs"
    r"|(?:Task|Future) exception was never retrieved"
)
"""What Python puts before the traceback of an exception that ends nothing, as an object or a log handler goes away."""
_CHAINED = re.compile("During handling of the above exception|The above exception was the direct cause")
_WHAT = "what():"
_TERMINATE = re.compile(r"terminate called after throwing an instance of '([\w:]+)")
_AFTER_MESSAGE = re.compile(
    r"\[?[A-Z]\d{4} \d\d:\d\d|\[?\d{4}-\d\d-\d\d[ T]|\[?(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL)\b"
    r"|\S+:\d+: \w*Warning:|wandb: |([=_-])\1+ .* \1+$|$"
)
"""Lines of loggers, warnings, wandb's farewell, a heading of a test runner, an empty line."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception: its dotted ``name`` as logged, and ``message``, the lines from the one that names it.

    ``line`` is the log's line in which it ends, from 0; ``rank`` the process that it is marked with. ``native`` true:
    it ended a process without Python's doing.
    """

    name: str
    message: str
    line: int
    rank: int | None = None
    native: bool = False


def plain_lines(lines: Iterable[str]) -> list[str]:
    """Without colours."""
    return [_ESCAPES.sub("", line) for line in lines]


def tracebacks(lines: Sequence[str]) -> list[Raised]:
    """Every exception with a traceback, in the order of their ends; ``lines`` are plain.

    The lines of several processes are taken apart by what they are marked with. An exception inside another's message
    (Ray, torch.multiprocessing) and each one of a group come as exceptions of their own. Those that Python tells of
    but that end nothing are left out.
    """
    streams: dict[str, _Stream] = {}
    for number, line in enumerate(lines):
        source, rank, rest = _taken_apart(line)
        streams.setdefault(source, _Stream(rank)).feed(rest, number)
    for stream in streams.values():
        stream.close()
    return sorted((raised for stream in streams.values() for raised in stream.found), key=lambda raised: raised.line)


def exception_name(line: str) -> str:
    """The dotted name where the line names an exception and its message, else ``""``."""
    found = _EXCEPTION.match(line)
    if found is None or not (found["colon"] or found.end() == len(line)):
        return ""
    name = found["name"]
    return name if "." in name or (name[0].isupper() and not name.isupper()) else ""


def _taken_apart(line: str) -> tuple[str, int | None, str]:
    source, rank = "", None
    while found := _PREFIX.match(line):
        source += found[0].strip()
        rank = rank if found["rank"] is None else int(found["rank"])
        line = line[found.end() :]
    while found := _GROUP_MARGIN.match(line):
        line = line[found.end() :]
    return source, rank, line


@dataclass(slots=True)
class _Stream:
    """Reads one process's lines: frames until a line names the exception, then its message until that ends."""

    rank: int | None
    found: list[Raised] = field(default_factory=list)
    _message: list[str] = field(default_factory=list)
    _name: str = ""
    _native: bool = False
    _reading: bool = False
    _aside: bool = False
    _next_aside: bool = False
    _indent: int | None = None
    _end: int = 0

    def feed(self, line: str, number: int) -> None:
        frame = _FRAME.match(line)
        if _ASIDE.match(line):
            self.close()
            self._next_aside = True
        elif _CHAINED.match(line):
            self.close()
            self._next_aside = self._aside
        elif _HEADER in line:
            self._open()
            self._aside, self._next_aside = self._next_aside, False
        elif thrown := _TERMINATE.match(line):
            self._open()
            self._aside = False
            self._native, self._name = True, thrown[1].replace("::", ".")
            self._message.append(f"{self._name}:")
        elif frame and (self._name or not self._reading):  # of a syntax error, or inside a message
            self._open()
            self._feed_frames(line, frame)
        elif self._name:
            self._feed_message(line)
        elif self._reading:
            self._feed_frames(line, frame)
        if self._reading:
            self._end = number

    def close(self) -> None:
        """What is open ends here; without a name it was no exception."""
        if self._name and not self._aside:
            self.found.append(Raised(self._name, "\n".join(self._message), self._end, self.rank, self._native))
        self._message, self._name, self._native, self._reading, self._indent = [], "", False, False, None

    def _open(self) -> None:
        self.close()
        self._reading = True

    def _feed_frames(self, line: str, frame: re.Match[str] | None) -> None:
        """Up to the line that names the exception; lines of others in between are passed over."""
        if frame and self._indent is None:
            self._indent = max(0, len(frame[1]) - 2)
        indent = self._indent or 0
        own = line[indent:] if not line[:indent].strip() else line
        if name := exception_name(own):
            self._name = name
            self._message.append(own)

    def _feed_message(self, line: str) -> None:
        if _AFTER_MESSAGE.match(line.strip()):
            self.close()
        elif self._native and line.lstrip().startswith(_WHAT):
            self._message[-1] += f" {line.strip().removeprefix(_WHAT).strip()}"
        else:
            self._message.append(line)

"""What pytest or unittest says at its end about the tests that failed. Pure; standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from driftgate.harness.tracebacks import Raised, exception_name

_PYTEST_END = re.compile(r"(?:=+ )?(?:\d+ [a-z]+, )*\d+ (?:failed|errors?)\b[^=]* in \d[\d.]*s")
_PYTEST_FAILURES = re.compile(r"=+ (?:FAILURES|ERRORS) =+$")
_PYTEST_TEST = re.compile(r"_+ (?!_ )\S.* _+$")
_PYTEST_CAPTURED = re.compile(r"-+ Captured \w+")
_PYTEST_SUMMARY = re.compile(r"(?:FAILED|ERROR) [^\[]*?(?:\[.*?\])?(?: - (?P<message>.*))?$")
_PYTEST_CRASH = re.compile(r"(?:\S.*)?:\d+: (?P<name>[A-Za-z_][\w.]*)$")
_UNITTEST_END = re.compile(r"FAILED \((?:failures|errors|unexpected successes)=\d")
_UNITTEST_TEST = re.compile(r"(?:FAIL|ERROR): \S")
_ASSERTION = "AssertionError"


@dataclass(frozen=True, slots=True)
class FailedTest:
    """The exception that failed one test, and the log's lines about it, from ``first`` on and before ``after``."""

    raised: Raised
    first: int
    after: int


@dataclass(frozen=True, slots=True)
class RunnerReport:
    """The failed tests of one call of a test runner, whose report has the lines from ``first`` to ``last``."""

    failed: tuple[FailedTest, ...]
    first: int
    last: int


def runner_report(lines: Sequence[str], raised: Sequence[Raised]) -> RunnerReport | None:
    """The last report on failed tests in these plain lines, None where there is none; ``raised`` are their tracebacks.

    A failed test whose exception cannot be told has one without a name.
    """
    for number in range(len(lines) - 1, -1, -1):
        if _PYTEST_END.match(lines[number]):
            return _pytest_report(lines, raised, number)
        if _UNITTEST_END.match(lines[number]):
            return _unittest_report(lines, raised, number)
    return None


def _pytest_report(lines: Sequence[str], raised: Sequence[Raised], last: int) -> RunnerReport:
    heads = [number for number in range(last) if _PYTEST_FAILURES.match(lines[number])]
    first = heads[0] if heads else 0
    summary = next((n for n in range(last - 1, first - 1, -1) if "short test summary info" in lines[n]), last)
    told = [_PYTEST_SUMMARY.match(line) for line in lines[summary:last]]
    summarised = [_summarised(line["message"] or "", summary) for line in told if line]
    starts = [number for number in range(first, summary) if _PYTEST_TEST.match(lines[number])]
    failed = list(_sections(lines, raised, [first, *starts], summary))
    if len(failed) < max(1, len(summarised)):  # the sections of some lie before the lines that were kept
        failed = [*(FailedTest(found, first, last) for found in summarised or [_unnamed(last)]), *failed]
    return RunnerReport(tuple(failed), first, last)


def _sections(lines: Sequence[str], raised: Sequence[Raised], starts: Sequence[int], end: int) -> Iterator[FailedTest]:
    for start, after in zip(starts, [*starts[1:], end], strict=True):
        captured = next((n for n in range(start, after) if _PYTEST_CAPTURED.match(lines[n])), after)
        found = _marked(lines, start, captured) or _last_of(raised, start, captured)
        if found is not None:
            yield FailedTest(found, start, after)


def _marked(lines: Sequence[str], start: int, end: int) -> Raised | None:
    """The last block of lines that pytest marks with ``E``; of chained exceptions the last decides."""
    last = next((number for number in range(end - 1, start - 1, -1) if _is_marked(lines[number])), None)
    if last is None:
        return None
    first = last
    while first > start and _is_marked(lines[first - 1]):
        first -= 1
    rows = [line[1:].strip() for line in lines[first : last + 1]]
    crash = next(filter(None, (_PYTEST_CRASH.match(line) for line in lines[last + 1 : min(last + 3, end)])), None)
    named = next(filter(None, map(exception_name, rows)), "")
    name = crash["name"] if crash and not named.endswith(crash["name"]) else named
    return _of_message("\n".join(rows), name, last)


def _is_marked(line: str) -> bool:
    return line == "E" or line.startswith("E   ")


def _summarised(message: str, line: int) -> Raised:
    return _of_message(message, exception_name(message), line)


def _of_message(message: str, name: str, line: int) -> Raised:
    """An assertion that pytest explains has no name of its own."""
    if not name and message.startswith("assert "):
        name = _ASSERTION
    told = not name or any(row.startswith(name) for row in message.splitlines())
    return Raised(name, message if told else f"{name}: {message}", line)


def _unnamed(line: int) -> Raised:
    return Raised("", "", line)


def _unittest_report(lines: Sequence[str], raised: Sequence[Raised], last: int) -> RunnerReport:
    starts = [number for number in range(last) if _UNITTEST_TEST.match(lines[number])]
    first = starts[0] if starts else 0
    spans = zip(starts or [0], [*starts[1:], last], strict=True)
    failed = [FailedTest(_last_of(raised, *span) or _unnamed(last), *span) for span in spans]
    return RunnerReport(tuple(failed), first, last)


def _last_of(raised: Sequence[Raised], start: int, end: int) -> Raised | None:
    return next((found for found in reversed(raised) if start <= found.line < end), None)

"""What of a test is worth a mark beside its source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from driftgate.harness.outcome import JobExit
from driftgate.harness.reported import ReportedTest
from gate.outline import headline, summaries
from gate.verdict import Verdict

MOST_DEVIATIONS = 3

Level = Literal["error", "warning", "notice"]


@dataclass(frozen=True, slots=True)
class Annotation:
    """``file`` is relative to the repository root; ``line`` counts from 1. Nothing in it is escaped yet."""

    level: Level
    file: str
    line: int
    title: str
    lines: tuple[str, ...]


def annotations_of(test: ReportedTest) -> Iterator[Annotation]:
    """An error for what is red, a warning for what the gate minds in shadow, a notice for a pass on retry only."""
    path, suite = test.identity.test_path, test.identity.suite
    if not test.passed:
        if not test.interrupted:
            line = line_of_failure(path, test.last.last_lines)
            yield Annotation("error", path, line, f"failed in {suite}", _failure(test))
        return
    if test.severity > 1:
        level: Level = "warning" if test.exit is JobExit.FINE else "error"
        word = "not trusted" if test.distrusted else "not judged" if test.unjudged else "not stored"
        yield Annotation(level, path, _line_of_spec(test.verdict), f"{word} in {suite}", _minded(test))
    if test.passed_on_retry:
        hidden = tuple(f"attempt {attempt.number}: {attempt.told}" for attempt in test.attempts[:-1])
        yield Annotation("notice", path, 1, f"passed only on attempt {test.last.number} in {suite}", hidden)


def line_of_failure(test_path: str, last_lines: Sequence[str]) -> int:
    """The line of the test file that the last traceback names last, as Python or pytest write it; 1 without any."""
    place = re.compile(re.escape(test_path) + r'(?:", line |:)([1-9][0-9]{0,6})\b')
    found = [match[1] for line in last_lines for match in place.finditer(line)]
    return int(found[-1]) if found else 1


def _failure(test: ReportedTest) -> tuple[str, ...]:
    return tuple(f"attempt {attempt.number}: {attempt.told}" for attempt in test.attempts)


def _minded(test: ReportedTest) -> tuple[str, ...]:
    worst = summaries(test.verdict, MOST_DEVIATIONS)[:1]
    deviations = (text for summary in worst for text in (*summary.reasons, *summary.deviations))
    return (headline(test.verdict), *deviations, *filter(None, [test.unstored]))


def _line_of_spec(verdict: Verdict) -> int:
    """Where the declaration stands that is worst off."""
    worst = max(verdict.specs, key=lambda spec: spec.status, default=None)
    return max(1, worst.spec.line) if worst is not None else 1

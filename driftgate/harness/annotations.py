"""What of a test is worth a mark beside its source."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from driftgate.harness.outcome import JobExit
from driftgate.harness.reported import ReportedTest, is_unjudged, why_unstored
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
    yield from annotations_of_verdict(test.verdict, test.exit)
    if test.passed_on_retry:
        hidden = tuple(f"attempt {attempt.number}: {attempt.told}" for attempt in test.attempts[:-1])
        yield Annotation("notice", path, 1, f"passed only on attempt {test.last.number} in {suite}", hidden)


def annotations_of_verdict(verdict: Verdict, code: JobExit) -> Iterator[Annotation]:
    """Of a test that passed: one where the gate minds something, could not judge or could not store. ``code`` is what
    the verdict means for the job.
    """
    word = _word(verdict)
    if word is None:
        return
    level: Level = "warning" if code is JobExit.FINE else "error"
    series = verdict.identity
    title = f"{word} in {series.suite}" if series.suite else word
    yield Annotation(level, series.test_path, _line_of_spec(verdict), title, _minded(verdict))


def line_of_failure(test_path: str, last_lines: Sequence[str]) -> int:
    """The line of the test file that the last traceback names last, as Python or pytest write it; 1 without any."""
    place = re.compile(re.escape(test_path) + r'(?:", line |:)([1-9][0-9]{0,6})\b')
    found = [match[1] for line in last_lines for match in place.finditer(line)]
    return int(found[-1]) if found else 1


def _failure(test: ReportedTest) -> tuple[str, ...]:
    return tuple(f"attempt {attempt.number}: {attempt.told}" for attempt in test.attempts)


def _word(verdict: Verdict) -> str | None:
    if verdict.outcome == "not_trusted":
        return "not trusted"
    return "not judged" if is_unjudged(verdict) else "not stored" if why_unstored(verdict) else None


def _minded(verdict: Verdict) -> tuple[str, ...]:
    worst = summaries(verdict, MOST_DEVIATIONS)[:1]
    deviations = (text for summary in worst for text in (*summary.reasons, *summary.deviations))
    return (headline(verdict), *deviations, *filter(None, [why_unstored(verdict)]))


def _line_of_spec(verdict: Verdict) -> int:
    """Where the declaration stands that is worst off."""
    worst = max(verdict.specs, key=lambda spec: spec.status, default=None)
    return max(1, worst.spec.line) if worst is not None else 1

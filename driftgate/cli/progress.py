"""What a person sees while tests run: a line when something starts or ends, and the tests' own output in between."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from driftgate.cli.estimate import Estimate
from driftgate.cli.live_progress import Screen, is_live
from driftgate.cli.output import counted
from driftgate.harness.annotations import annotations_of
from driftgate.harness.attempts import AttemptResult, Runnable
from driftgate.harness.ci_console import Console, PlainConsole, console_of
from driftgate.harness.outcome import JobExit
from driftgate.harness.policy import RunPolicy
from driftgate.harness.ready_tests import ReadyTest, SkippedTest
from driftgate.harness.reported import ReportedTest, reported_attempt, reported_test
from driftgate.harness.run import RunResult, TestReport
from driftgate.harness.run_markdown import duration, found, hidden_by_retry, result_word
from driftgate.harness.run_report import verdict_text
from gate.identity import SeriesIdentity
from gate.outline import NOT_EVIDENCE, headline, safe

_RED, _YELLOW, _GREEN, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[32m", "\x1b[0m"


@contextmanager
def shown_progress(environment: Mapping[str, str], *, to_stderr: bool) -> Iterator[RunProgress]:
    """On stdout, or on stderr where stdout carries data: groups on a CI that folds logs, a live line on a terminal.

    Whatever is open at the end is closed, so that later output of the step is read as usual.
    """
    stream = sys.stderr if to_stderr else sys.stdout
    console = console_of(environment)
    live = is_live(stream, environment) and isinstance(console, PlainConsole)
    progress = RunProgress(console, coloured=live and not environment.get("NO_COLOR"))
    progress.screen = Screen(stream, progress.status if live else None)
    progress.screen.open()
    try:
        yield progress
    finally:
        progress.close()


class RunProgress:
    """The progress of one call of ``run``. No line of it begins with anything that came from a test."""

    def __init__(self, console: Console, *, coloured: bool = False) -> None:
        self.screen = Screen(None)
        self._console = console
        self._coloured = coloured
        self._estimate = Estimate(())
        self._total = 0
        self._ended = 0

    def output(self, data: bytes) -> None:
        self.screen.write(data)

    def status(self) -> str:
        """The live line."""
        return f"driftgate: {self._estimate.line()}"

    def started(self, tests: Sequence[ReadyTest], skipped: Sequence[SkippedTest], policy: RunPolicy) -> None:
        self._total = len(tests)
        self._estimate = Estimate([test.expected_s for test in tests])
        writes = "writes the baseline" if policy.writes else f"writes nothing: {policy.reason}"
        self._say(f"{counted(len(tests), 'test')}, cadence {policy.cadence.name}, {writes}")
        if policy.fork:
            self._say(NOT_EVIDENCE)
        for test in skipped:
            self._say(f"skipped {_place(test.identity)}: {test.reason}")

    def attempt_started(self, test: Runnable, number: int) -> None:
        again = f", attempt {number}" if number > 1 else ""
        self._estimate.begins(safe(test.identity.test_path) + again)
        self.screen.write_lines(self._console.opened(f"{self._count()} {_place(test.identity)}{again}"))

    def attempt_ended(self, test: Runnable, attempt: AttemptResult) -> None:
        self._close_group()
        if test.retry and not attempt.passed:  # otherwise the test's own line follows
            told = reported_attempt(attempt)
            ended = f"attempt {told.number} ended after {duration(told.duration_s)}: {told.told}"
            self._say(f"{self._count()} {test.identity.test_path}: {ended}")

    def attempt_follows(self, test: Runnable, number: int, wait_s: float) -> None:
        self._estimate.waits(f"{safe(test.identity.test_path)}, attempt {number}", wait_s)
        self._say(f"{self._count()} {test.identity.test_path}: attempt {number} follows in {duration(wait_s)}")

    def attempts_over(self, test: Runnable, reason: str) -> None:
        self._say(f"{self._count()} {test.identity.test_path}: no other attempt: {reason}")

    def test_ended(self, report: TestReport) -> None:
        test = reported_test(report)
        self._result(test, f"{self._count()} ")
        self.screen.write_lines(verdict_text(test.verdict) if test.passed else f"{headline(test.verdict)}\n")
        for remark in test.remarks:
            self._say(remark)
        for annotation in annotations_of(test):
            if line := self._console.annotated(annotation):
                self.screen.write_lines(line)
        self._estimate.ended(red=report.exit is not JobExit.FINE)
        self._ended += 1

    def finished(self, result: RunResult) -> None:
        """The last lines: what needs a look once more, what was not run, how many passed."""
        tests = sorted(map(reported_test, result.tests), key=lambda test: -test.severity)
        for identity in result.not_run:
            self._say(f"not run: {_place(identity)}")
        for test in tests if len(tests) > 1 else ():
            if test.severity > 1:
                self._result(test)
            elif test.passed_on_retry:
                self._say(f"passed only on retry: {test.identity.test_path}: {hidden_by_retry(test)}")
        if result.policy.fork:
            self._say(NOT_EVIDENCE)
        passed = sum(test.passed for test in tests)
        distrusted = sum(test.distrusted for test in tests)
        failed = sum(test.exit is JobExit.TEST_FAILED for test in tests)
        interrupted = "interrupted; " if result.interrupted else ""
        self._say(
            f"{interrupted}{passed} passed, {failed} failed; "
            f"{distrusted} not trusted by the gate; exit {int(result.exit)}"
        )

    def close(self) -> None:
        self._close_group()
        self.screen.close()

    def _close_group(self) -> None:
        if lines := self._console.closed():
            self.screen.write_lines(lines)

    def _count(self) -> str:
        return f"[{self._ended + 1}/{self._total}]"

    def _result(self, test: ReportedTest, count: str = "") -> None:
        """One line: the word that says it all, which test, and what to know where it needs a look."""
        word = result_word(test)
        if self._coloured:
            colour = _GREEN if test.severity <= 1 else _YELLOW if test.exit is JobExit.FINE else _RED
            word = f"{colour}{word}{_PLAIN}"
        tries = f", attempt {test.last.number}" if len(test.attempts) > 1 else ""
        about = f": {found(test)}" if test.severity > 1 else ""
        line = f"{_place(test.identity)} ({duration(test.duration_s)}{tries}){about}"
        self.screen.write_lines(f"driftgate: {count}{word} {safe(line)}\n")

    def _say(self, text: str) -> None:
        self.screen.write_lines(f"driftgate: {safe(text)}\n")


def _place(identity: SeriesIdentity) -> str:
    return f"{identity.test_path} on {identity.backend} in {identity.suite}"

"""What a person sees while tests run: a line when something starts or ends, and the tests' own output in between."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import BinaryIO

from driftgate.harness.attempts import AttemptResult, Runnable
from driftgate.harness.given_files import ReadyTest, SkippedTest
from driftgate.harness.policy import RunPolicy
from driftgate.harness.run import RunResult, TestReport
from gate.identity import SeriesIdentity
from gate.report import text_report


class PlainProgress:
    """Plain lines and passed-on bytes, on stdout, or on stderr where stdout carries data."""

    def __init__(self, *, to_stderr: bool) -> None:
        self._stream: BinaryIO = (sys.stderr if to_stderr else sys.stdout).buffer
        self._total = 0
        self._ended = 0

    def output(self, data: bytes) -> None:
        self._stream.write(data)
        self._stream.flush()

    def started(self, tests: Sequence[ReadyTest], skipped: Sequence[SkippedTest], policy: RunPolicy) -> None:
        self._total = len(tests)
        writes = "writes the baseline" if policy.writes else f"shadow, writes nothing: {policy.reason}"
        self._say(f"driftgate: {_counted(len(tests), 'test')}, cadence {policy.cadence.name}, {writes}")
        for test in skipped:
            self._say(f"driftgate: skipped {_place(test.identity)}: {test.reason}")

    def attempt_started(self, test: Runnable, number: int) -> None:
        again = f", attempt {number}" if number > 1 else ""
        self._say(f"driftgate: [{self._ended + 1}/{self._total}] {_place(test.identity)}{again}")

    def attempt_ended(self, test: Runnable, attempt: AttemptResult) -> None:
        ended = f"{attempt.attempt_class} in {attempt.duration_s:.1f} s ({attempt.detail})"
        self._say(f"driftgate: [{self._ended + 1}/{self._total}] {test.identity.test_path}: {ended}")

    def test_ended(self, report: TestReport) -> None:
        self._ended += 1
        self._say(text_report(report.judgement.verdict).rstrip("\n"))
        for remark in report.remarks:
            self._say(f"driftgate: {remark}")

    def finished(self, result: RunResult) -> None:
        """The last lines: how many passed, what was not run."""
        passed = sum(test.passed for test in result.tests)
        distrusted = sum(test.judgement.verdict.outcome == "not_trusted" for test in result.tests)
        self._say(
            f"driftgate: {passed} passed, {len(result.tests) - passed} failed; {distrusted} not trusted by the gate; "
            f"exit {int(result.exit)}"
        )
        for identity in result.not_run:
            self._say(f"driftgate: not run: {_place(identity)}")

    def _say(self, text: str) -> None:
        self.output(f"{text}\n".encode())


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _place(identity: SeriesIdentity) -> str:
    return f"{identity.test_path} on {identity.backend} in {identity.suite}"

"""What a person sees while tests run: a line when something starts or ends, and the tests' own output in between."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

from driftgate.cli.output import counted, pass_on
from driftgate.harness.attempts import AttemptResult, Runnable
from driftgate.harness.given_files import ReadyTest, SkippedTest
from driftgate.harness.outcome import JobExit
from driftgate.harness.policy import RunPolicy
from driftgate.harness.run import RunResult, TestReport
from driftgate.harness.run_report import verdict_text
from gate.errors import DriftgateError
from gate.identity import SeriesIdentity


class PlainProgress:
    """Plain lines and passed-on bytes, on stdout, or on stderr where stdout carries data.

    Output that cannot be written is dropped: a full disk behind a log changes no test's result.
    """

    def __init__(self, *, to_stderr: bool) -> None:
        self._stream: TextIO = sys.stderr if to_stderr else sys.stdout
        self._total = 0
        self._ended = 0

    def output(self, data: bytes) -> None:
        with suppress(DriftgateError):
            pass_on(data, self._stream)

    def started(self, tests: Sequence[ReadyTest], skipped: Sequence[SkippedTest], policy: RunPolicy) -> None:
        self._total = len(tests)
        writes = "writes the baseline" if policy.writes else f"writes nothing: {policy.reason}"
        self._say(f"driftgate: {counted(len(tests), 'test')}, cadence {policy.cadence.name}, {writes}")
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
        self._say(verdict_text(report.judgement.verdict).rstrip("\n"))
        for remark in report.remarks:
            self._say(f"driftgate: {remark}")

    def finished(self, result: RunResult) -> None:
        """The last lines: how many passed, what was not run."""
        for identity in result.not_run:
            self._say(f"driftgate: not run: {_place(identity)}")
        passed = sum(test.passed for test in result.tests)
        distrusted = sum(test.judgement.verdict.outcome == "not_trusted" for test in result.tests)
        failed = sum(test.exit is JobExit.TEST_FAILED for test in result.tests)
        interrupted = "interrupted; " if result.interrupted else ""
        self._say(
            f"driftgate: {interrupted}{passed} passed, {failed} failed; "
            f"{distrusted} not trusted by the gate; exit {int(result.exit)}"
        )

    def _say(self, text: str) -> None:
        self.output(f"{text}\n".encode("utf-8", "backslashreplace"))


def _place(identity: SeriesIdentity) -> str:
    return f"{identity.test_path} on {identity.backend} in {identity.suite}"

"""What a report tells of one call of ``run``: out of its result, or read from the JSON that another job left."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from driftgate.config.model import UNKNOWN
from driftgate.harness.attempts import AttemptResult
from driftgate.harness.outcome import JobExit
from driftgate.harness.plan_notice import PlanNotice
from driftgate.harness.run import RunResult, TestReport
from gate.evaluate import NO_DECLARATION
from gate.identity import SeriesIdentity
from gate.provenance import Provenance
from gate.verdict import Verdict

NOT_WRITTEN = "not_written"
"""The kind of the notice that a run could not be stored."""
KEPT_LINES = 20
LONGEST_LINE = 300
"""Characters of one kept line of output."""


@dataclass(frozen=True, slots=True)
class ReportedAttempt:
    """``failure`` is the class of the failure and ``error`` the line of the log that tells it, where they are known;
    ``last_lines`` is the end of its output where it did not pass.
    """

    number: int
    attempt_class: str
    failure: str | None
    error: str
    detail: str
    started_at: datetime
    duration_s: float
    exit_code: int | None
    last_lines: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return self.attempt_class == "pass"

    @property
    def ending(self) -> str:
        """``fail, assertion (exit code 1)``; a class that adds nothing is left out."""
        added = f", {self.failure}" if self.failure not in (None, UNKNOWN, self.attempt_class) else ""
        return f"{self.attempt_class}{added} ({self.detail})"

    @property
    def last_words(self) -> str | None:
        """The exception's line, else the last line that says something."""
        return self.error or next((line.strip() for line in reversed(self.last_lines) if line.strip()), None)

    @property
    def told(self) -> str:
        """How it ended and its last words: ``fail (exit code 1): AssertionError: 0.12``."""
        return ": ".join(filter(None, (self.ending, self.last_words)))


@dataclass(frozen=True, slots=True, eq=False)
class ReportedTest:
    identity: SeriesIdentity
    attempts: tuple[ReportedAttempt, ...]
    verdict: Verdict
    exit: JobExit
    remarks: tuple[str, ...]

    @property
    def last(self) -> ReportedAttempt:
        return self.attempts[-1]

    @property
    def passed(self) -> bool:
        return self.last.passed

    @property
    def interrupted(self) -> bool:
        return self.last.attempt_class == "interrupted"

    @property
    def passed_on_retry(self) -> bool:
        return self.passed and len(self.attempts) > 1

    @property
    def distrusted(self) -> bool:
        return self.verdict.outcome == "not_trusted"

    @property
    def unjudged(self) -> bool:
        """It passed and asks to be judged, and something kept the gate from it."""
        return self.passed and is_unjudged(self.verdict)

    @property
    def unstored(self) -> str | None:
        """What kept a run that was judged from being written; None where nothing did."""
        return why_unstored(self.verdict)

    @property
    def fails_by_gate(self) -> bool:
        """It passed, and the job fails all the same."""
        return self.passed and self.exit is not JobExit.FINE

    @property
    def duration_s(self) -> float:
        return sum(attempt.duration_s for attempt in self.attempts)

    @property
    def severity(self) -> int:
        """What a reader looks at first is larger; 0 is a test that passed and that the gate has nothing against."""
        if not self.passed:
            return 3 if self.interrupted else 5
        if self.distrusted:
            return 4
        return 2 if self.unjudged or self.unstored else 1 if self.passed_on_retry else 0


@dataclass(frozen=True, slots=True)
class ReportedSkip:
    identity: SeriesIdentity
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class ReportedRun:
    """``reason`` says why nothing was written, empty where the run writes. ``fork`` true: NOT EVIDENCE.

    ``notices`` are about the choice of tests.
    """

    cadence: str
    writes: bool
    reason: str
    fork: bool | None
    interrupted: bool
    exit: JobExit
    provenance: Provenance
    tests: tuple[ReportedTest, ...]
    skipped: tuple[ReportedSkip, ...]
    not_run: tuple[SeriesIdentity, ...]
    notices: tuple[PlanNotice, ...] = ()


def is_unjudged(verdict: Verdict) -> bool:
    """Whether something kept the gate from judging what was declared."""
    return verdict.outcome == "not_judged" and verdict.reason != NO_DECLARATION


def why_unstored(verdict: Verdict) -> str | None:
    """What kept a run that was judged from being written; None where nothing did."""
    return next((notice.text for notice in verdict.warnings if notice.kind == NOT_WRITTEN), None)


def reported(result: RunResult) -> ReportedRun:
    return ReportedRun(
        cadence=result.policy.cadence.name,
        writes=result.policy.writes,
        reason=result.policy.reason,
        fork=result.policy.fork,
        interrupted=result.interrupted,
        exit=result.exit,
        provenance=result.provenance,
        tests=tuple(map(reported_test, result.tests)),
        skipped=tuple(ReportedSkip(skipped.identity, skipped.reason) for skipped in result.skipped),
        not_run=result.not_run,
        notices=result.notices,
    )


def reported_test(test: TestReport) -> ReportedTest:
    attempts = tuple(map(reported_attempt, test.attempts))
    return ReportedTest(test.identity, attempts, test.judgement.verdict, test.exit, test.remarks)


def reported_attempt(attempt: AttemptResult) -> ReportedAttempt:
    return ReportedAttempt(
        number=attempt.number,
        attempt_class=attempt.attempt_class,
        failure=attempt.failure.name if attempt.failure else None,
        error=attempt.failure.message if attempt.failure else "",
        detail=attempt.detail,
        started_at=attempt.started_at,
        duration_s=attempt.duration_s,
        exit_code=attempt.exit_code,
        last_lines=() if attempt.passed else tuple(line[:LONGEST_LINE] for line in attempt.last_lines[-KEPT_LINES:]),
    )


def counts(tests: tuple[ReportedTest, ...]) -> str:
    """``1 failed, 1 not trusted, 1 passed only on retry, 12 passed``: what there is, and always how many passed."""
    passed = [test for test in tests if test.passed]
    found = {
        "failed": sum(not test.passed and not test.interrupted for test in tests),
        "interrupted": sum(test.interrupted for test in tests),
        "not trusted": sum(test.distrusted for test in tests),
        "not judged": sum(test.unjudged for test in tests),
        "passed only on retry": sum(test.passed_on_retry for test in passed),
    }
    told = [f"{number} {what}" for what, number in found.items() if number]
    return ", ".join([*told, f"{len(passed)} passed"])

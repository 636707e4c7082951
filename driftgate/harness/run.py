"""``driftgate run``: each test attempted, judged where it passed, written where this run writes."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol

from driftgate.config.model import Config
from driftgate.harness.attempts import AttemptResult, Conditions, Runnable, not_started, run_attempt
from driftgate.harness.file_judgement import FileJudge
from driftgate.harness.history_access import OpenHistory, configured_history
from driftgate.harness.interruption import Interruption
from driftgate.harness.judgement import Judgeable, Judgement, judge, unjudged
from driftgate.harness.outcome import JobExit, combined
from driftgate.harness.plan_notice import PlanNotice
from driftgate.harness.policy import RunPolicy
from driftgate.harness.prepared_run import PreparedRun, prepare
from driftgate.harness.process import Output
from driftgate.harness.provenance import read_provenance
from driftgate.harness.ready_tests import ReadyTest, SkippedTest
from driftgate.harness.recorded_attempts import record_attempts
from driftgate.harness.records import discard, new_attempt_folder
from driftgate.harness.retrying import Attempting, attempted
from driftgate.harness.run_request import RunRequest
from gate.errors import ConfigError
from gate.identity import SeriesIdentity
from gate.provenance import Provenance

RECORDS_FOLDER = Path(".driftgate", "records")
NOT_PASSED = "the test did not pass"


@dataclass(frozen=True, slots=True, eq=False)
class TestReport:
    """One test's attempts and the judgement on the one that passed, ``not_judged`` where none did.

    ``remarks`` are lines about the harness's own work (attempts that could not be stored).
    """

    __test__ = False  # by its name, pytest would take it for a test

    test: Runnable
    attempts: tuple[AttemptResult, ...]
    judgement: Judgement
    exit: JobExit
    remarks: tuple[str, ...] = ()

    @property
    def identity(self) -> SeriesIdentity:
        return self.test.identity

    @property
    def passed(self) -> bool:
        return self.attempts[-1].passed

    @property
    def duration_s(self) -> float:
        return sum(attempt.duration_s for attempt in self.attempts)


@dataclass(frozen=True, slots=True)
class RunResult:
    """``not_run`` are the tests after the one that stopped the run. ``exit`` follows the rule of `combined`.

    ``provenance`` is what is the same for all tests of the call; ``notices`` are about the choice of tests.
    """

    policy: RunPolicy
    tests: tuple[TestReport, ...]
    skipped: tuple[SkippedTest, ...]
    not_run: tuple[SeriesIdentity, ...]
    interrupted: bool
    provenance: Provenance = field(default_factory=Provenance)
    notices: tuple[PlanNotice, ...] = ()

    @property
    def exit(self) -> JobExit:
        exits = [test.exit for test in self.tests]
        return combined([*exits, JobExit.INTERRUPTED] if self.interrupted else exits)


class Progress(Protocol):
    """What happens, as it happens; calls come from the thread that called `run_prepared`."""

    def started(self, tests: Sequence[ReadyTest], skipped: Sequence[SkippedTest], policy: RunPolicy) -> None:
        """Everything is checked, nothing has run yet."""
        ...

    def attempt_started(self, test: Runnable, number: int) -> None: ...

    def attempt_ended(self, test: Runnable, attempt: AttemptResult) -> None: ...

    def attempt_follows(self, test: Runnable, number: int, wait_s: float) -> None:
        """The attempt before it failed; this one begins in so many seconds."""
        ...

    def attempts_over(self, test: Runnable, reason: str) -> None:
        """The last attempt failed, and no other follows although the test's failures are tried again."""
        ...

    def test_ended(self, report: TestReport) -> None:
        """The test has been attempted, judged and, if this run writes, stored."""
        ...


def run_tests(
    request: RunRequest, output: Output, progress: Progress, open_history: OpenHistory | None = None
) -> RunResult:
    """`prepare` and `run_prepared` in one. Raises as both."""
    return run_prepared(prepare(request), output, progress, open_history)


def run_prepared(
    prepared: PreparedRun,
    output: Output,
    progress: Progress,
    open_history: OpenHistory | None = None,
    interruption: Interruption | None = None,
) -> RunResult:
    """Run the tests one after another. What they print goes to ``output`` as bytes.

    Stops after the first red test where fast-fail is on, and at once on SIGINT or SIGTERM; a second signal raises
    KeyboardInterrupt. No process of a test is left running either way. ``interruption``: one that the caller has
    entered, for what comes after the run.

    Raises: ConfigError (a command that cannot be started, a folder for records that cannot be made; later than at the
    first attempt it fails the test).
    """
    request, tests = prepared.request, prepared.tests
    config, file = request.config, request.baseline
    history = open_history or partial(configured_history, config)
    progress.started(tests.ready, tests.skipped, prepared.policy)
    with Interruption() if interruption is None else nullcontext(interruption) as stop:
        runner = _Runner(
            prepared=prepared,
            conditions=Conditions(request.environment, config.base, config.timeouts, output, stop, config.retry),
            progress=progress,
            open_history=history,
            judge=partial(judge, open_history=history) if file is None else FileJudge(file).judge,
            provenance=_provenance(prepared),
        )
        reports = runner.run_all()
    return RunResult(
        policy=prepared.policy,
        tests=reports,
        skipped=tests.skipped,
        not_run=tuple(test.identity for test in tests.ready[len(reports) :]),
        interrupted=stop.requested is not None,
        provenance=runner.provenance,
        notices=tests.notices,
    )


def _provenance(prepared: PreparedRun) -> Provenance:
    found = read_provenance(prepared.request.environment, prepared.request.config)
    shard = prepared.request.selection.shard
    own_shard = found.shard if shard is None else f"{shard.index}/{shard.count}"
    return replace(found, cadence=prepared.policy.cadence.name, shard=own_shard)


@dataclass(frozen=True, slots=True)
class _Runner:
    prepared: PreparedRun
    conditions: Conditions
    progress: Progress
    open_history: OpenHistory
    judge: Callable[[Judgeable, Config], Judgement]
    provenance: Provenance
    call: str = field(default_factory=lambda: uuid.uuid4().hex)

    @property
    def request(self) -> RunRequest:
        return self.prepared.request

    @property
    def writes(self) -> bool:
        return self.prepared.policy.writes

    def run_all(self) -> tuple[TestReport, ...]:
        stop_at_red = self.prepared.policy.fast_fail and not self.request.continue_on_error
        reports: list[TestReport] = []
        for test in self.prepared.tests.ready:
            reports.append(self.run(test))
            self.progress.test_ended(reports[-1])
            red = reports[-1].exit is not JobExit.FINE
            if self.conditions.interruption.requested or (red and stop_at_red):
                break
        return tuple(reports)

    def run(self, test: ReadyTest) -> TestReport:
        attempts = attempted(test.runnable, self.request.config.retry, self._attempting(test.runnable))
        last = attempts[-1]
        provenance = replace(self.provenance, test_attempt=last.number)
        judgeable = Judgeable(
            identity=test.identity,
            specs=test.specs,
            records=last.folder,
            provenance=provenance,
            created_at=datetime.now(UTC),
            writes=self.writes,
            may_enforce=test.identity in self.prepared.enforceable,
        )
        config = self.request.config
        if last.passed:
            judgement = self.judge(judgeable, config)
        else:
            judgement = unjudged(judgeable, config, f"{NOT_PASSED}: {last.detail}")
        remarks = record_attempts(test.identity, attempts, provenance, self.open_history) if self.writes else ()
        red = JobExit.FINE if last.passed or last.attempt_class == "interrupted" else JobExit.TEST_FAILED
        return TestReport(test.runnable, attempts, judgement, combined((red, judgement.exit)), remarks)

    def _attempting(self, test: Runnable) -> Attempting:
        wait_s = self.request.config.retry.wait
        return Attempting(
            attempt=partial(self._attempt, test),
            wait=self.conditions.interruption.wait,
            follows=lambda number: self.progress.attempt_follows(test, number, wait_s),
            over=partial(self.progress.attempts_over, test),
        )

    def _attempt(self, test: Runnable, number: int) -> AttemptResult:
        try:
            attempt = self._made(test, number)
        except ConfigError as error:
            if number == 1 and test is self.prepared.tests.ready[0].runnable:
                raise
            attempt = not_started(number, f"{error}")  # what ran before must not be lost to it
        self.progress.attempt_ended(test, attempt)
        return attempt

    def _made(self, test: Runnable, number: int) -> AttemptResult:
        base = self.request.records or self.request.config.base / RECORDS_FOLDER
        folder = new_attempt_folder(base, test.identity, self.call, number)
        self.progress.attempt_started(test, number)
        attempt = run_attempt(test, number, folder, self.conditions)
        if not attempt.passed and not self.request.keep_failed:
            discard(folder)
        return attempt

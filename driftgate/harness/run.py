"""``driftgate run FILES``: each test attempted, judged where it passed, written where this run writes."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Protocol

from driftgate.config.model import Config
from driftgate.harness.attempts import AttemptResult, Conditions, Runnable, run_attempt
from driftgate.harness.enforcement import may_enforce
from driftgate.harness.given_files import ReadyTest, SkippedTest, read_given_files
from driftgate.harness.history_access import check_history_url, configured_history
from driftgate.harness.interruption import Interruption
from driftgate.harness.judgement import Judgeable, Judgement, OpenHistory, judge, unjudged
from driftgate.harness.outcome import JobExit, combined
from driftgate.harness.policy import RunPolicy, decide
from driftgate.harness.process import Output
from driftgate.harness.provenance import read_provenance
from driftgate.harness.recorded_attempts import record_attempts
from driftgate.harness.records import discard, new_attempt_folder
from driftgate.harness.trigger import Requests, read_trigger
from gate.identity import SeriesIdentity
from gate.provenance import Provenance

RECORDS_FOLDER = Path(".driftgate", "records")
NOT_PASSED = "the test did not pass"


@dataclass(frozen=True, slots=True)
class RunRequest:
    """One call of ``driftgate run FILES``. ``records`` None: `RECORDS_FOLDER` below the configuration's folder.

    ``backend`` and ``suite`` are ``--hw`` and ``--suite``. ``max_attempts`` counts the first attempt too.
    """

    files: tuple[Path, ...]
    config: Config
    environment: Mapping[str, str]
    requests: Requests = field(default_factory=Requests)
    backend: str | None = None
    suite: str | None = None
    records: Path | None = None
    continue_on_error: bool = False
    keep_failed: bool = False
    max_attempts: int = 1


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

    ``provenance`` is what is the same for all tests of the call.
    """

    policy: RunPolicy
    tests: tuple[TestReport, ...]
    skipped: tuple[SkippedTest, ...]
    not_run: tuple[SeriesIdentity, ...]
    interrupted: bool
    provenance: Provenance = field(default_factory=Provenance)

    @property
    def exit(self) -> JobExit:
        exits = [test.exit for test in self.tests]
        return combined([*exits, JobExit.INTERRUPTED] if self.interrupted else exits)


class Progress(Protocol):
    """What happens, as it happens; calls come from the thread that called `run_files`."""

    def started(self, tests: Sequence[ReadyTest], skipped: Sequence[SkippedTest], policy: RunPolicy) -> None:
        """Everything is checked, nothing has run yet."""
        ...

    def attempt_started(self, test: Runnable, number: int) -> None: ...

    def attempt_ended(self, test: Runnable, attempt: AttemptResult) -> None: ...

    def test_ended(self, report: TestReport) -> None:
        """The test has been attempted, judged and, if this run writes, stored."""
        ...


def run_files(
    request: RunRequest, output: Output, progress: Progress, open_history: OpenHistory | None = None
) -> RunResult:
    """Run the files in the order given. What the tests print goes to ``output`` as bytes.

    Stops after the first red test where fast-fail is on, and at once on SIGINT or SIGTERM; a second signal raises
    KeyboardInterrupt. No process of a test is left running either way.

    Raises: SourceError, ConfigError, both before any test has started (but for a command that cannot be started).
    """
    config = request.config
    check_history_url(config)
    policy = decide(read_trigger(request.environment, request.requests), config)
    given = read_given_files(request.files, config, request.backend, request.suite)
    enforceable = {test.identity: _may_enforce(test, request) for test in given.ready}
    progress.started(given.ready, given.skipped, policy)
    with Interruption() as interruption:
        runner = _Runner(
            request=request,
            conditions=Conditions(request.environment, config.base, config.timeouts, output, interruption),
            progress=progress,
            open_history=open_history or partial(configured_history, config),
            provenance=replace(read_provenance(request.environment, config), cadence=policy.cadence.name),
            policy=policy,
        )
        reports = runner.run_all(given.ready, enforceable)
    return RunResult(
        policy=policy,
        tests=reports,
        skipped=given.skipped,
        not_run=tuple(test.identity for test in given.ready[len(reports) :]),
        interrupted=interruption.requested is not None,
        provenance=runner.provenance,
    )


def _may_enforce(test: ReadyTest, request: RunRequest) -> bool:
    return may_enforce(test.identity.test_path, request.config.enforcement, request.environment)


@dataclass(frozen=True, slots=True)
class _Runner:
    request: RunRequest
    conditions: Conditions
    progress: Progress
    open_history: OpenHistory
    provenance: Provenance
    policy: RunPolicy
    call: str = field(default_factory=lambda: uuid.uuid4().hex)

    def run_all(self, tests: Sequence[ReadyTest], enforceable: Mapping[SeriesIdentity, bool]) -> tuple[TestReport, ...]:
        stop_at_red = self.policy.fast_fail and not self.request.continue_on_error
        reports: list[TestReport] = []
        for test in tests:
            reports.append(self.run(test, may_enforce=enforceable[test.identity]))
            self.progress.test_ended(reports[-1])
            red = reports[-1].exit is not JobExit.FINE
            if self.conditions.interruption.requested or (red and stop_at_red):
                break
        return tuple(reports)

    def run(self, test: ReadyTest, *, may_enforce: bool) -> TestReport:
        attempts = self._attempts(test.runnable)
        last = attempts[-1]
        provenance = replace(self.provenance, test_attempt=last.number)
        judgeable = Judgeable(
            identity=test.identity,
            specs=test.specs,
            records=last.folder,
            provenance=provenance,
            created_at=datetime.now(UTC),
            writes=self.policy.writes,
            may_enforce=may_enforce,
        )
        config = self.request.config
        if last.passed:
            judgement = judge(judgeable, config, self.open_history)
        else:
            judgement = unjudged(judgeable, config, f"{NOT_PASSED}: {last.detail}")
        remarks = record_attempts(test.identity, attempts, provenance, self.open_history) if self.policy.writes else ()
        red = JobExit.FINE if last.passed or last.attempt_class == "interrupted" else JobExit.TEST_FAILED
        return TestReport(test.runnable, attempts, judgement, combined((red, judgement.exit)), remarks)

    def _attempts(self, test: Runnable) -> tuple[AttemptResult, ...]:
        attempts: list[AttemptResult] = []
        for number in range(1, self.request.max_attempts + 1):
            attempts.append(self._attempt(test, number))
            if attempts[-1].attempt_class in {"pass", "interrupted"}:
                break
        return tuple(attempts)

    def _attempt(self, test: Runnable, number: int) -> AttemptResult:
        base = self.request.records or self.request.config.base / RECORDS_FOLDER
        folder = new_attempt_folder(base, test.identity, self.call, number)
        self.progress.attempt_started(test, number)
        attempt = run_attempt(test, number, folder, self.conditions)
        if not attempt.passed and not self.request.keep_failed:
            discard(folder)
        self.progress.attempt_ended(test, attempt)
        return attempt

"""Flaky or really broken: stored attempts grouped into executions, and each test by what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby, takewhile
from typing import Literal

from gate.identity import SeriesIdentity
from store.contract import Attempt

PASSED = "pass"
MOST_ATTEMPTS_READ = 30
"""Of one execution, retries and reruns together: so many rows are read for each execution that is asked for."""


@dataclass(frozen=True, slots=True)
class TestRecord:
    """One test in one suite. Its executions: ``passed`` all attempts passed, ``flaky`` some did, ``failed`` none did.

    ``streak``: how many of the newest executions in a row failed. ``classes``: how often its attempts failed how, the
    most frequent first. The times are of the newest flaky and of the newest failed execution.
    """

    __test__ = False  # by its name, pytest would take it for a test

    identity: SeriesIdentity
    passed: int
    flaky: int
    failed: int
    streak: int
    classes: Mapping[str, int]
    last_flaky_at: datetime | None
    last_failed_at: datetime | None

    @property
    def executions(self) -> int:
        return self.passed + self.flaky + self.failed

    @property
    def flake_rate(self) -> float:
        """The part of the executions that were flaky."""
        return self.flaky / self.executions

    @property
    def always_fails(self) -> bool:
        return self.failed == self.executions


@dataclass(frozen=True, slots=True)
class Flakes:
    """``flaky``: tests with a flaky execution, the highest rate first. ``failing``: tests with a failed one, longest
    streak first; a test that once passed on retry and once never stands in both. ``tests`` and ``executions``: how
    many were looked at.
    """

    flaky: tuple[TestRecord, ...]
    failing: tuple[TestRecord, ...]
    tests: int
    executions: int


def find_flakes(attempts: Iterable[Attempt], newest: int | None = None) -> Flakes:
    """``newest``: only so many executions of each test.

    An execution is what one CI run made of one test, retries and reruns of the job together; outside of CI, an
    attempt 1 with the retries after it. Attempts that both pass and fail on one code are flaky, in whatever order.
    """
    by_test = groupby(sorted(attempts, key=_by_test), key=lambda attempt: attempt.identity)
    records = [_record(identity, _executions(list(own))[:newest]) for identity, own in by_test]
    return Flakes(
        flaky=tuple(sorted((r for r in records if r.flaky), key=lambda r: (-r.flake_rate, r.identity))),
        failing=tuple(sorted((r for r in records if r.failed), key=lambda r: (-r.streak, -r.failed, r.identity))),
        tests=len(records),
        executions=sum(record.executions for record in records),
    )


def _by_test(attempt: Attempt) -> tuple[SeriesIdentity, datetime, int]:
    return attempt.identity, attempt.started_at, attempt.test_attempt


def _executions(oldest_first: Sequence[Attempt]) -> list[list[Attempt]]:
    """Newest first, by the start of the first attempt."""
    found: dict[object, list[Attempt]] = {}
    local = 0
    for attempt in oldest_first:
        local += attempt.ci_run_id is None and attempt.test_attempt <= 1
        key = ("local", local) if attempt.ci_run_id is None else ("ci", attempt.ci_run_id)
        found.setdefault(key, []).append(attempt)
    return list(found.values())[::-1]


def _record(identity: SeriesIdentity, newest_first: Sequence[Sequence[Attempt]]) -> TestRecord:
    outcomes = [_outcome(execution) for execution in newest_first]
    counts = Counter(outcomes)
    failures = Counter(a.attempt_class for execution in newest_first for a in execution if a.attempt_class != PASSED)
    return TestRecord(
        identity=identity,
        passed=counts["passed"],
        flaky=counts["flaky"],
        failed=counts["failed"],
        streak=sum(1 for _ in takewhile(lambda outcome: outcome == "failed", outcomes)),
        classes=dict(sorted(failures.items(), key=lambda item: (-item[1], item[0]))),
        last_flaky_at=next(_times(newest_first, outcomes, "flaky"), None),
        last_failed_at=next(_times(newest_first, outcomes, "failed"), None),
    )


def _outcome(execution: Sequence[Attempt]) -> Literal["passed", "flaky", "failed"]:
    passed = [attempt.attempt_class == PASSED for attempt in execution]
    return "passed" if all(passed) else "flaky" if any(passed) else "failed"


def _times(executions: Sequence[Sequence[Attempt]], outcomes: Sequence[str], wanted: str) -> Iterator[datetime]:
    for execution, outcome in zip(executions, outcomes, strict=True):
        if outcome == wanted:
            yield execution[-1].started_at

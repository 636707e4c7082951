"""One execution of one test file, and what became of it."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from driftgate.config.model import Retry, Timeouts
from driftgate.harness.credentials import without_credentials
from driftgate.harness.failure_class import FailureClass, failed, timed_out
from driftgate.harness.interpreter import interpreter_command
from driftgate.harness.interruption import Interruption
from driftgate.harness.process import Ended, Execution, Output, run_process
from gate.identity import SeriesIdentity

EST_TIME_FACTOR = 1.25

AttemptClass = Literal["pass", "fail", "timeout", "interrupted"]


@dataclass(frozen=True, slots=True)
class Runnable:
    """A test ready to be started. ``metrics`` are the keys its collector keeps; ``est_time_s`` is a guess.

    ``retry``: a failed attempt may be followed by another.
    """

    identity: SeriesIdentity
    file: Path
    command: tuple[str, ...]
    metrics: tuple[str, ...]
    est_time_s: float
    retry: bool = False


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """``detail`` says in a few words how it ended; ``folder`` holds its record unless that was discarded.

    ``failure`` is there where it failed or ran out of time; ``exit_code`` None: it was not started, or would not end.
    """

    number: int
    attempt_class: AttemptClass
    detail: str
    started_at: datetime
    duration_s: float
    exit_code: int | None
    folder: Path
    last_lines: tuple[str, ...]
    failure: FailureClass | None = None

    @property
    def passed(self) -> bool:
        return self.attempt_class == "pass"


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is the same for all attempts of one call of the harness. ``environment`` is the harness's own; ``retry``
    has the classes of failures.
    """

    environment: Mapping[str, str]
    folder: Path
    timeouts: Timeouts
    output: Output
    interruption: Interruption
    retry: Retry = field(default_factory=Retry)


def run_attempt(test: Runnable, number: int, records: Path, conditions: Conditions) -> AttemptResult:
    """Run the test once with ``records`` as its record directory; nothing that it started is left running.

    Raises: ConfigError (its command cannot be started).
    """
    timeout_s = timeout_of(test.est_time_s, conditions.timeouts, retry=test.retry)
    execution = Execution(
        command=filled_command(test.command, test.file),
        environment=child_environment(conditions.environment, test, number, records),
        folder=conditions.folder,
        timeout_s=timeout_s,
        kill_grace_s=conditions.timeouts.kill_grace,
    )
    started_at = datetime.now(UTC)
    ended = run_process(execution, conditions.output, conditions.interruption)
    attempt_class = classified(ended)
    return AttemptResult(
        number=number,
        attempt_class=attempt_class,
        detail=_detail(ended, timeout_s),
        started_at=started_at,
        duration_s=ended.duration_s,
        exit_code=ended.exit_code,
        folder=records,
        last_lines=ended.last_lines,
        failure=_failure(ended, attempt_class, conditions.retry),
    )


def not_started(number: int, why: str) -> AttemptResult:
    """The attempt that failed before its test began."""
    return AttemptResult(number, "fail", f"not started: {why}", datetime.now(UTC), 0.0, None, Path(), ())


def timeout_of(est_time_s: float, timeouts: Timeouts, *, retry: bool) -> float:
    """Seconds a test may take: the configured time, or its own estimate with a quarter more; with retry on, longer."""
    least = max(timeouts.timeout_per_file, EST_TIME_FACTOR * est_time_s)
    return least + timeouts.retry_timeout_increase if retry else least


def filled_command(template: Sequence[str], file: Path) -> tuple[str, ...]:
    """``{python}`` as an argument of its own is this interpreter with its options; ``{file}`` the absolute path."""
    python = interpreter_command()
    filled: list[str] = []
    for argument in template:
        if argument == "{python}":
            filled += python
        else:
            filled.append(argument.replace("{python}", python[0]).replace("{file}", str(file)))
    return tuple(filled)


def child_environment(parent: Mapping[str, str], test: Runnable, number: int, records: Path) -> dict[str, str]:
    """The harness's environment without credentials, with what the collector needs, and unbuffered."""
    return {
        "PYTHONUNBUFFERED": "1",
        **without_credentials(parent),
        "DRIFTGATE_RECORD_DIR": str(records),
        "DRIFTGATE_METRICS": json.dumps(test.metrics),
        "DRIFTGATE_ATTEMPT": str(number),
    }


def classified(ended: Ended) -> AttemptClass:
    if ended.ending != "exited":
        return ended.ending
    return "pass" if ended.exit_code == 0 else "fail"


def _failure(ended: Ended, attempt_class: AttemptClass, retry: Retry) -> FailureClass | None:
    if attempt_class == "timeout":
        return timed_out(retry)
    if attempt_class == "fail":
        return failed(ended.last_lines, retry, signal=_signal(ended.exit_code))
    return None


def _detail(ended: Ended, timeout_s: float) -> str:
    parts = [_ending(ended, timeout_s)]
    if ended.ending == "exited" and ended.leftovers:
        parts.append(f"left behind and ended: {_processes(ended.leftovers)}")
    if ended.survivors:
        parts.append(f"could not be ended: {_processes(ended.survivors)}")
    return "; ".join(parts)


def _processes(number: int) -> str:
    return "1 process" if number == 1 else f"{number} processes"


def _ending(ended: Ended, timeout_s: float) -> str:
    if ended.ending == "timeout":
        return f"timed out after {timeout_s:g} s"
    if ended.ending == "interrupted":
        return "interrupted"
    signal_name = _signal(ended.exit_code)
    return f"killed by {signal_name}" if signal_name else f"exit code {ended.exit_code or 0}"


def _signal(exit_code: int | None) -> str:
    """The name of the signal that ended a process, empty where it ended by itself."""
    if exit_code is None or exit_code >= 0:
        return ""
    try:
        return signal.Signals(-exit_code).name
    except ValueError:
        return f"signal {-exit_code}"

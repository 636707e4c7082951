"""One execution of one test file, and what became of it."""

from __future__ import annotations

import json
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from driftgate.config.model import Timeouts
from driftgate.harness.credentials import without_credentials
from driftgate.harness.interpreter import interpreter_command
from driftgate.harness.interruption import Interruption
from driftgate.harness.process import Ended, Execution, Output, run_process
from gate.identity import SeriesIdentity

EST_TIME_FACTOR = 1.25

AttemptClass = Literal["pass", "fail", "timeout", "interrupted"]


@dataclass(frozen=True, slots=True)
class Runnable:
    """A test ready to be started. ``metrics`` are the keys its collector keeps; ``est_time_s`` is a guess."""

    identity: SeriesIdentity
    file: Path
    command: tuple[str, ...]
    metrics: tuple[str, ...]
    est_time_s: float


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """``detail`` says in a few words how it ended; ``folder`` holds its record unless that was discarded."""

    number: int
    attempt_class: AttemptClass
    detail: str
    started_at: datetime
    duration_s: float
    exit_code: int | None
    folder: Path
    last_lines: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return self.attempt_class == "pass"


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is the same for all attempts of one call of the harness. ``environment`` is the harness's own."""

    environment: Mapping[str, str]
    folder: Path
    timeouts: Timeouts
    output: Output
    interruption: Interruption


def run_attempt(test: Runnable, number: int, records: Path, conditions: Conditions) -> AttemptResult:
    """Run the test once with ``records`` as its record directory; nothing that it started is left running.

    Raises: ConfigError (its command cannot be started).
    """
    timeout_s = timeout_of(test.est_time_s, conditions.timeouts)
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
    )


def timeout_of(est_time_s: float, timeouts: Timeouts) -> float:
    """Seconds a test may take: the configured time, or its own estimate with a quarter more."""
    return max(timeouts.timeout_per_file, EST_TIME_FACTOR * est_time_s)


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
    code = ended.exit_code or 0
    return f"killed by {_signal_name(-code)}" if code < 0 else f"exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

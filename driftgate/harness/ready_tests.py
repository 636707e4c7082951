"""Tests with all that their start needs, checked before the first of them starts."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from driftgate.config.model import Config
from driftgate.harness.attempts import EST_TIME_FACTOR, Runnable, timeout_of
from driftgate.harness.plan_notice import PlanNotice
from driftgate.harness.records import SEED_METRIC
from driftgate.harness.registrations import Registration
from driftgate.harness.retrying import is_retried
from driftgate.harness.test_files import TestFile, root_of
from gate.errors import ConfigError, Problem, SourceError
from gate.identity import SeriesIdentity
from gate.spec import GateSpec


@dataclass(frozen=True, slots=True)
class ReadyTest:
    """One file in the suite that executes it, with what it declares to be judged.

    ``learned_s``: seconds that it usually takes, where they have been learned.
    """

    runnable: Runnable
    specs: tuple[GateSpec, ...]
    learned_s: float | None = None

    @property
    def expected_s(self) -> float:
        return self.runnable.est_time_s if self.learned_s is None else self.learned_s

    @property
    def identity(self) -> SeriesIdentity:
        return self.runnable.identity


@dataclass(frozen=True, slots=True)
class SkippedTest:
    """A registration that is not run, and why."""

    identity: SeriesIdentity
    reason: str


@dataclass(frozen=True, slots=True)
class ReadyTests:
    """``ready`` in the order in which they run. ``notices`` are about the choice of them."""

    ready: tuple[ReadyTest, ...]
    skipped: tuple[SkippedTest, ...]
    notices: tuple[PlanNotice, ...] = ()


@dataclass(frozen=True, slots=True)
class Placed:
    """A registration of a file, and the suite that executes it. ``learned_s`` as of `ReadyTest`."""

    test: TestFile
    registration: Registration
    suite: str
    learned_s: float | None = None

    def identity(self, project: str) -> SeriesIdentity:
        return SeriesIdentity(project, self.test.test_path, self.registration.backend, self.suite)


def disabled_test(placed: Placed, config: Config) -> SkippedTest:
    return SkippedTest(placed.identity(config.project), f"disabled: {placed.registration.disabled}")


def made_ready(places: Iterable[Placed], config: Config, *, retry: bool | None) -> tuple[ReadyTest, ...]:
    """``retry`` is ``--retry`` or ``--no-retry``.

    Raises: SourceError (an estimate that asks for more time than any test may take), ConfigError (timeouts that
    together are too long, a command that is no program).
    """
    ready, too_long = [], []
    for placed in places:
        runnable = _runnable(placed, config, retry=retry)
        ready.append(ReadyTest(runnable, placed.test.specs, placed.learned_s))
        if timeout_of(runnable.est_time_s, config.timeouts, retry=runnable.retry) > config.timeouts.cap:
            too_long.append(_too_long(placed, runnable, config))
    if too_long:
        raise SourceError(tuple(too_long))
    for program in dict.fromkeys(test.runnable.command[0] for test in ready):
        _check_startable(program, config.base)
    return tuple(ready)


def _runnable(placed: Placed, config: Config, *, retry: bool | None) -> Runnable:
    declared = (spec.metric_key for spec in placed.test.specs)
    return Runnable(
        identity=placed.identity(config.project),
        file=placed.test.path,
        command=_command(placed, config),
        metrics=tuple(dict.fromkeys((*config.capture_metrics, *declared, SEED_METRIC))),
        est_time_s=placed.registration.est_time_s,
        retry=is_retried(placed.suite, config, asked=retry),
    )


def _command(placed: Placed, config: Config) -> tuple[str, ...]:
    """The suite's own command, else the root's, else the configured one."""
    suite, root = config.suites.get(placed.suite), root_of(placed.test.test_path, config)
    return (suite and suite.command) or (root and root.command) or config.command


def _too_long(placed: Placed, runnable: Runnable, config: Config) -> Problem:
    """Raises ConfigError where the configured time alone is too long."""
    timeouts = config.timeouts
    if timeout_of(0, timeouts, retry=runnable.retry) > timeouts.cap:
        raise ConfigError(
            f"timeouts.retry_timeout_increase: {timeouts.retry_timeout_increase:g} more than timeouts.timeout_per_file "
            f"{timeouts.timeout_per_file:g} is above timeouts.cap {timeouts.cap:g}; lower one, or give --no-retry"
        )
    more = f" and timeouts.retry_timeout_increase {timeouts.retry_timeout_increase:g}" if runnable.retry else ""
    text = f"{EST_TIME_FACTOR:g} x {runnable.est_time_s:g} s{more} is above timeouts.cap {timeouts.cap:g}; lower it"
    declared = placed.registration
    call = "" if declared.implicit else f"register_{declared.backend}_ci"
    return Problem(placed.test.test_path, declared.line, call, "est_time", text)


def _check_startable(program: str, folder: Path) -> None:
    """``{python}`` always is; a program with a slash in its name is looked for in ``folder``, where tests run."""
    where = folder / program if "/" in program else program
    if program != "{python}" and shutil.which(where) is None:
        raise ConfigError(f"command: {program!r} is not an executable program; correct command in the configuration")

"""The files given to one call of ``run``, checked all at once and made ready before anything starts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from driftgate.config.model import BACKENDS, Config
from driftgate.harness.attempts import Runnable
from driftgate.harness.known_names import check_known
from driftgate.harness.records import SEED_METRIC
from driftgate.harness.registrations import Registration
from driftgate.harness.test_files import TestFile, read_test_file, root_of, unregistered
from gate.errors import ConfigError, Problem, SourceError
from gate.identity import SeriesIdentity
from gate.spec import GateSpec
from gate.wording import listed


@dataclass(frozen=True, slots=True)
class ReadyTest:
    """One file at one of its home suites, with what it declares to be judged."""

    runnable: Runnable
    specs: tuple[GateSpec, ...]

    @property
    def identity(self) -> SeriesIdentity:
        return self.runnable.identity


@dataclass(frozen=True, slots=True)
class SkippedTest:
    """A registration that is not run, and why."""

    identity: SeriesIdentity
    reason: str


@dataclass(frozen=True, slots=True)
class GivenFiles:
    """In the order given; a file registered for several suites comes once for each."""

    ready: tuple[ReadyTest, ...]
    skipped: tuple[SkippedTest, ...]


def read_given_files(files: Sequence[Path], config: Config, backend: str | None, suite: str | None) -> GivenFiles:
    """Read the files at their home suites; ``backend`` and ``suite`` keep only the registrations that have them.

    Raises: SourceError (every mistake of every file, a missing one too), ConfigError (a backend or suite that does
    not exist, or that none of a file's registrations has).
    """
    check_known("--hw", backend, BACKENDS)
    check_known("--suite", suite, config.suites)
    tests = [read_test_file(path, config.repository, config) for path in dict.fromkeys(map(Path.absolute, files))]
    problems = tuple(problem for test in tests for problem in _problems(test))
    if problems:
        raise SourceError(problems)
    chosen = [(test, found) for test in tests for found in _registrations(test, backend, suite)]
    given = GivenFiles(
        tuple(_ready(test, found, config) for test, found in chosen if found.disabled is None),
        tuple(
            SkippedTest(_identity(test, found, config), f"disabled: {found.disabled}")
            for test, found in chosen
            if found.disabled is not None
        ),
    )
    for program in dict.fromkeys(ready.runnable.command[0] for ready in given.ready):
        _check_startable(program, config.base)
    return given


def _check_startable(program: str, folder: Path) -> None:
    """``{python}`` always is; a program with a slash in its name is looked for in ``folder``, where tests run."""
    where = folder / program if "/" in program else program
    if program != "{python}" and shutil.which(where) is None:
        raise ConfigError(f"command: {program!r} is not an executable program; correct command in the configuration")


def _problems(test: TestFile) -> Iterator[Problem]:
    yield from test.problems
    yield from unregistered(test)


def _registrations(test: TestFile, backend: str | None, suite: str | None) -> list[Registration]:
    found = [
        registration
        for registration in test.registrations
        if backend in (None, registration.backend) and suite in (None, registration.suite)
    ]
    if not found:
        places = listed(f"{registration.backend} {registration.suite}" for registration in test.registrations)
        raise ConfigError(f"{test.test_path}: registered for {places}, not for what --hw and --suite ask")
    return found


def _identity(test: TestFile, registration: Registration, config: Config) -> SeriesIdentity:
    return SeriesIdentity(config.project, test.test_path, registration.backend, registration.suite)


def _ready(test: TestFile, registration: Registration, config: Config) -> ReadyTest:
    metrics = dict.fromkeys((*config.capture_metrics, *(spec.metric_key for spec in test.specs), SEED_METRIC))
    runnable = Runnable(
        identity=_identity(test, registration, config),
        file=test.path,
        command=_command(test, registration, config),
        metrics=tuple(metrics),
        est_time_s=registration.est_time_s,
    )
    return ReadyTest(runnable, test.specs)


def _command(test: TestFile, registration: Registration, config: Config) -> tuple[str, ...]:
    """The suite's own command, else the root's, else the configured one."""
    suite, root = config.suites.get(registration.suite), root_of(test.test_path, config)
    return (suite and suite.command) or (root and root.command) or config.command

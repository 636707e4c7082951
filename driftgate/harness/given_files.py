"""The files given to one call of ``run``, each at its home suites, whatever labels and cadence say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from driftgate.config.model import BACKENDS
from driftgate.harness.known_names import check_known
from driftgate.harness.ready_tests import Placed, ReadyTests, disabled_test, made_ready
from driftgate.harness.registrations import Registration
from driftgate.harness.run_request import RunRequest
from driftgate.harness.test_files import TestFile, read_test_file, unregistered
from gate.errors import ConfigError, Problem, SourceError
from gate.wording import listed


def given_files(request: RunRequest) -> ReadyTests:
    """In the order given; a file registered for several suites comes once for each.

    ``hw`` and ``suite`` of the request keep only the registrations that have them.

    Raises: SourceError (every mistake of every file, a missing one too), ConfigError (a backend or suite that does
    not exist, or that none of a file's registrations has).
    """
    config = request.config
    check_known("--hw", request.hw, BACKENDS)
    check_known("--suite", request.suite, config.suites)
    paths = dict.fromkeys(map(Path.absolute, request.files))
    tests = [read_test_file(path, config.repository, config) for path in paths]
    problems = tuple(problem for test in tests for problem in _problems(test))
    if problems:
        raise SourceError(problems)
    chosen = [Placed(test, found, found.suite) for test in tests for found in _registrations(test, request)]
    return ReadyTests(
        made_ready((placed for placed in chosen if placed.registration.disabled is None), config, retry=request.retry),
        tuple(disabled_test(placed, config) for placed in chosen if placed.registration.disabled is not None),
    )


def _problems(test: TestFile) -> Iterator[Problem]:
    yield from test.problems
    yield from unregistered(test)


def _registrations(test: TestFile, request: RunRequest) -> list[Registration]:
    found = [
        registration
        for registration in test.registrations
        if request.hw in (None, registration.backend) and request.suite in (None, registration.suite)
    ]
    if not found:
        places = listed(f"{registration.backend} {registration.suite}" for registration in test.registrations)
        raise ConfigError(f"{test.test_path}: registered for {places}, not for what --hw and --suite ask")
    return found

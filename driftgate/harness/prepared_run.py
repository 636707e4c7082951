"""Everything about a run that can be wrong, found before its first test starts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from driftgate.harness.enforcement import may_enforce
from driftgate.harness.file_judgement import shadow_policy
from driftgate.harness.given_files import given_files
from driftgate.harness.history_access import check_history_url
from driftgate.harness.plan import make_plan
from driftgate.harness.planned_tests import plan_request, planned_tests
from driftgate.harness.policy import RunPolicy, decide
from driftgate.harness.ready_tests import ReadyTest, ReadyTests
from driftgate.harness.run_request import RunRequest, Selection
from driftgate.harness.trigger import Trigger, read_trigger
from gate.errors import ConfigError
from gate.identity import SeriesIdentity


@dataclass(frozen=True, slots=True)
class PreparedRun:
    """``enforceable``: the series whose verdict may fail the job."""

    request: RunRequest
    policy: RunPolicy
    tests: ReadyTests
    enforceable: frozenset[SeriesIdentity]


def prepare(request: RunRequest) -> PreparedRun:
    """Raises: SourceError (every mistake of every file), ConfigError (anything else that cannot be run as asked)."""
    if request.baseline is None:
        check_history_url(request.config)
    trigger = read_trigger(request.environment, request.requests)
    policy, tests = _of_files(request, trigger) if request.files else _of_plan(request, trigger)
    _check_retry(tests.ready, request)
    if request.baseline is not None:
        return PreparedRun(request, shadow_policy(policy, request.requests), tests, frozenset())
    return PreparedRun(request, policy, tests, frozenset(_enforceable(tests.ready, request)))


def _of_files(request: RunRequest, trigger: Trigger) -> tuple[RunPolicy, ReadyTests]:
    if request.selection != Selection():
        raise ConfigError("FILE: the files given are run as they are; leave out the options that select from the plan")
    policy = decide(trigger, request.config)
    return policy, replace(given_files(request), notices=policy.warnings)


def _of_plan(request: RunRequest, trigger: Trigger) -> tuple[RunPolicy, ReadyTests]:
    plan = make_plan(plan_request(request, trigger))
    return plan.rules.policy, planned_tests(plan, retry=request.retry)


def _check_retry(ready: Iterable[ReadyTest], request: RunRequest) -> None:
    """An option about attempts where none will be repeated is a mistake, not a wish."""
    sources = request.config.sources
    given = [key for key in ("retry.max_attempts", "retry.wait") if sources.get(key, "").startswith("option")]
    tests = list(ready)
    if given and tests and not any(test.runnable.retry for test in tests):
        option = {"retry.max_attempts": "--max-attempts", "retry.wait": "--retry-wait"}[given[0]]
        raise ConfigError(f"{option}: no test of this run is tried again; add --retry, or leave it out")


def _enforceable(ready: Iterable[ReadyTest], request: RunRequest) -> Iterable[SeriesIdentity]:
    rules, environment = request.config.enforcement, request.environment
    return (test.identity for test in ready if may_enforce(test.identity.test_path, rules, environment))

"""The tests of a plan, ready to be run on this machine."""

from __future__ import annotations

from collections.abc import Iterator

from driftgate.harness.considering import Considered
from driftgate.harness.plan import Plan, PlanRequest
from driftgate.harness.plan_notice import PlanNotice
from driftgate.harness.ready_tests import Placed, ReadyTests, SkippedTest, disabled_test, made_ready
from driftgate.harness.run_request import RunRequest
from driftgate.harness.trigger import Trigger
from gate.errors import ConfigError
from gate.wording import listed

_WHY = "driftgate plan --explain FILE says why"


def plan_request(request: RunRequest, trigger: Trigger) -> PlanRequest:
    """The plan that a call without files is to run."""
    selection = request.selection
    return PlanRequest(
        config=request.config,
        trigger=trigger,
        hw=request.hw,
        suite=request.suite,
        shard=selection.shard,
        file=selection.file,
        changed_files=selection.changed_files,
        durations=selection.durations,
        match_all_labels=selection.match_all_labels,
    )


def planned_tests(plan: Plan, *, retry: bool | None) -> ReadyTests:
    """In plan order, each in the suite that executes it.

    Raises: SourceError, ConfigError as `made_ready`; ConfigError also where the plan is for more than one machine.
    """
    config = plan.request.config
    backends = dict.fromkeys(test.registration.backend for test in plan.tests)
    if len(backends) > 1:
        raise ConfigError(f"the plan has tests for {listed(backends)}, this is one machine; give --suite or --hw")
    places = [Placed(test.test, test.registration, test.suite, test.cost_s) for test in plan.tests]
    disabled = (disabled_test(_at_home(one), config) for one in plan.disabled)
    notices = plan.warnings if places else (*plan.warnings, _nothing(plan))
    return ReadyTests(made_ready(places, config, retry=retry), (*disabled, *_not_there(plan)), notices)


def _not_there(plan: Plan) -> Iterator[SkippedTest]:
    """Tests that labels ask for on a generation where they do not run."""
    for one in plan.covered:
        for skipped in one.skipped:
            yield SkippedTest(_at_home(one).identity(plan.request.config.project), skipped.reason)


def _at_home(one: Considered) -> Placed:
    return Placed(one.test, one.registration, one.registration.suite)


def _nothing(plan: Plan) -> PlanNotice:
    elsewhere = sum(len(suite.tests) for suite in plan.suites)
    if elsewhere and plan.request.shard is not None:
        shard = plan.request.shard
        return PlanNotice("nothing_to_run", f"nothing to run: shard {shard.index}/{shard.count} is empty")
    counts = f"{len(plan.not_selected)} not selected, {len(plan.disabled)} disabled"
    return PlanNotice("nothing_to_run", f"nothing to run: {counts}; {_WHY}")

"""A plan for people. Pure; standard library only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from driftgate.harness.plan import Plan, PlannedSuite, PlannedTest
from driftgate.harness.sharding import counted_cost
from driftgate.harness.spans import span
from gate.wording import clipped, listed, printable


def plan_lines(plan: Plan) -> Iterator[str]:
    yield from _head(plan)
    for suite in plan.suites:
        if suite.need.needed:
            yield ""
            yield from _suite(suite, plan)
    yield from _section("not needed", (f"{suite.name}: {suite.need.reason}" for suite in _idle(plan)))
    yield from _section("disabled", _disabled(plan))
    yield from _section("not selected (--explain FILE says more)", _not_selected(plan))
    yield from _section("warnings", (printable(warning.text) for warning in plan.warnings))
    yield ""
    yield _total(plan)


def _head(plan: Plan) -> Iterator[str]:
    policy = plan.rules.policy
    trigger = plan.request.trigger
    event = trigger.requests.event or trigger.event
    facts = (f"event {printable(event)}" if event else "", f"labels {listed(policy.labels)}" if policy.labels else "")
    yield listed((f"plan of cadence {policy.cadence.name}", *filter(None, facts)))
    if policy.fork:
        yield "NOT EVIDENCE: a fork has no secrets and no image of its own; neither its red nor its green is proof"
    yield f"baseline: {'this run writes it' if policy.writes else f'not written, {policy.reason}'}"
    how = "off, nothing waits for another suite" if plan.bypass_fast_fail else "on, a failure ends what waits for it"
    yield f"fast-fail: {how}"
    if plan.effects is not None:
        affecting = sum(bool(effect.suites) for effect in plan.effects)
        yield f"changed files: {len(plan.effects)}, of them {affecting} with an effect on suites"


def _suite(planned: PlannedSuite, plan: Plan) -> Iterator[str]:
    suite = plan.request.config.suites[planned.name]
    gpus = f", {suite.gpus} GPUs" if suite.backend != "cpu" and suite.gpus else ""
    kind = listed(filter(None, (suite.backend, suite.generation)))
    runner = f" on [{listed(suite.runner)}]" if suite.runner else ""
    waits = f", after {listed(planned.waits_for)}" if planned.waits_for else ""
    yield f"{suite.name} ({kind}{gpus}){runner}{waits}: {_amount(planned.tests)}"
    for index in plan.shards_of(planned):
        tests = planned.in_shard(index)
        if planned.shards > 1:
            yield f"  shard {index}/{planned.shards}: {_amount(tests) if tests else 'empty, nothing to run'}"
        yield from (f"  {'  ' * (planned.shards > 1)}{_test(test)}" for test in tests)


def _test(test: PlannedTest) -> str:
    registration = test.registration
    gates = len(test.test.specs)
    notes = (
        f"labels {listed(registration.labels)}" if registration.labels else "",
        f"{gates} gate{'s' * (gates != 1)}" if gates else "",
        f"from {registration.suite}" if registration.suite != test.suite else "",
        "nightly" if registration.nightly else "",
    )
    more = listed(filter(None, notes))
    return f"{printable(test.test.test_path)}  {span(test.cost_s)}{f'  ({more})' if more else ''}"


def _idle(plan: Plan) -> Iterator[PlannedSuite]:
    return (suite for suite in plan.suites if not suite.need.needed)


def _disabled(plan: Plan) -> Iterator[str]:
    for one in plan.disabled:
        reason = printable(clipped(one.registration.disabled or ""))
        yield f"{printable(one.test.test_path)} ({one.registration.suite}): {reason}"


def _not_selected(plan: Plan) -> Iterator[str]:
    """Files by reason, the most frequent first; one that a label asked for in vain is named."""
    reasons = Counter(one.decision.reason for one in plan.not_selected)
    for reason, count in reasons.most_common():
        yield f"{count} x {printable(reason)}"
    for one in plan.covered:
        for place in one.skipped:
            yield f"{printable(one.test.test_path)} not on {place.generation}: {place.reason}"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield ""
        yield f"{title}:"
        yield from (f"  {line}" for line in found)


def _total(plan: Plan) -> str:
    if not plan.tests:
        return "nothing to run"
    suites = len({test.suite for test in plan.tests})
    return f"{_amount(plan.tests)} in {suites} suite{'s' * (suites != 1)}"


def _amount(tests: tuple[PlannedTest, ...]) -> str:
    total = span(sum(counted_cost(test.cost_s) for test in tests))
    return f"{len(tests)} test{'s' * (len(tests) != 1)}, about {total}"

"""A plan for machines. Keys may be added, never renamed. Standard library only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import fsum
from typing import Any

from driftgate.harness.considering import Considered
from driftgate.harness.plan import Plan, PlannedSuite, PlannedTest
from gate.errors import SourceError

SCHEMA = 1


def plan_json(plan: Plan) -> dict[str, Any]:
    """Seconds are floats; ``shard`` is ``[index, count]``, the index from 0, null where no shard was asked for."""
    request, policy = plan.request, plan.rules.policy
    suite = request.config.suites.get(request.suite) if request.suite is not None else None
    return {
        "schema": SCHEMA,
        "cadence": policy.cadence.name,
        "labels": list(policy.labels),
        "hw": request.hw or (suite.backend if suite is not None else None),
        "suite": request.suite,
        "shard": None if request.shard is None else [request.shard.index, request.shard.count],
        "writes_baseline": policy.writes,
        "writes_reason": policy.reason,
        "fork": policy.fork,
        "bypass_fastfail": plan.bypass_fast_fail,
        "has_tests": bool(plan.tests),
        "tests": [_test(test) for test in plan.tests],
        "suites": [_suite(suite, plan) for suite in plan.suites],
        "disabled": [{**_place(one), "reason": one.registration.disabled} for one in plan.disabled],
        "skipped": [_skipped(one) for one in plan.not_selected] + _skipped_places(plan),
        "skipped_suites": list(plan.skipped_suites),
        "needs_image": dict(plan.needs_image),
        "warnings": [{"kind": warning.kind, "text": warning.text} for warning in plan.warnings],
    }


def matrix_entries(plan: Plan) -> list[dict[str, Any]]:
    """One job for each shard that has a test, in the order in which suites start."""
    suites = plan.request.config.suites
    return [
        {
            "suite": planned.name,
            "backend": suites[planned.name].backend,
            "generation": suites[planned.name].generation,
            "gpus": suites[planned.name].gpus,
            "runner": list(suites[planned.name].runner),
            "shard": f"{index}/{planned.shards}",
            "shard_index": index,
            "shard_count": planned.shards,
            "tests": len(planned.in_shard(index)),
            "est_time_s": fsum(test.cost_s for test in planned.in_shard(index)),
            "needs": list(planned.waits_for),
            "needs_image": suites[planned.name].backend != "cpu",
        }
        for planned in plan.suites
        for index in plan.shards_of(planned)
        if planned.in_shard(index)
    ]


def problems_json(error: SourceError) -> dict[str, Any]:
    """All mistakes of all files."""
    errors = [
        {"file": p.file, "line": p.line, "call": p.call, "field": p.field, "text": p.text} for p in error.problems
    ]
    return {"schema": SCHEMA, "errors": errors}


def json_line(document: Mapping[str, Any]) -> str:
    """One line; a name that is no text is written with escapes, as everywhere in ``json``."""
    return json.dumps(document, separators=(",", ":")) + "\n"


def _test(planned: PlannedTest) -> dict[str, Any]:
    registration = planned.registration
    return {
        "file": planned.test.test_path,
        "backend": registration.backend,
        "home_suite": registration.suite,
        "suite": planned.suite,
        "est_time_s": registration.est_time_s,
        "cost_s": planned.cost_s,
        "shard": [planned.shard.index, planned.shard.count],
        "labels": list(registration.labels),
        "nightly": registration.nightly,
        "implicit": registration.implicit,
        "gates": len(planned.test.specs),
    }


def _suite(planned: PlannedSuite, plan: Plan) -> dict[str, Any]:
    suite = plan.request.config.suites[planned.name]
    return {
        "suite": suite.name,
        "backend": suite.backend,
        "generation": suite.generation,
        "gpus": suite.gpus,
        "runner": list(suite.runner),
        "needed": planned.need.needed,
        "reason": planned.need.reason,
        "needs": list(planned.waits_for),
        "shards": [
            {"index": index, "tests": len(tests), "est_time_s": fsum(test.cost_s for test in tests)}
            for index in range(planned.shards)
            for tests in [planned.in_shard(index)]
        ],
    }


def _place(one: Considered) -> dict[str, Any]:
    return {
        "file": one.test.test_path,
        "backend": one.registration.backend,
        "home_suite": one.registration.suite,
    }


def _skipped(one: Considered) -> dict[str, Any]:
    return {**_place(one), "rule": one.decision.rule, "reason": one.decision.reason}


def _skipped_places(plan: Plan) -> list[dict[str, Any]]:
    """Generations that were asked for and on which a selected test does not run."""
    return [
        {**_place(one), "rule": "generation", "reason": f"not on {place.generation}: {place.reason}"}
        for one in plan.covered
        for place in one.skipped
    ]

"""One call of ``driftgate plan`` or ``python -m driftgate.plan``, from options to output. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from driftgate.config.model import Config
from driftgate.harness.explanation import explain, explanation_json, explanation_lines
from driftgate.harness.github_outputs import append_outputs, github_outputs
from driftgate.harness.plan import Plan, PlanRequest, make_plan
from driftgate.harness.plan_json import json_line, plan_json
from driftgate.harness.plan_options import PlanOptions
from driftgate.harness.plan_text import plan_lines
from driftgate.harness.sharding import parse_shard
from driftgate.harness.trigger import Requests, read_trigger
from gate.errors import ConfigError


def plan_output(options: PlanOptions, config: Config, environment: Mapping[str, str]) -> str:
    """What to print on stdout. Raises as `make_plan`, and ConfigError where ``--must-contain`` is not met."""
    plan = make_plan(plan_request(options, config, environment))
    _check_contained(options, plan)
    if options.github_output:
        append_outputs(github_outputs(plan), environment)
    if options.explain is not None:
        found = explain(options.explain, plan)
        return json_line(explanation_json(found)) if options.json else _lines(explanation_lines(found))
    return json_line(plan_json(plan)) if options.json else _lines(plan_lines(plan))


def plan_request(options: PlanOptions, config: Config, environment: Mapping[str, str]) -> PlanRequest:
    """Raises ConfigError for options that cannot be."""
    if options.snapshot is not None and options.file is None:
        raise ConfigError("--snapshot: needs --file, the one test file to read from it")
    asked = Requests(cadence=options.cadence, event=options.event, cron=options.schedule, labels=options.label)
    return PlanRequest(
        config=config,
        trigger=read_trigger(environment, asked),
        hw=options.hw,
        suite=options.suite,
        shard=None if options.shard is None else parse_shard(options.shard),
        file=options.file,
        snapshot=options.snapshot,
        changed_files=options.changed_files,
        durations=options.durations,
        match_all_labels=options.match_all_labels,
    )


def _check_contained(options: PlanOptions, plan: Plan) -> None:
    missing = [found for found in (explain(file, plan) for file in options.must_contain) if not found.planned]
    if missing:
        lines = (line for found in missing for line in explanation_lines(found))
        raise ConfigError("\n".join(("--must-contain: not in the plan", *lines)))


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)

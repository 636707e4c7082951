"""Gate specs from a test file's ``register_ci_gate`` calls, read from its source. Standard library only."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gate.calls import MOST_PROBLEMS, Argument, ArgumentReader, Complain, MarkerCall, Signature
from gate.canonical import canonical_json
from gate.errors import Problem, SourceError
from gate.fields import (
    parse_checks,
    parse_constraint,
    parse_enforce,
    parse_expect_points,
    parse_limits,
    parse_metric_key,
    parse_reason,
    parse_steps,
)
from gate.identity import SpecKey
from gate.source import Source, marker_calls, more_problems, parse_source
from gate.spec import Constraint, GateDefaults, GateSpec, Steps
from gate.wording import closest, listed, nearest, shown

GATE_MARKER = Signature(
    "register_ci_gate",
    ("metric_key", "steps", "constraint", "limits", "expect_points", "enforce", "allowlist_reason", "checks"),
)


def parse_declarations(
    filename: str, text: str, defaults: GateDefaults
) -> tuple[tuple[GateSpec, ...], tuple[Problem, ...]]:
    """The file's gate specs in file order and all of its mistakes; a declaration with a mistake gives no spec.

    ``defaults`` fills a whole ``steps`` or a whole ``constraint`` that a declaration leaves out.
    """
    try:
        source = parse_source(filename, text)
    except SourceError as error:
        return (), error.problems
    return declared_specs(source, defaults)


def declared_specs(source: Source, defaults: GateDefaults) -> tuple[tuple[GateSpec, ...], tuple[Problem, ...]]:
    """As ``parse_declarations``, of a file that is parsed already."""
    calls, problems = marker_calls(source, {GATE_MARKER.name: GATE_MARKER})
    specs, found = _specs_of(calls, defaults)
    return specs, tuple(sorted((*problems, *found), key=lambda problem: problem.line))


def literal_specs(
    where: str, declarations: Sequence[Mapping[str, Any]], defaults: GateDefaults | None = None
) -> tuple[tuple[GateSpec, ...], tuple[Problem, ...]]:
    """As ``parse_declarations``, of calls that are given as their arguments by name. ``where`` takes the place of the
    file in problems, and the line counts the calls from 1.
    """
    return _specs_of([_call_of(where, line, given) for line, given in enumerate(declarations, 1)], defaults or {})


def _call_of(where: str, line: int, given: Mapping[str, Any]) -> MarkerCall:
    valid = GATE_MARKER.parameters
    arguments = {name: Argument(value, line) for name, value in given.items() if name in valid}
    meant = frozenset(closest(name, valid) or name for name in given if name not in valid)
    call = MarkerCall(where, line=line, name=GATE_MARKER.name, arguments=arguments, refused=meant, starred=False)
    for name in given:
        if name not in valid:
            call = call.with_problem(name, f"unknown argument{nearest(name, valid)}; valid: {listed(valid)}")
    return call


def _specs_of(calls: Sequence[MarkerCall], defaults: GateDefaults) -> tuple[tuple[GateSpec, ...], tuple[Problem, ...]]:
    found: list[Problem] = []
    specs: list[GateSpec] = []
    first_line: dict[SpecKey, int] = {}
    for call in calls:
        if len(found) >= MOST_PROBLEMS:
            found.append(more_problems(call.filename, call.line))
            break
        reader = ArgumentReader(_filled(call, defaults))
        judged = _read_judged(reader)
        policy = _read_policy(reader)
        if judged is not None and judged.key in first_line:
            reader.complain("", f"same metric, steps and constraint as in line {first_line[judged.key]}; keep one")
        elif judged is not None:
            first_line[judged.key] = call.line
        if judged is not None and not reader.problems:
            specs.append(GateSpec(judged.key, judged.steps, judged.constraint, line=call.line, **policy))
        found += reader.problems
    return tuple(specs), tuple(found)


@dataclass(frozen=True, slots=True)
class _Judged:
    """What a declaration asks to be judged: everything that enters its key."""

    key: SpecKey
    steps: Steps
    constraint: Constraint


def _filled(call: MarkerCall, defaults: GateDefaults) -> MarkerCall:
    """The call with a whole ``steps`` or ``constraint`` of its metric's default where it leaves one out.

    A metric without a default that leaves one out gets a problem instead.
    """
    metric = call.arguments.get("metric_key")
    missing = [field for field in ("steps", "constraint") if call.lacks(field)]
    if metric is None or not isinstance(metric.value, str) or not missing:
        return call
    row = defaults.get(unicodedata.normalize("NFC", metric.value))
    if row is None:
        return call.with_problem(
            missing[0] if len(missing) == 1 else "metric_key",
            f"{shown(metric.value)} has no default{nearest(metric.value, defaults)}; give {' and '.join(missing)}",
        )
    filled = {field: Argument(getattr(row, field), call.line) for field in missing}
    return replace(call, arguments={**call.arguments, **filled})


def _read_judged(reader: ArgumentReader) -> _Judged | None:
    metric_key = reader.require("metric_key", parse_metric_key, 'name the metric to judge: metric_key="train/loss"')
    steps = reader.read("steps", parse_steps)
    constraint = reader.read("constraint", parse_constraint)
    if metric_key is None or steps is None or constraint is None:
        return None
    written = reader.call.arguments
    key = SpecKey(metric_key, canonical_json(written["steps"].value), canonical_json(dict(written["constraint"].value)))
    return _Judged(key, steps, constraint)


def _read_policy(reader: ArgumentReader) -> dict[str, Any]:
    """The fields that enter no key, those that are given."""
    parsed = {field: reader.read(field, parse) for field, parse in _POLICY_FIELDS.items()}
    if parsed["enforce"] and reader.call.lacks("allowlist_reason"):
        reader.complain("allowlist_reason", "missing; enforce=True needs a reason why this metric may fail a job")
    return {field: value for field, value in parsed.items() if value is not None}


_POLICY_FIELDS: dict[str, Callable[[Any, Complain], Any]] = {
    "limits": parse_limits,
    "expect_points": parse_expect_points,
    "enforce": parse_enforce,
    "allowlist_reason": parse_reason,
    "checks": parse_checks,
}

"""A verdict that somebody sent, held to its form before it is believed or kept.

`gate.verdict_reading` trusts what driftgate itself has written; whoever judges such a verdict again needs every number
to be one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from gate.errors import DriftgateError
from gate.history import HISTORY_WINDOW
from gate.policy import GatePolicy
from gate.spec import DRIFT_CHECKS
from gate.verdict import SpecVerdict, Verdict
from gate.verdict_reading import from_json
from gate.wording import shown


def checked(document: Mapping[str, Any]) -> Verdict:
    """As `gate.verdict_reading.from_json`; every value has the type of its field, every policy is one that can be.

    Raises DriftgateError naming the first value that is wrong.
    """
    verdict = from_json(document)
    for mistake in _mistakes(verdict):
        raise DriftgateError(f"not a verdict: {mistake}")
    return verdict


def _mistakes(verdict: Verdict) -> Iterator[str]:
    yield from _wrong_types("", verdict, ("outcome", "reason", "mode"))
    yield from _wrong_types("series.", verdict.identity)
    yield from _wrong_types("provenance.", verdict.provenance)
    yield from _wrong_types("policy.", verdict.policy)
    yield from _wrong_policy(verdict.policy)
    for notice in verdict.warnings:
        yield from _wrong_types("warnings.", notice)
    if verdict.written is not None:
        yield from _wrong_types("written.", verdict.written)
    for spec in verdict.specs:
        yield from _wrong_spec(spec)


def _wrong_policy(policy: GatePolicy) -> Iterator[str]:
    for name, least in (("history", 1), ("anchor_runs", 1), ("shift_runs", 1)):
        if not least <= getattr(policy, name) <= HISTORY_WINDOW:
            yield f"policy.{name} is {shown(getattr(policy, name))}; expected {least} to {HISTORY_WINDOW}"
    for name in ("min_points_ratio", "shift_fraction"):
        if not 0 <= getattr(policy, name) <= 1:
            yield f"policy.{name} is {shown(getattr(policy, name))}; expected 0 to 1"


def _wrong_spec(spec: SpecVerdict) -> Iterator[str]:
    yield from _wrong_types("specs.", spec.spec.key)
    yield from _wrong_types("specs.", spec.spec, ("enforce", "allowlist_reason", "checks", "line"))
    yield from _wrong_types("specs.", spec, ("points", "baseline", "anchor", "epoch_id"))
    if not set(spec.spec.checks) <= set(DRIFT_CHECKS):
        yield f"specs.drift_checks is {shown(spec.spec.checks)}"
    problems = spec.checks["selection"].facts.get("problems") if "selection" in spec.checks else []
    if not _is(problems, list[str]):
        yield f"specs.checks.selection.problems is {shown(problems)}"
    for name, check in spec.checks.items():
        yield from _wrong_types(f"specs.checks.{name}.", check, ("reason",))
    for name, columns in spec.columns.items():
        for text in columns.reasons.values():
            if not _is(text, str):
                yield f"coordinates.checks.{name}.reason is {shown(text)}"


def _wrong_types(where: str, value: Any, names: tuple[str, ...] = ()) -> Iterator[str]:
    hints = get_type_hints(type(value))
    for name in names or hints:
        if not _is(getattr(value, name), hints[name]):
            yield f"{where}{name} is {shown(getattr(value, name))}"


def _is(value: Any, hint: Any) -> bool:
    """Whether ``value`` is what a field of that type holds. True is no number."""
    origin, of = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_is(value, one) for one in of)
    if origin is Literal:
        return isinstance(value, str) and value in of
    if origin in (list, tuple):
        return isinstance(value, origin) and all(_is(one, of[0]) for one in value)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, dict) and all(_is(key, of[0]) and _is(one, of[1]) for key, one in value.items())
    if hint in (int, float):
        return isinstance(value, (int, float) if hint is float else int) and not isinstance(value, bool)
    return isinstance(value, NoneType if hint is None else hint)

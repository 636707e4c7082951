"""Whether a registered test belongs to a run. Pure; standard library only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from driftgate.config.model import Cadence, Config
from driftgate.harness.label_requests import LabelRequests
from driftgate.harness.registrations import Registration
from driftgate.harness.scope import LabelScope
from gate.wording import listed, shown

SelectionRule = Literal[
    "disabled", "nightly_only", "unlabelled", "requested", "other_generation", "in_scope", "not_in_scope", "no_request"
]


@dataclass(frozen=True, slots=True)
class Decision:
    """``rule`` is what decided, for machines; ``reason`` the same as a sentence."""

    selected: bool
    rule: SelectionRule
    reason: str


def decide_selected(
    registration: Registration, cadence: Cadence, scope: LabelScope, requests: LabelRequests, config: Config
) -> Decision:
    """A cadence that admits it, and no labels (CPU alone) or one that the scope covers or that is asked for by name."""
    if registration.disabled is not None:
        return _out("disabled", f"it is disabled: {shown(registration.disabled)}")
    if registration.nightly and not cadence.nightly_only:
        admitting = listed(c.name for c in config.cadences.values() if c.nightly_only) or "none"
        reason = f"it is registered with nightly=True; cadence {cadence.name} runs no such test"
        return _out("nightly_only", f"{reason}, these do: {admitting}")
    if registration.backend == "cpu" and not registration.labels:
        return _in("unlabelled", "a CPU test without labels always runs")
    asked = [label for label in registration.labels if label in requests.labels]
    if asked:
        return _in("requested", f"{config.requests.prefix}{asked[0]} asks for its label {asked[0]}")
    return _decide_by_scope(registration, scope, config)


def _decide_by_scope(registration: Registration, scope: LabelScope, config: Config) -> Decision:
    asking = listed(config.requests.prefix + label for label in registration.labels)
    hint = f"; ask for it: {asking}" if asking else ""
    if scope.all_but is None:
        return _out("no_request", f"{scope.origin} runs a test like this only when asked{hint}")
    only = scope.only_generation
    if only is not None and set(registration.hardware) != {only}:
        supported = listed(registration.hardware) or registration.backend
        return _out("other_generation", f"{scope.origin} covers tests for {only} alone, this is for {supported}{hint}")
    covered = [label for label in registration.labels if label not in scope.all_but]
    if covered or not registration.labels:
        named = f"its label {covered[0]}" if covered else "it"
        return _in("in_scope", f"{scope.origin} covers {named}")
    left_out = listed(registration.labels)
    return _out("not_in_scope", f"{scope.origin} leaves out {left_out}{hint}")


def _in(rule: SelectionRule, reason: str) -> Decision:
    return Decision(selected=True, rule=rule, reason=reason)


def _out(rule: SelectionRule, reason: str) -> Decision:
    return Decision(selected=False, rule=rule, reason=reason)

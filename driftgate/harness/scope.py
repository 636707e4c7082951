"""Which labels a run covers: the cadence's scope, or what a pull request's labels set. Pure; standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from driftgate.config.model import Cadence, Config, Scope, ScopeRequest
from driftgate.harness.label_requests import LabelRequests
from driftgate.harness.plan_notice import PlanNotice
from gate.wording import listed

ScopeRule = Literal["match_all_labels", "scope_label", "cadence_scope", "requests_only"]


@dataclass(frozen=True, slots=True)
class LabelScope:
    """``all_but``: every label but these is covered; None: none is. What labels ask for by name comes on top.

    ``only_generation``: of the labelled tests only those that support this generation alone. ``origin`` is what set
    the scope, for a sentence; ``rule`` the same for machines.
    """

    all_but: frozenset[str] | None
    rule: ScopeRule
    origin: str = ""
    only_generation: str | None = None
    warnings: tuple[PlanNotice, ...] = ()


def scope_of(cadence: Cadence, requests: LabelRequests, config: Config, *, match_all_labels: bool) -> LabelScope:
    """First match: ``--match-all-labels``, a label that goes over the cadence, the cadence, any other scope label."""
    by_label = sorted(requests.scopes, key=lambda request: not request.over_cadence)
    first = by_label[0] if by_label else None
    if match_all_labels:
        return _set_by("--match-all-labels", LabelScope(frozenset(), "match_all_labels"), by_label)
    if cadence.scope.kind == "all" and not (first and first.over_cadence):
        return _set_by(f"cadence {cadence.name}", LabelScope(_all_but(cadence.scope), "cadence_scope"), by_label)
    if first:
        scope = LabelScope(_all_but(first.scope), "scope_label", only_generation=first.only_generation)
        return _set_by(f"label {first.label}", scope, by_label[1:])
    warnings = _nothing_asked(requests, config)
    return LabelScope(None, "requests_only", f"cadence {cadence.name}", warnings=warnings)


def _set_by(origin: str, scope: LabelScope, without_effect: Sequence[ScopeRequest]) -> LabelScope:
    """The scope with its origin, and a warning about the labels that asked for another."""
    labels = listed(request.label for request in without_effect)
    told = (PlanNotice("ignored_label", f"no effect of {labels}: {origin} sets the scope"),) if labels else ()
    return replace(scope, origin=origin, warnings=told)


def _all_but(scope: Scope) -> frozenset[str] | None:
    return frozenset(scope.all_except) if scope.kind == "all" else None


def _nothing_asked(requests: LabelRequests, config: Config) -> tuple[PlanNotice, ...]:
    if requests.labels or not config.labels:
        return ()
    has_gpus = any(suite.backend != "cpu" for suite in config.suites.values())
    text = f"no label asks for a {'GPU' if has_gpus else 'labelled'} test, so none is planned"
    how = f"label the pull request {config.requests.prefix}LABEL, or give --label LABEL or --match-all-labels"
    return (PlanNotice("nothing_requested", f"{text}; to ask for some: {how}"),)

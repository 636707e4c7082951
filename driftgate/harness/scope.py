"""Which labels a run covers: the cadence's scope, or what a pull request's labels set. Pure; standard library only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
    origin: str
    only_generation: str | None = None
    warnings: tuple[PlanNotice, ...] = ()


def scope_of(cadence: Cadence, requests: LabelRequests, config: Config, *, match_all_labels: bool) -> LabelScope:
    """First match: ``--match-all-labels``, a label that goes over the cadence, the cadence, any other scope label."""
    if match_all_labels:
        return LabelScope(frozenset(), "match_all_labels", "--match-all-labels")
    over = [request for request in requests.scopes if request.over_cadence]
    if not over and cadence.scope.kind == "all":
        origin = f"cadence {cadence.name}"
        return LabelScope(
            _all_but(cadence.scope), "cadence_scope", origin, warnings=_without_effect(requests.scopes, origin)
        )
    for request in (*over, *requests.scopes):
        origin = f"label {request.label}"
        others = [other for other in requests.scopes if other != request]
        return LabelScope(
            _all_but(request.scope), "scope_label", origin, request.only_generation, _without_effect(others, origin)
        )
    return LabelScope(None, "requests_only", f"cadence {cadence.name}", warnings=_no_gpu_test(requests, config))


def _all_but(scope: Scope) -> frozenset[str] | None:
    return frozenset(scope.all_except) if scope.kind == "all" else None


def _without_effect(scopes: Iterable[ScopeRequest], origin: str) -> tuple[PlanNotice, ...]:
    labels = [request.label for request in scopes]
    if not labels:
        return ()
    return (PlanNotice("ignored_label", f"no effect of {listed(labels)}: {origin} sets the scope"),)


def _no_gpu_test(requests: LabelRequests, config: Config) -> tuple[PlanNotice, ...]:
    if requests.labels:
        return ()
    text = f"no label asks for a GPU test, so none is planned: add a label {config.requests.prefix}LABEL"
    return (PlanNotice("no_gpu_tests", f"{text}, or give --label LABEL or --match-all-labels"),)

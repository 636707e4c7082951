"""Every registration held against the rules of one run: is it selected, and where would it run? Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from driftgate.config.model import Config
from driftgate.harness.dispatch import Dispatched, SkippedPlace, dispatch
from driftgate.harness.label_requests import LabelRequests
from driftgate.harness.policy import RunPolicy, decide, requests_of
from driftgate.harness.registrations import Registration
from driftgate.harness.scope import LabelScope, scope_of
from driftgate.harness.selecting import Decision, decide_selected
from driftgate.harness.test_files import TestFile
from driftgate.harness.trigger import Trigger


@dataclass(frozen=True, slots=True)
class Rules:
    """What the trigger and the labels make of a run. ``file_given``: one file is asked for, no rule deselects it."""

    policy: RunPolicy
    requests: LabelRequests
    scope: LabelScope
    file_given: bool


@dataclass(frozen=True, slots=True)
class Considered:
    """One registration. ``suites`` are those that would execute it, none where it is not selected; ``skipped`` the
    generations that were asked for in vain.
    """

    test: TestFile
    registration: Registration
    decision: Decision
    suites: tuple[str, ...]
    skipped: tuple[SkippedPlace, ...]


def rules_of(trigger: Trigger, config: Config, *, match_all: bool, file_given: bool) -> Rules:
    """Raises ConfigError for labels, events or cadences that are unknown or contradict each other."""
    policy = decide(trigger, config)
    requests = requests_of(policy, config)
    scope = scope_of(policy.cadence, requests, config, match_all_labels=match_all)
    return Rules(policy, requests, scope, file_given)


def considered(files: Iterable[TestFile], rules: Rules, config: Config) -> tuple[Considered, ...]:
    return tuple(_considered(test, found, rules, config) for test in files for found in test.registrations)


def _considered(test: TestFile, registration: Registration, rules: Rules, config: Config) -> Considered:
    decision = _decision(registration, rules, config)
    places = dispatch(registration, rules.requests, config) if decision.selected else Dispatched(())
    return Considered(test, registration, decision, places.suites, places.skipped)


def _decision(registration: Registration, rules: Rules, config: Config) -> Decision:
    if rules.file_given and registration.disabled is None:
        return Decision(selected=True, rule="requested", reason="--file asks for it")
    return decide_selected(registration, rules.policy.cadence, rules.scope, rules.requests, config)

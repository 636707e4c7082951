"""Why each suite is needed by a plan: what was asked for, and what the changed files affect. Standard library only."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from driftgate.config.model import Config
from driftgate.harness.changed_files import Effect, effects_of, read_changes
from driftgate.harness.considering import Considered, Rules
from driftgate.harness.plan_notice import PlanNotice
from driftgate.harness.policy import PULL_REQUESTS
from driftgate.harness.suite_needs import SuiteNeed, need_of
from gate.wording import clipped, printable

_EVERYTHING = "everything runnable is needed"


@dataclass(frozen=True, slots=True)
class Wish:
    """What a call says about suites beyond labels. ``event``: what started the run, where that is known."""

    suite: str | None = None
    changed_files: Path | None = None
    event: str | None = None


@dataclass(frozen=True, slots=True)
class SuiteNeeds:
    """``of`` each suite of the configuration. ``effects`` is None where no changed files were given or count."""

    of: Mapping[str, SuiteNeed]
    effects: tuple[Effect, ...] | None
    warnings: tuple[PlanNotice, ...]


def needs_of_suites(wish: Wish, rules: Rules, found: Collection[Considered], config: Config) -> SuiteNeeds:
    effects, warnings = _effects(wish, found, config)
    needs = {
        name: need_of(
            runnable=any(name in one.suites for one in found),
            asked_by=_asked_by(name, wish, rules, found),
            affected_by=_affected_by(name, effects),
        )
        for name in config.suites
    }
    return SuiteNeeds(needs, effects, warnings)


def _effects(
    wish: Wish, found: Collection[Considered], config: Config
) -> tuple[tuple[Effect, ...] | None, tuple[PlanNotice, ...]]:
    if wish.changed_files is None:
        return None, ()
    if wish.event is not None and wish.event not in PULL_REQUESTS:
        text = f"changed files count for pull requests alone, this is {wish.event}; {_EVERYTHING}"
        return None, (PlanNotice("changed_files_ignored", text),)
    changes = read_changes(wish.changed_files)
    if changes.paths is None:
        return None, (PlanNotice("changed_files_unknown", f"--changed-files: {changes.unknown}; {_EVERYTHING}"),)
    suites_of: dict[str, set[str]] = {}
    for one in found:
        suites_of.setdefault(one.test.test_path, set()).update((one.registration.suite, *one.suites))
    return tuple(effects_of(changes.paths, suites_of, config)), ()


def _affected_by(name: str, effects: Collection[Effect] | None) -> str | None:
    if effects is None:
        return "its tests are selected"
    affecting = [effect.path for effect in effects if name in effect.suites]
    if not affecting:
        return None
    more = f" and {len(affecting) - 1} more" if len(affecting) > 1 else ""
    return f"affected by {printable(clipped(affecting[0]))}{more}"


def _asked_by(name: str, wish: Wish, rules: Rules, found: Collection[Considered]) -> str:
    """The option or label that asks for the suite, empty where none does."""
    if rules.file_given:
        return "--file"
    if wish.suite == name:
        return "--suite"
    if rules.scope.rule == "match_all_labels":
        return rules.scope.origin
    here = [one.decision for one in found if name in one.suites]
    if rules.scope.rule == "scope_label" and any(decision.rule == "in_scope" for decision in here):
        return rules.scope.origin
    return "a label of its tests" if any(decision.rule == "requested" for decision in here) else ""

"""What single keys cannot show: names that refer to nothing, and rows that contradict each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import fields
from graphlib import CycleError, TopologicalSorter

from driftgate.config.label_names import LABEL_RULE, is_safe_label, request_labels
from driftgate.config.model import BUILT_IN_CLASSES, OTHER_CLASSES, Config
from driftgate.config.schema import dotted
from driftgate.config.service_checks import complaints_about_service
from gate.wording import listed, nearest, shown


def complaints_about(config: Config) -> list[str]:
    """One line for each contradiction, naming the key."""
    return [
        *_suites(config),
        *_roots(config),
        *_cadences(config),
        *_requests(config),
        *_request_labels(config),
        *_retry_rules(config),
        *_timeouts(config),
        *complaints_about_service(config),
    ]


def _suites(config: Config) -> Iterator[str]:
    for name, suite in config.suites.items():
        if suite.backend == "cuda" and suite.generation is None:
            needed = _valid(config.generations, "generations")
            yield f"{dotted(('suites', name))}: needs generation, for its backend is cuda; {needed}"
        named = [] if suite.generation is None else [suite.generation]
        yield from _unknown(("suites", name, "generation"), named, config.generations, "generations")
        yield from _unknown(("suites", name, "needs"), suite.needs, config.suites, "[suites]")
    try:
        TopologicalSorter({name: suite.needs for name, suite in config.suites.items()}).prepare()
    except CycleError as error:
        circle = " needs ".join(reversed(error.args[1]))
        yield f"suites: they wait for each other, so that none starts: {circle}; take one out of needs"


def _roots(config: Config) -> Iterator[str]:
    for root in config.roots:
        if root.default_suite is None:
            continue
        yield from _unknown(("discovery", "roots"), [root.default_suite], config.suites, "[suites]")
        suite = config.suites.get(root.default_suite)
        if suite is not None and suite.backend != root.default_backend:
            yield f"discovery.roots: default suite {suite.name} is {suite.backend}, not {root.default_backend}"


def _cadences(config: Config) -> Iterator[str]:
    for name, cadence in config.cadences.items():
        yield from _unknown(("cadences", name, "scope"), cadence.scope.all_except, config.labels, "[labels]")
    for field in ("crons", "events", "pr_labels"):
        entered = Counter(entry for cadence in config.cadences.values() for entry in getattr(cadence, field))
        for entry in (entry for entry, count in entered.items() if count > 1):
            yield f"cadences: {entry!r} stands in the {field} of more than one cadence; keep one"


def _requests(config: Config) -> Iterator[str]:
    for label, request in config.requests.scopes.items():
        yield from _unknown(("requests", "scopes", label, "scope"), request.scope.all_except, config.labels, "[labels]")
        only = request.only_generation
        key = ("requests", "scopes", label, "only_generation")
        yield from _unknown(key, [only] if only else [], config.generations, "generations")
    for label, generation in config.requests.generations.items():
        yield from _unknown(("requests", "generations", label), [generation], config.generations, "generations")


def _request_labels(config: Config) -> Iterator[str]:
    for label, meanings in Counter(request_labels(config)).items():
        if not is_safe_label(label):
            yield f"requests: {shown(label)} would be ignored: {LABEL_RULE}"
        if meanings > 1:
            yield f"requests: label {shown(label)} has more than one meaning; rename one of them"


def _retry_rules(config: Config) -> Iterator[str]:
    for name, rule in config.retry.rules.items():
        key = dotted(("retry", "rules", name))
        if name in OTHER_CLASSES:
            yield f"{key}: {name} is no class of failures; name the rule otherwise"
        if name not in BUILT_IN_CLASSES and not (rule.exceptions or rule.patterns or rule.timeouts):
            yield f"{key}: fits no failure; give exceptions, patterns or timeouts = true"


def _timeouts(config: Config) -> Iterator[str]:
    for field in fields(config.timeouts):
        seconds = getattr(config.timeouts, field.name)
        if seconds > config.timeouts.cap:
            yield f"timeouts.{field.name}: {seconds:g} is above timeouts.cap {config.timeouts.cap:g}"


def _unknown(key: tuple[str, ...], names: Iterable[str], valid: Iterable[str], table: str) -> Iterator[str]:
    known = list(valid)
    for name in names:
        if name not in known:
            yield f"{dotted(key)}: unknown {name!r}{nearest(name, known)}; {_valid(known, table)}"


def _valid(names: Iterable[str], table: str) -> str:
    return f"valid: {listed(names) or f'none; list it in {table}'}"

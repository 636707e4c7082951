"""From trigger facts to the cadence of a run and whether it may write the baseline. Pure; standard library only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from driftgate.config.model import Cadence, Config
from driftgate.harness.label_requests import LabelRequests, asked_labels, looks_like_request, read_requests
from driftgate.harness.plan_notice import PlanNotice
from driftgate.harness.safe_labels import SafeLabels, safe_labels
from driftgate.harness.trigger import Trigger
from gate.errors import ConfigError
from gate.wording import listed, nearest, printable, shown

PULL_REQUESTS = ("pull_request", "pull_request_target", "merge_request_event")
_SCHEDULE = "schedule"
_BY_HAND = ("workflow_dispatch", "web")
"""What GitHub and GitLab call a run started by a person; a run that no event started is one."""


@dataclass(frozen=True, slots=True)
class RunPolicy:
    """``reason`` says in one line why the run does not write the baseline; empty where it does.

    ``labels`` are those that count, safe ones alone: the event's, unless the cadence was given explicitly, and those of
    ``--label``. ``fast_fail``: the cadence's, unless a label turns it off. ``fork`` true: the run is NOT EVIDENCE.
    ``unread_labels``: why the event's labels are not known although they count; empty where they are.
    """

    cadence: Cadence
    labels: tuple[str, ...]
    writes: bool
    reason: str
    fork: bool | None
    fast_fail: bool
    warnings: tuple[PlanNotice, ...] = ()
    unread_labels: str = ""


@dataclass(frozen=True, slots=True)
class _Entered:
    """The cadence, and whether a pull request's label entered it."""

    cadence: Cadence
    by_label: bool = False


def decide(trigger: Trigger, config: Config) -> RunPolicy:
    """Raises ConfigError for an unknown cadence, event or cron, for contradicting requests, and for ``--write`` where
    this run may not write.
    """
    safe = _counting_labels(trigger, config)
    entered = _enter(trigger, safe.labels, config)
    refusal = _refusal(trigger, entered, config)
    wanted = trigger.requests.write
    if wanted and refusal:
        raise ConfigError(f"--write: this run may not write the baseline: {refusal}")
    reason = refusal or ("--no-write was given" if wanted is False else "")
    return RunPolicy(
        cadence=entered.cadence,
        labels=safe.labels,
        writes=not reason,
        reason=reason,
        fork=trigger.fork,
        fast_fail=entered.cadence.fast_fail and set(safe.labels).isdisjoint(config.requests.bypass_fast_fail),
        warnings=safe.warnings,
        unread_labels="" if trigger.requests.cadence else trigger.unread_labels,
    )


def requests_of(policy: RunPolicy, config: Config) -> LabelRequests:
    """What the labels that count ask for, with every warning about them.

    Raises ConfigError where they contradict each other, and where they are not known: a plan without them would
    leave out tests that were asked for.
    """
    if policy.unread_labels:
        raise ConfigError(
            f"{policy.unread_labels}; the pull request's labels are not known: give --cadence and --label"
        )
    requests = read_requests(policy.labels, config)
    return replace(requests, warnings=(*policy.warnings, *requests.warnings))


def _counting_labels(trigger: Trigger, config: Config) -> SafeLabels:
    of_event = () if trigger.requests.cadence else trigger.labels
    asked = asked_labels(trigger.requests.labels, config)
    return safe_labels((*of_event, *asked), lambda label: looks_like_request(label, config))


def _enter(trigger: Trigger, labels: tuple[str, ...], config: Config) -> _Entered:
    labelled = [cadence for cadence in config.cadences.values() if set(cadence.pr_labels) & set(labels)]
    if len(labelled) > 1:
        raise ConfigError(f"labels ask for the cadences {listed(c.name for c in labelled)} at once; keep one")
    event = _event(trigger)
    explicit = trigger.requests.cadence
    if labelled and not explicit and (event is None or event in PULL_REQUESTS):
        return _Entered(labelled[0], by_label=True)
    cadence = _named(explicit, config) if explicit else _by_event(event, _cron(trigger), config)
    if labelled and labelled[0] != cadence:
        label = next(label for label in labels if label in labelled[0].pr_labels)
        raise ConfigError(
            f"label {label}: asks for the cadence {labelled[0].name}, but this is {cadence.name}; drop one"
        )
    return _Entered(cadence)


def _event(trigger: Trigger) -> str | None:
    requests = trigger.requests
    if requests.cron and requests.event not in (None, "", _SCHEDULE):
        raise ConfigError(
            f"--schedule: contradicts --event {printable(requests.event)}; a cron line belongs to --event schedule"
        )
    return requests.event or (_SCHEDULE if requests.cron else trigger.event)


def _cron(trigger: Trigger) -> str | None:
    requests = trigger.requests
    if requests.event and requests.event != trigger.event:
        return requests.cron or None
    return requests.cron or trigger.cron


def _named(name: str, config: Config) -> Cadence:
    if name not in config.cadences:
        raise ConfigError(
            f"--cadence: unknown {shown(name)}{nearest(name, config.cadences)}; valid: {listed(config.cadences)}"
        )
    return config.cadences[name]


def _by_event(event: str | None, cron: str | None, config: Config) -> Cadence:
    if event == _SCHEDULE and cron:
        line = " ".join(cron.split())
        return _only(
            (cadence for cadence in config.cadences.values() if line in cadence.crons),
            f"--schedule: no cadence has the cron {shown(line)}; add it to [cadences.NAME] crons or give --cadence",
        )
    events = (event,) if event else _BY_HAND
    return _only(
        (cadence for cadence in config.cadences.values() if not set(events).isdisjoint(cadence.events)),
        _no_cadence(event),
    )


def _no_cadence(event: str | None) -> str:
    if event is None:
        return f"no cadence is entered by hand: give --cadence, or add {_BY_HAND[0]} to [cadences.NAME] events"
    if event == _SCHEDULE:
        return (
            "a schedule needs its cron line, which GitHub tells and GitLab does not: "
            "give --schedule or --cadence, there from a variable of the pipeline schedule"
        )
    return f"--event: no cadence is entered by {shown(event)}; add it to [cadences.NAME] events or give --cadence"


def _only(cadences: Iterable[Cadence], otherwise: str) -> Cadence:
    for cadence in cadences:
        return cadence
    raise ConfigError(otherwise)


def _refusal(trigger: Trigger, entered: _Entered, config: Config) -> str:
    """Why this run may not write; empty where it may. Options only narrow what the CI's own facts allow."""
    if not entered.cadence.writes:
        return f"cadence {entered.cadence.name} never writes"
    if trigger.fork:
        return "it comes from a fork"
    if not trigger.in_ci:
        writing = listed(cadence.name for cadence in config.cadences.values() if cadence.writes)
        return "" if trigger.requests.cadence else f"outside CI only an explicit --cadence writes ({writing})"
    return _refusal_in_ci(trigger, entered, config)


def _refusal_in_ci(trigger: Trigger, entered: _Entered, config: Config) -> str:
    rule = config.write
    if entered.by_label and trigger.event in PULL_REQUESTS:
        return _refusal_of_label(config)
    for event in (trigger.event, trigger.requests.event or trigger.event):
        if event not in rule.events:
            named = printable(event or "is not known and")
            return f"the event {named} is not one of [write] events ({listed(rule.events)})"
    if trigger.branch != rule.branch:
        return f"the branch is {printable(trigger.branch or 'not known')}, not {rule.branch} ([write] branch)"
    return ""


def _refusal_of_label(config: Config) -> str:
    if not config.write.pr_label_writes:
        return "a pull request's label runs in shadow ([write] pr_label_writes is false)"
    if config.store.is_service:
        return "a pull request's label writes to a database alone, through a service it runs in shadow"
    return ""

"""What started this run, by the CI's own word, and what the person or workflow asked for. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from driftgate.harness.ci_facts import ci_facts, event_facts

_CI_MARKS = ("GITHUB_ACTIONS", "GITLAB_CI", "CI")
_HEADS = "refs/heads/"


@dataclass(frozen=True, slots=True)
class Requests:
    """The options of one call; an empty string counts as absent. ``write``: ``--write`` or ``--no-write``."""

    cadence: str | None = None
    event: str | None = None
    cron: str | None = None
    labels: tuple[str, ...] = ()
    write: bool | None = None


@dataclass(frozen=True, slots=True)
class Trigger:
    """Facts that the CI itself states, None where it does not; options cannot change them, ``requests`` stands beside.

    ``branch`` is None for pull requests and tags. ``labels`` are the pull request's; ``unread_labels`` says why they
    are not known, empty where they are, or where there can be none.
    """

    in_ci: bool = False
    event: str | None = None
    cron: str | None = None
    branch: str | None = None
    labels: tuple[str, ...] = ()
    fork: bool | None = None
    requests: Requests = Requests()
    unread_labels: str = ""


def read_trigger(environment: Mapping[str, str], requests: Requests) -> Trigger:
    """The only place where trigger facts are read: variables, and on GitHub the event's file."""
    facts = ci_facts(environment)
    event = event_facts(environment)
    return Trigger(
        in_ci=any(environment.get(mark) == "true" for mark in _CI_MARKS),
        event=facts.event,
        cron=event.cron,
        branch=_branch(environment),
        labels=event.labels,
        unread_labels=event.unread_labels,
        fork=facts.fork,
        requests=requests,
    )


def _branch(environment: Mapping[str, str]) -> str | None:
    if environment.get("GITHUB_ACTIONS") == "true":
        ref = environment.get("GITHUB_REF", "")
        return ref.removeprefix(_HEADS) if ref.startswith(_HEADS) else None
    if environment.get("GITLAB_CI") == "true":
        return environment.get("CI_COMMIT_BRANCH") or None
    return None

"""The trust of one run, its changes, and their lines in the append-only log."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from store.checks import check_text

MARK_UNTRUSTED, MARK_TRUSTED = "mark_untrusted", "mark_trusted"
START_EPOCH, UNDO_EPOCH = "start_epoch", "undo_epoch"
ENFORCEMENT_ON, ENFORCEMENT_OFF = "enforcement_on", "enforcement_off"


@dataclass(frozen=True, slots=True)
class Trust:
    """The columns of ``runs`` that say what a run's numbers are worth.

    ``marked`` is the operator's decision, None without one; ``marked_by`` the selector that holds the run untrusted.
    """

    trusted: bool
    marked: bool | None
    reason: str | None
    marked_by: str | None = None

    @property
    def gate_decides(self) -> bool:
        """Whether it is the gate's own: no operator's decision, nothing that holds the run back."""
        return self.marked is None and self.reason is None


def held_by_rule(selector: str, reason: str) -> Trust:
    return Trust(trusted=False, marked=False, reason=f"standing mark {selector}: {reason}", marked_by=selector)


@dataclass(frozen=True, slots=True)
class Action:
    """Who does what and why. ``operation`` is the same for every line of one call and for its retries."""

    project: str
    selector: str
    reason: str
    actor: str
    name: str
    operation: str
    at: datetime = field(default_factory=lambda: datetime.now(UTC))


def new_action(project: str, name: str, selector: str, reason: str, actor: str) -> Action:
    """Raises ValueError where somebody says too little."""
    return Action(
        project=check_text("project", project),
        selector=selector,
        reason=check_text("reason", reason),
        actor=check_text("actor", actor),
        name=name,
        operation=uuid.uuid4().hex,
    )


def epoch_selector(epoch_id: str) -> str:
    return f"epoch_id={epoch_id}"


@dataclass(frozen=True, slots=True)
class Change:
    """What a run's trust was and became. ``detail``: what else the log keeps of it, as JSON values."""

    run_id: str
    before: Trust
    after: Trust
    detail: Mapping[str, Any] | None = None

    @property
    def flips(self) -> bool:
        return self.before.trusted != self.after.trusted


def rule_row(action: Action) -> dict[str, Any]:
    """The log's line for a standing rule set or lifted, an epoch started or undone."""
    return {
        "project": action.project,
        "at": action.at,
        "actor": action.actor,
        "action": action.name,
        "reason": action.reason,
        "selector": action.selector,
        "operation": action.operation,
        "changed": False,
    }


def event_row(action: Action, change: Change) -> dict[str, Any]:
    """The log's line for one run, with what an undo needs."""
    return rule_row(action) | {
        "changed": change.flips,
        "trusted_before": change.before.trusted,
        "marked_before": change.before.marked,
        "reason_before": change.before.reason,
        "detail": change.detail,
    }

"""What operators ask of a store and what it answers: marks, epochs, the trust log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from gate.effects import Effects
from gate.identity import SeriesIdentity


@dataclass(frozen=True, slots=True)
class TrustEvent:
    """One line of the append-only trust log. ``run_id`` None: a standing rule was set or lifted, an epoch started or
    undone.

    ``verdict``: of a run that was judged again under an epoch, the new verdict as it would have been stored.
    """

    at: datetime
    actor: str
    action: str
    reason: str
    run_id: str | None = None
    selector: str | None = None
    trusted_before: bool | None = None
    trusted_after: bool | None = None
    verdict: Mapping[str, Any] | None = None

    @property
    def changed(self) -> bool:
        return self.trusted_before != self.trusted_after


@dataclass(frozen=True, slots=True)
class MarkRequest:
    """An operator's decision on the runs that one selector covers; exactly one selector is given.

    ``dry_run``: nothing is written; the answer tells what would change.
    """

    project: str
    trusted: bool
    reason: str
    actor: str
    run_id: str | None = None
    ci_run_id: int | None = None
    commit_sha: str | None = None
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class SeriesEffects:
    """What would become of one series."""

    identity: SeriesIdentity
    effects: Effects

    def to_json(self) -> dict[str, list[dict[str, Any]]]:
        """Lists by name, each entry with its series."""
        series = {"series": asdict(self.identity)}
        return {name: [series | entry for entry in entries] for name, entries in self.effects.to_json().items()}


@dataclass(frozen=True, slots=True)
class ActionResult:
    """What a mark or an epoch changed: ``runs`` are the ids of the runs whose trust flipped, in order of arrival.

    Of a dry run: what it would change, and in ``effects`` what would follow in each series that is touched.
    """

    runs: tuple[str, ...] = ()
    epoch_id: str | None = None
    effects: tuple[SeriesEffects, ...] | None = None

    def to_json(self) -> dict[str, Any]:
        """``changed``, ``runs`` and ``effects``, which is null where nothing was tried."""
        effects: dict[str, list[dict[str, Any]]] | None = None
        if self.effects is not None:
            effects = {"trust": [], "means": [], "verdicts": []}
            for one in self.effects:
                for name, entries in one.to_json().items():
                    effects[name] += entries
        return {"changed": len(self.runs), "runs": list(self.runs), "effects": effects}

    def document(self) -> dict[str, Any]:
        """What a mark answers, on the command line and over HTTP."""
        return {"schema": 1, **self.to_json()}

    def epoch_document(self) -> dict[str, Any]:
        """What the start or the undoing of an epoch answers."""
        return {"schema": 1, "epoch_id": self.epoch_id, **self.to_json()}


@dataclass(frozen=True, slots=True)
class EnforcementSwitch:
    """Whether verdicts may fail jobs of the project: where it is not ``on``, every run is in shadow.

    ``reason``, ``actor`` and ``changed_at`` are of the last change, None where there was none. ``changed``: of the
    answer to a call that turns it, whether that changed anything.
    """

    on: bool
    reason: str | None = None
    actor: str | None = None
    changed_at: datetime | None = None
    changed: bool = False

    def document(self) -> dict[str, Any]:
        """What is answered to who asks for it."""
        state = {"enforcement": "on" if self.on else "off", "reason": self.reason, "actor": self.actor}
        return {"schema": 1, **state, "changed_at": self.changed_at}

    def change_document(self) -> dict[str, Any]:
        """What is answered to who turns it."""
        return self.document() | {"changed": self.changed}


@dataclass(frozen=True, slots=True)
class Epoch:
    """A start of an epoch, undone or not. ``metric_key`` None: of every metric of the series.

    ``begins_at``: ``created_at`` of the run that it begins with or after; ``first_run_id``: its first run, None while
    it has none. Of the epochs of a metric that were not undone the one started last is in force; ``in_force``: whether
    that is this one, for any metric.
    """

    epoch_id: str
    identity: SeriesIdentity
    metric_key: str | None
    begins_at: datetime
    first_run_id: str | None
    reason: str
    actor: str
    started_at: datetime
    undone_at: datetime | None
    in_force: bool

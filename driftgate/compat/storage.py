"""The reference's contract of a store. Standard library only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Protocol

DEFAULT_PROJECT = "default"
"""The reference knows one project; this is driftgate's name for it."""


@dataclass(frozen=True)
class MetricSample:
    """One value of a run at its coordinate; ``step`` is -1 for ``"last"``."""

    metric_key: str
    steps_key: str
    constraint_key: str
    step: int
    value: float


@dataclass(frozen=True)
class RunIdentity:
    """Runs of one identity share a baseline."""

    test_path: str
    backend: str
    suite: str


@dataclass(frozen=True)
class RunProvenance:
    """Where a run came from; any text may name the commit."""

    commit_sha: str
    pr_number: int | None
    github_run_id: int | None
    github_run_attempt: int | None
    event_name: str | None
    ref: str | None


class BaselineReader(Protocol):
    """All that the gate asks of a store."""

    def recent_trusted_values(  # noqa: PLR0913, PLR0917 - the reference's signature
        self,
        test_path: str,
        backend: str,
        suite: str,
        metric_key: str,
        steps_key: str,
        constraint_key: str,
        step: int,
        limit: int,
    ) -> list[float]: ...


class MetricHistoryStore(ABC):
    """What a store of one's own implements to be used with `evaluate_gate`."""

    @abstractmethod
    def write_run(
        self,
        identity: RunIdentity,
        provenance: RunProvenance,
        created_at: str,
        trusted: bool,  # noqa: FBT001 - the reference's signature
        values: list[MetricSample],
    ) -> str:
        """Store one more run and return its id; every call is a run of its own.

        ``created_at`` is an ISO 8601 time. Raises ValueError for a value that is not finite; then nothing is stored.
        """

    @abstractmethod
    def recent_trusted_values(  # noqa: PLR0913, PLR0917 - the reference's signature
        self,
        test_path: str,
        backend: str,
        suite: str,
        metric_key: str,
        steps_key: str,
        constraint_key: str,
        step: int,
        limit: int,
    ) -> list[float]:
        """At most ``limit`` values of trusted runs at exactly this coordinate, newest run first."""

    @abstractmethod
    def mark_untrusted(
        self, *, run_id: str | None = None, github_run_id: int | None = None, commit_sha: str | None = None
    ) -> int:
        """Take the stored runs of exactly one selector out of every baseline; returns how many were trusted before.

        Raises ValueError unless exactly one selector is given.
        """

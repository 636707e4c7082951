"""Which epoch is in force: starts of the whole series and of single metrics form one chain, and the latest applies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class EpochStart:
    """A start that was not undone. ``metric_key`` None: it holds for every metric of the series."""

    position: int
    epoch_id: str
    metric_key: str | None


def in_force(starts: Iterable[EpochStart], metric_key: str) -> str | None:
    """The epoch id in force for a metric, None before the first."""
    applying = [start for start in starts if start.metric_key in (None, metric_key)]
    return max(applying, key=lambda start: start.position).epoch_id if applying else None

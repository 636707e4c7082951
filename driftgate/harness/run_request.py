"""What one call of ``driftgate run`` asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from driftgate.config.model import Config
from driftgate.harness.sharding import Shard
from driftgate.harness.trigger import Requests


@dataclass(frozen=True, slots=True)
class Selection:
    """Which part of the plan to run, beside backend and suite; as in ``PlanRequest``."""

    shard: Shard | None = None
    file: Path | None = None
    changed_files: Path | None = None
    durations: Path | None = None
    match_all_labels: bool = False


@dataclass(frozen=True, slots=True)
class RunRequest:
    """Without ``files`` the plan is run, of which ``selection`` takes a part. ``retry`` None: as configured.

    ``records`` None: a folder below the configuration's. ``environment`` is the caller's own. ``baseline``: a file to
    judge against, in shadow and without the store.
    """

    config: Config
    environment: Mapping[str, str]
    files: tuple[Path, ...] = ()
    requests: Requests = field(default_factory=Requests)
    hw: str | None = None
    suite: str | None = None
    selection: Selection = field(default_factory=Selection)
    records: Path | None = None
    continue_on_error: bool = False
    keep_failed: bool = False
    retry: bool | None = None
    baseline: Path | None = None

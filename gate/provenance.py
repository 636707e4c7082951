"""Where a run came from. Absent facts are None, never invented. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Provenance:
    """``ci_sha`` is the event's commit, ``tested_sha`` what was checked out; they differ on merges and re-runs.

    ``shard`` is ``"i/n"``. ``packages`` maps the configured package names to their versions. ``fork`` is true for a
    run of a foreign repository: NOT EVIDENCE.
    """

    tested_sha: str | None = None
    ci_sha: str | None = None
    base_sha: str | None = None
    pr: int | None = None
    ci_run_id: int | None = None
    ci_run_attempt: int | None = None
    event: str | None = None
    ref: str | None = None
    cadence: str | None = None
    shard: str | None = None
    test_attempt: int | None = None
    host: str | None = None
    gpu_model: str | None = None
    gpu_driver: str | None = None
    image_digest: str | None = None
    packages: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    fork: bool | None = None

    @property
    def commit_sha(self) -> str | None:
        """The tested commit, or the event's where the tested one is unknown."""
        return self.tested_sha or self.ci_sha

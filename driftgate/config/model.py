"""The configuration's tables as frozen values. Names and defaults are those of ``driftgate.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from driftgate.config.service import ServiceConfig
from gate.policy import GatePolicy
from gate.spec import MetricDefault

Backend = Literal["cpu", "cuda", "rocm"]
BACKENDS: tuple[Backend, ...] = ("cpu", "cuda", "rocm")


@dataclass(frozen=True, slots=True)
class Suite:
    """One CI job's worth of tests on one kind of hardware. ``command`` None: the root's or the built-in one.

    ``retry`` None: as ``[retry] enabled`` says.
    """

    name: str
    backend: Backend
    generation: str | None = None
    gpus: int = 0
    runner: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    shards: int = 1
    command: tuple[str, ...] | None = None
    retry: bool | None = None


@dataclass(frozen=True, slots=True)
class Root:
    """A discovered folder of tests. ``default_suite`` registers files that declare nothing."""

    path: str
    pattern: str = "test_*.py"
    command: tuple[str, ...] | None = None
    default_backend: Backend | None = None
    default_suite: str | None = None
    default_est_time_s: float | None = None
    forbid: tuple[Backend, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelRegistry:
    """A Python file, relative to the repository root, whose dict ``name`` holds labels."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Which labels a cadence runs: ``all`` minus ``all_except``, or only what is requested."""

    kind: Literal["all", "none"] = "none"
    all_except: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScopeRequest:
    """A pull request's label that sets a scope. It counts where the cadence itself has none, or always where
    ``over_cadence``; ``only_generation`` narrows it to the tests that support no other generation.
    """

    label: str
    scope: Scope
    over_cadence: bool = False
    only_generation: str | None = None


@dataclass(frozen=True, slots=True)
class RequestRules:
    """What pull request labels may ask for: ``prefix`` + a label of ``[labels]`` asks for its tests; ``scopes`` in
    order of precedence; ``generations`` maps a label to the generation that tests are to run on.
    """

    prefix: str = "run-ci-"
    generation_prefix: str = "run-on-"
    scopes: Mapping[str, ScopeRequest] = field(default_factory=dict)
    generations: Mapping[str, str] = field(default_factory=dict)
    bypass_fast_fail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeRules:
    """``harmless``: globs of paths whose change needs no suite; ``*`` matches ``/`` too."""

    harmless: tuple[str, ...] = ()


KILLED, TIMEOUT, UNKNOWN = BUILT_IN_CLASSES = ("killed", "timeout", "unknown")
"""Classes of failures without a rule: a process was killed by a signal, time ran out, no rule fits. A rule of that
name says whether they are tried again."""
OTHER_CLASSES = ("pass", "fail", "interrupted")
"""What an attempt may be besides; no rule's name."""


@dataclass(frozen=True, slots=True)
class FailureRule:
    """One class of failures: the final traceback's exception is one of ``exceptions``, or one of ``patterns`` is found
    in its name and message, or (``timeouts``) the attempt ran out of time. ``retry``: whether another attempt may help.
    """

    name: str
    exceptions: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    timeouts: bool = False
    retry: bool = False


@dataclass(frozen=True, slots=True)
class Retry:
    """``max_attempts`` counts the first attempt; ``wait`` seconds lie between two. ``rules`` in order: first match.

    ``wrappers``: exceptions that only tell of another process's failure; the one before them decides.
    """

    enabled: bool = False
    max_attempts: int = 3
    wait: float = 30.0
    wrappers: tuple[str, ...] = ()
    rules: Mapping[str, FailureRule] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cadence:
    name: str
    crons: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    pr_labels: tuple[str, ...] = ()
    scope: Scope = field(default_factory=Scope)
    nightly_only: bool = False
    fast_fail: bool = True
    writes: bool = False


@dataclass(frozen=True, slots=True)
class WriteRule:
    """A baseline write inside CI needs one of these events on this branch, and a writing cadence."""

    events: tuple[str, ...] = ("schedule",)
    branch: str = "main"
    pr_label_writes: bool = False


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. A test gets max(``timeout_per_file``, 1.25 x est_time), plus the increase where retry is on."""

    timeout_per_file: float = 1200.0
    retry_timeout_increase: float = 600.0
    cap: float = 86_400.0
    kill_grace: float = 5.0


@dataclass(frozen=True, slots=True)
class Enforcement:
    allow: tuple[str, ...] = ()
    on_outage: Literal["fail", "shadow"] = "fail"


@dataclass(frozen=True, slots=True)
class StoreConfig:
    """``url`` has its relative SQLite path already resolved against ``Config.base``. ``migration_url``: the direct
    endpoint of a database whose ``url`` leads through a transaction pooler.
    """

    url: str
    migration_url: str | None = None
    journal: Literal["wal", "delete"] = "wal"

    @property
    def is_service(self) -> bool:
        """Whether runs go through a service instead of straight into a database."""
        return self.url.strip().lower().startswith(("https://", "http://"))


@dataclass(frozen=True, slots=True)
class ProvenanceConfig:
    """``packages``: versions of these installed packages are stored with each run.

    ``tested_sha`` and ``image_digest`` are what only the job that prepared the machine knows; None: git is asked for
    the commit, and the image is not known.
    """

    packages: tuple[str, ...] = ()
    tested_sha: str | None = None
    image_digest: str | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """Effective values. ``base`` is the folder of driftgate.toml, else the repository root, else the working folder.

    ``repository`` is the repository root, which test paths are relative to; ``base`` where there is none.

    ``sources`` maps a dotted key to where its value came from (``preset miles``, a file's path, ``environment ...``,
    ``option ...``), for ``driftgate config show``.
    """

    base: Path
    repository: Path
    project: str
    preset: str
    capture_metrics: tuple[str, ...]
    gate: GatePolicy
    trust: Literal["run", "metric"]
    defaults: Mapping[str, MetricDefault]
    roots: tuple[Root, ...]
    labels: Mapping[str, str]
    generations: tuple[str, ...]
    suites: Mapping[str, Suite]
    cadences: Mapping[str, Cadence]
    requests: RequestRules
    changes: ChangeRules
    write: WriteRule
    retry: Retry
    timeouts: Timeouts
    enforcement: Enforcement
    store: StoreConfig
    provenance: ProvenanceConfig
    service: ServiceConfig = field(default_factory=ServiceConfig)
    command: tuple[str, ...] = ("{python}", "{file}")
    label_registry: LabelRegistry | None = None
    sources: Mapping[str, str] = field(default_factory=dict)

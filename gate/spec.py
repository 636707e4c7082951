"""A gate spec: what one ``register_ci_gate`` call asks to be judged, as values. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from gate.identity import SpecKey

DRIFT_CHECKS = ("anchor", "shift", "spread")
ReduceName = Literal["mean", "median", "min", "max", "p50", "p95"]


@dataclass(frozen=True, slots=True)
class Reduction:
    """One number out of a series: ``reduce`` over the last ``last`` points whose step is at least ``from_step``."""

    reduce: ReduceName
    last: int | None = None
    from_step: int | None = None


Steps = Literal["last", "all"] | tuple[int, ...] | Reduction


@dataclass(frozen=True, slots=True)
class Constraint:
    """Half-widths of the corridor, relative to |reference| and absolute; a parameter not given is 0."""

    rel_up: float = 0.0
    abs_floor_up: float = 0.0
    rel_down: float = 0.0
    abs_floor_down: float = 0.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Absolute bounds, both included, judged without history from the first run on."""

    min: float | None = None
    max: float | None = None


@dataclass(frozen=True, slots=True)
class ExpectPoints:
    """How many points the metric must have: exactly ``count``, or at least ``count`` where ``at_least``."""

    count: int
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class GateSpec:
    """One declaration. ``key`` is its identity; everything below ``constraint`` is policy and enters no key."""

    key: SpecKey
    steps: Steps
    constraint: Constraint
    limits: Limits | None = None
    expect_points: ExpectPoints | None = None
    enforce: bool = False
    allowlist_reason: str | None = None
    checks: tuple[str, ...] = DRIFT_CHECKS
    line: int = 0

    @property
    def metric_key(self) -> str:
        return self.key.metric_key


@dataclass(frozen=True, slots=True)
class MetricDefault:
    """A row of the defaults table: fills a whole ``steps`` or a whole ``constraint`` that a declaration leaves out.

    The literals are kept as written in the table, because they become the coordinate's key.
    """

    steps: Any
    constraint: Mapping[str, Any]


GateDefaults = Mapping[str, MetricDefault]

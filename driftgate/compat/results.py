"""What `evaluate_gate` answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class GateStatus(Enum):
    """Of one coordinate. INACTIVE: it has no trusted value yet; ERROR: nothing could be selected."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    INACTIVE = "inactive"
    ERROR = "error"


@dataclass(frozen=True)
class MetricGateResult:
    """The answer at one coordinate.

    ``step`` is -1 for ``"last"``, and None where selection failed: then there is one result for the declaration,
    without ``at_step``, where the value came from, and without ``current``, the value. ``baseline_mean`` is None
    where ``baseline_n`` is 0.
    """

    metric_key: str
    steps_key: str
    constraint_key: str
    step: int | None
    at_step: int | None
    current: float | None
    historical_status: GateStatus
    baseline_n: int
    baseline_mean: float | None
    reason: str

    @property
    def trusted(self) -> bool:
        return self.historical_status in (GateStatus.PASS, GateStatus.INACTIVE)


@dataclass(frozen=True)
class GateResult:
    """The run: trusted if every coordinate is, so also where nothing is declared."""

    test_path: str
    backend: str
    suite: str
    metrics: list[MetricGateResult] = field(default_factory=list)

    @property
    def trusted(self) -> bool:
        return all(metric.trusted for metric in self.metrics)

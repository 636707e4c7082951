"""The gate's answer on one run, by columns: per gate spec, arrays over its coordinates.

A run may have ten thousand coordinates, so no object is made per coordinate; `gate.verdict_json` writes the rows that
people and other programs read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gate.identity import SeriesIdentity
from gate.policy import GatePolicy
from gate.provenance import Provenance
from gate.spec import GateSpec

Outcome = Literal["trusted", "not_trusted", "not_judged"]
Mode = Literal["shadow", "enforced"]
WITHOUT_HISTORY = ("selection", "limits")
"""The checks that compare with nothing stored."""


class Status(IntEnum):
    """Ordered by severity, so that the status of a group is the maximum of its members."""

    PASS = 0
    INACTIVE = 1
    OUTSIDE = 2
    FAIL = 3
    ERROR = 4

    @property
    def label(self) -> str:
        return self.name.lower()

    @classmethod
    def of(cls, label: str) -> Status:
        """The status of that label. Raises KeyError."""
        return cls[label.upper()]


@dataclass(frozen=True, slots=True, eq=False)
class CheckColumns:
    """One check over the m coordinates of a gate spec.

    ``status`` int8 (m,) of `Status`. ``n`` int64 (m,), ``mean``, ``lo``, ``hi`` float64 (m,), NaN where the check had
    no reference; None for checks that have no corridor (limits, selection). ``reasons`` maps a coordinate's index to
    its sentence; coordinates that pass have none.
    """

    status: NDArray[np.int8]
    n: NDArray[np.int64] | None = None
    mean: NDArray[np.float64] | None = None
    lo: NDArray[np.float64] | None = None
    hi: NDArray[np.float64] | None = None
    reasons: Mapping[int, str] = field(default_factory=dict)

    @property
    def numbers(self) -> dict[str, NDArray[Any]]:
        """The columns of numbers that this check has, by name."""
        columns = {"n": self.n, "mean": self.mean, "lo": self.lo, "hi": self.hi}
        return {name: column for name, column in columns.items() if column is not None}

    @property
    def active(self) -> NDArray[np.bool_]:
        """Where the check judged a value."""
        return np.isin(self.status, (Status.PASS, Status.OUTSIDE, Status.FAIL))


@dataclass(frozen=True, slots=True)
class SpecCheck:
    """One check's answer on a whole gate spec; ``facts`` are its numbers by their JSON names (``outside``, ``of``)."""

    status: Status
    reason: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class SpecVerdict:
    """One gate spec judged.

    ``steps`` int64 (m,); ``at_steps`` int64 (m,), where each value came from, -1 where the record had no step;
    ``values`` float64 (m,), NaN or infinite where the record was. ``columns`` holds the checks per coordinate
    (``selection``, ``corridor``, ``limits``, ...), ``checks`` the answers for the whole spec under the same names.
    ``baseline`` and ``anchor`` are run ids, newest and oldest first. ``points`` is the metric's number of points.
    """

    spec: GateSpec
    steps: NDArray[np.int64]
    at_steps: NDArray[np.int64]
    values: NDArray[np.float64]
    columns: Mapping[str, CheckColumns]
    checks: Mapping[str, SpecCheck]
    points: int
    baseline: tuple[str, ...] = ()
    anchor: tuple[str, ...] = ()
    epoch_id: str | None = None

    @property
    def status(self) -> Status:
        """The worst of its checks. A check that is not active yet does not hide that another compared and passed."""
        worst = max((check.status for check in self.checks.values()), default=Status.PASS)
        compared = (check.status for name, check in self.checks.items() if name not in WITHOUT_HISTORY)
        return Status.PASS if worst is Status.INACTIVE and Status.PASS in compared else worst

    @property
    def trusted(self) -> bool:
        return self.status < Status.FAIL

    @property
    def worst(self) -> NDArray[np.int8]:
        """The worst status of each coordinate, int8 (m,) of `Status`."""
        worst = np.zeros(self.steps.size, np.int8)
        for check in self.columns.values():
            np.maximum(worst, check.status, out=worst)
        return worst

    @property
    def compared(self) -> int:
        """How many coordinates were judged against history by any check."""
        active = [check.active for check in self.columns.values() if check.n is not None]
        return int(np.count_nonzero(np.any(active, axis=0))) if active else 0


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to look at that fails no run. ``kind`` is a word of the specification, ``metric_key`` may be None."""

    kind: str
    text: str
    metric_key: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a run in the store. ``repeat``: the same run had been written before."""

    run_id: str
    trusted: bool
    repeat: bool
    reason: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """``outcome`` is not_trusted iff any check of any spec is FAIL or ERROR; ``reason`` belongs to not_judged."""

    outcome: Outcome
    identity: SeriesIdentity
    policy: GatePolicy
    provenance: Provenance = field(default_factory=Provenance)
    specs: tuple[SpecVerdict, ...] = ()
    warnings: tuple[Notice, ...] = ()
    reason: str | None = None
    mode: Mode = "shadow"
    written: Written | None = None

    @property
    def trusted(self) -> bool:
        return self.outcome == "trusted"

    @property
    def compared(self) -> int:
        return sum(spec.compared for spec in self.specs)

    @property
    def coordinates_total(self) -> int:
        return sum(spec.steps.size for spec in self.specs)

    @property
    def has_error(self) -> bool:
        return any(spec.status is Status.ERROR for spec in self.specs)

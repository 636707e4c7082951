"""What a check sees and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from gate.alignment import Alignment
from gate.baseline import Baseline
from gate.corridor import Corridor
from gate.history import POINT_COUNT_RUNS, SpecHistory, StoredSeries
from gate.policy import GatePolicy
from gate.selection import Selection
from gate.spec import GateSpec
from gate.verdict import CheckColumns, SpecCheck, Status

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One gate spec of one run, prepared for its checks.

    ``corridor`` is around the baseline. ``anchor``: the values of the epoch's first runs, all of them; a reference only
    where the anchor `is_full`.
    """

    spec: GateSpec
    selection: Selection
    history: SpecHistory
    aligned: Alignment
    baseline: Baseline
    corridor: Corridor
    anchor: Baseline
    policy: GatePolicy
    _made: dict[Callable[[Case], Any], Any] = field(default_factory=dict, repr=False)

    @classmethod
    def prepare(cls, spec: GateSpec, selection: Selection, history: SpecHistory, policy: GatePolicy) -> Case:
        aligned = Alignment(selection.steps)
        newest = max(POINT_COUNT_RUNS, policy.shift_runs - 1)
        baseline = Baseline.aligned(history.baseline, aligned, policy.history, newest)
        anchor_rows = history.anchor[: policy.anchor_runs] if spec.checks else ()
        anchor = Baseline.aligned(anchor_rows, aligned, policy.anchor_runs)
        corridor = Corridor.around(baseline.mean, spec.constraint)
        return cls(spec, selection, history, aligned, baseline, corridor, anchor, policy)

    @property
    def rows(self) -> Sequence[StoredSeries]:
        """The counting runs that carry this gate spec, newest first."""
        return self.history.baseline

    @property
    def anchor_rows(self) -> Sequence[StoredSeries]:
        """The first counting runs of the epoch, oldest first; none where no drift check applies."""
        return self.history.anchor[: self.policy.anchor_runs] if self.spec.checks else ()

    @property
    def anchor_is_full(self) -> bool:
        return len(self.anchor_rows) == self.policy.anchor_runs

    @property
    def judgeable(self) -> NDArray[np.bool_]:
        """Where selection found a value."""
        found = np.ones(self.selection.steps.size, np.bool_)
        found[list(self.selection.errors)] = False
        return found

    def once(self, make: Callable[[Case], T]) -> T:
        """``make`` of this case, worked out at the first call: checks that need the same thing share it."""
        if make not in self._made:
            self._made[make] = make(self)
        return cast("T", self._made[make])

    def statuses(self, initial: Status) -> NDArray[np.int8]:
        """A status for every coordinate: ERROR where selection found no judgeable value, else ``initial``."""
        status = np.full(self.selection.steps.size, initial, np.int8)
        status[list(self.selection.errors)] = Status.ERROR
        return status


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A check's answer: for each coordinate where it judges coordinates, and for the gate spec as a whole."""

    check: SpecCheck
    columns: CheckColumns | None = None


Check = Callable[[Case], Answer | None]
"""None: the check does not apply to this gate spec."""

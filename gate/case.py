"""What a check sees and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gate.baseline import Baseline
from gate.history import SpecHistory, StoredSeries
from gate.policy import GatePolicy
from gate.selection import Selection
from gate.spec import GateSpec
from gate.verdict import CheckColumns, SpecCheck, Status


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One gate spec of one run, prepared for its checks."""

    spec: GateSpec
    selection: Selection
    history: SpecHistory
    baseline: Baseline
    policy: GatePolicy

    @classmethod
    def prepare(cls, spec: GateSpec, selection: Selection, history: SpecHistory, policy: GatePolicy) -> Case:
        baseline = Baseline.of(history.baseline, selection.steps, policy.history)
        return cls(spec, selection, history, baseline, policy)

    @property
    def rows(self) -> Sequence[StoredSeries]:
        """The counting runs that carry this gate spec, newest first."""
        return self.history.baseline

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

"""Addresses: which series, which gate spec, which number."""

from __future__ import annotations

from dataclasses import dataclass

AGGREGATE_STEP = -1
"""The ``step`` of ``"last"`` and of reductions: a constant, so that runs of different length share a history."""


@dataclass(frozen=True, slots=True, order=True)
class SeriesIdentity:
    """Runs of one series share a baseline, no others do. ``suite`` is the stage that *executed* the test."""

    project: str
    test_path: str
    backend: str
    suite: str


@dataclass(frozen=True, slots=True, order=True)
class SpecKey:
    """A gate spec's identity inside its series: the literals of its declaration as canonical JSON."""

    metric_key: str
    steps_key: str
    constraint_key: str


@dataclass(frozen=True, slots=True, order=True)
class Coordinate:
    """The address of one number inside a series."""

    metric_key: str
    steps_key: str
    constraint_key: str
    step: int

    @property
    def spec_key(self) -> SpecKey:
        return SpecKey(self.metric_key, self.steps_key, self.constraint_key)

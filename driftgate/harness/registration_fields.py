"""The values a registration's parameters may have; each rule complains about every mistake. Standard library only.

A result is meaningful only where nothing was complained about.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from driftgate.config.label_names import LABEL_RULE, is_safe_label
from driftgate.config.model import Backend, Config
from driftgate.config.schema import dotted
from gate.calls import Complain
from gate.wording import listed, nearest, shown

MOST_GPUS = 8
MOST_STRINGS = 100
MOST_LISTED = 50
MOST_EXPLAINED = 5
"""Unknown labels of one call for which a likely one is looked up: that is slow, and people read no more."""


@dataclass(frozen=True, slots=True)
class FieldRules:
    """The rules for one backend, with the suites, labels and generations of the configuration."""

    config: Config
    backend: Backend

    def est_time(self, value: Any, complain: Complain) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_positive(value):
            complain(f"found {shown(value)}; write the expected seconds as a finite number above 0")
            return 0.0
        return float(value)

    def suite(self, value: Any, complain: Complain) -> str:
        valid = [suite.name for suite in self.config.suites.values() if suite.backend == self.backend]
        if not isinstance(value, str):
            complain(f"found {shown(value)}; write a suite's name: {_or_how_to_add(valid, 'suites')}")
        elif value in self.config.suites and value not in valid:
            other = self.config.suites[value].backend
            complain(f"{value!r} is a suite for {other}, not {self.backend}; valid: {_or_how_to_add(valid, 'suites')}")
        elif value not in valid:
            complain(f"unknown suite {shown(value)}{nearest(value, valid)}; valid: {_or_how_to_add(valid, 'suites')}")
        return str(value)

    def labels(self, value: Any, complain: Complain) -> tuple[str, ...]:
        labels = _distinct_strings(value, complain)
        known = self.config.labels
        unknown = [label for label in labels if label not in known]
        for place, label in enumerate(unknown):
            meant = nearest(label, known) if place < MOST_EXPLAINED else ""
            text = f"unknown label {shown(label)}{meant}; known labels: {_several(known) or 'none'}"
            complain(f"{text}; {self._how_to_add(label)}")
        return labels

    def _how_to_add(self, label: str) -> str:
        if not is_safe_label(label):
            return LABEL_RULE
        registry = self.config.label_registry
        if registry is not None:
            return f'to add one write "{label}": "what it covers" into {registry.name} in {registry.path}'
        return f'to add one write {dotted((label,))} = "what it covers" under [labels] in driftgate.toml'

    def nightly(self, value: Any, complain: Complain) -> bool:
        if not isinstance(value, bool):
            complain(f"found {shown(value)}; write True or False")
        return bool(value)

    def disabled(self, value: Any, complain: Complain) -> str | None:
        if value is not None and not (isinstance(value, str) and value.strip()):
            complain(f"found {shown(value)}; write None, or why it is disabled as a non-empty string")
        return value  # type: ignore[no-any-return]

    def hardware(self, value: Any, complain: Complain) -> tuple[str, ...]:
        if self.backend != "cuda":
            complain(f"is for CUDA alone; leave it out for {self.backend}")
            return ()
        known = self.config.generations
        hardware = _distinct_strings(value, complain)
        for generation in hardware:
            if generation not in known:
                complain(f"unknown generation {shown(generation)}{nearest(generation, known)}; valid: {listed(known)}")
        if value == []:
            complain(f"found an empty list; name the generations this test supports: {listed(known)}")
        return hardware

    def num_gpus(self, value: Any, complain: Complain) -> int:
        if self.backend != "cuda":
            complain(f"is for CUDA alone; leave it out for {self.backend}")
        elif isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_GPUS:
            complain(f"found {shown(value)}; write an int from 1 to {MOST_GPUS}")
        return value  # type: ignore[no-any-return]


def _is_positive(number: float) -> bool:
    try:
        return math.isfinite(number) and number > 0
    except OverflowError:
        return False


def _distinct_strings(value: Any, complain: Complain) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        complain(f"found {shown(value)}; write a list of strings")
        return ()
    if len(value) > MOST_STRINGS:
        complain(f"found {len(value)} strings; at most {MOST_STRINGS}")
        return ()
    counted = Counter(value)
    for item, count in counted.items():
        if count > 1:
            complain(f"{shown(item)} listed twice; write each once")
    return tuple(counted)


def _several(names: Collection[str]) -> str:
    more = len(names) - MOST_LISTED
    return listed(islice(names, MOST_LISTED)) + (f" and {more} more" if more > 0 else "")


def _or_how_to_add(names: Iterable[str], table: str) -> str:
    return listed(names) or f"none; add a table [{table}.NAME] to driftgate.toml"

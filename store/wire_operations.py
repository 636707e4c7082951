"""What operators do, and what is listed beside the runs, read from documents that `store.documents` makes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gate.effects import Effects, Flip, MovedMeans, TrustChange
from gate.identity import SeriesIdentity
from store.operations import ActionResult, EnforcementSwitch, Epoch, SeriesEffects, TrustEvent
from store.stored import Attempt, SeriesSummary
from store.wire import Document, facts_from, identity_from, key_from, promised

_NAMES = ("trust", "means", "verdicts")


def summary_from(document: Document) -> SeriesSummary:
    """Raises NotAsPromised, as all of these."""
    with promised():
        warnings = tuple(document["warnings"])
        return facts_from(SeriesSummary, document, identity=identity_from(document["series"]), warnings=warnings)


def epoch_from(document: Document) -> Epoch:
    with promised():
        return facts_from(Epoch, document, identity=identity_from(document["series"]))


def event_from(document: Document) -> TrustEvent:
    with promised():
        return facts_from(TrustEvent, document)


def attempt_from(document: Document) -> Attempt:
    with promised():
        return facts_from(Attempt, document, identity=identity_from(document["series"]))


def action_from(document: Document) -> ActionResult:
    with promised():
        effects = document["effects"]
        return ActionResult(
            runs=tuple(document["runs"]),
            epoch_id=document.get("epoch_id"),
            effects=None if effects is None else tuple(_effects(effects)),
        )


def switch_from(document: Document) -> EnforcementSwitch:
    with promised():
        on, changed = document["enforcement"] == "on", document.get("changed", False)
        return facts_from(EnforcementSwitch, document, on=on, changed=changed)


def _effects(document: Mapping[str, Sequence[Document]]) -> list[SeriesEffects]:
    """By series, in the order in which the lists first name them."""
    by_series: dict[SeriesIdentity, dict[str, list[Document]]] = {}
    for name in _NAMES:
        for entry in document[name]:
            lists = by_series.setdefault(identity_from(entry["series"]), {each: [] for each in _NAMES})
            lists[name].append(entry)
    return [SeriesEffects(identity, _of_series(lists)) for identity, lists in by_series.items()]


def _of_series(lists: Mapping[str, Sequence[Document]]) -> Effects:
    return Effects(
        trust=tuple(facts_from(TrustChange, entry) for entry in lists["trust"]),
        means=tuple(_moved_means(entry) for entry in lists["means"]),
        flips=tuple(facts_from(Flip, entry, reasons=tuple(entry["reasons"])) for entry in lists["verdicts"]),
    )


def _moved_means(entry: Document) -> MovedMeans:
    steps = np.array(entry["steps"], np.int64)
    return MovedMeans(key_from(entry), entry["reference"], steps, _means(entry["old"]), _means(entry["new"]))


def _means(numbers: Sequence[Any]) -> NDArray[np.float64]:
    return np.array([math.nan if number is None else number for number in numbers], np.float64)

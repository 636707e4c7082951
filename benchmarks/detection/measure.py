"""From red runs to numbers: false alarms, how soon a change was caught, each with its 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.judges import Reds

Z95 = 1.959964
WARM_UP = 20
"""Before this run not every check is active: false alarms are counted from it on, earlier ones apart."""
WITHIN = (10, 25, 50, 100)


@dataclass(frozen=True, slots=True)
class Share:
    """``hits`` of ``of``, with its 95 % interval."""

    hits: int
    of: int
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.hits / self.of if self.of else math.nan


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What one judge did in one scenario. ``caught``: within `WITHIN` runs; empty where nothing changes.

    ``delays``: per history the first red run after the change, the first changed run being 1; infinite if none.
    """

    judge: str
    false_alarms: Share
    early_reds: Share
    caught: tuple[Share, ...]
    delays: tuple[float, ...]
    ms_per_run: float

    @property
    def median_delay(self) -> float:
        return float(np.median(self.delays)) if self.delays else math.nan

    def caught_within(self, runs: int) -> Share:
        return share_of([delay <= runs for delay in self.delays])


def outcome(judge: str, judged: Sequence[Reds], changed: NDArray[np.int64]) -> Outcome:
    """``changed``: the runs that differ from those before; red ones among the others are false alarms."""
    runs = sum(reds.red.size for reds in judged)
    delays = tuple(_delay(reds.red, int(changed[0])) for reds in judged) if changed.size else ()
    return Outcome(
        judge=judge,
        false_alarms=_clustered([_quiet(reds.red, changed) for reds in judged]),
        early_reds=_clustered([reds.red[:WARM_UP] for reds in judged]),
        caught=tuple(share_of([delay <= within for delay in delays]) for within in WITHIN) if delays else (),
        delays=delays,
        ms_per_run=1e3 * sum(reds.seconds for reds in judged) / max(runs, 1),
    )


def wilson(share: float, of: float) -> tuple[float, float]:
    """The score interval of 95 % for ``share`` of ``of`` independent trials (E. B. Wilson, JASA 22, 1927)."""
    if of <= 0:
        return 0.0, 1.0
    square = Z95**2
    centre = (share + square / (2 * of)) / (1 + square / of)
    half = Z95 / (1 + square / of) * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    return max(0.0, centre - half), min(1.0, centre + half)


def share_of(hits: Sequence[bool]) -> Share:
    """A share of independent trials."""
    low, high = wilson(sum(hits) / max(len(hits), 1), len(hits))
    return Share(sum(hits), len(hits), low, high)


def share_of_runs(reds: Sequence[Sequence[int]], runs: int) -> Share:
    """The share of red runs in histories of ``runs`` runs each, the red ones given by their numbers."""
    return _clustered([np.isin(np.arange(runs), red) for red in reds])


def _clustered(histories: Sequence[NDArray[np.bool_]]) -> Share:
    """A share of runs, which are not independent within a history: Wilson on the effective number of runs.

    The design effect is the variance of the share between histories over that of independent runs (L. Kish, Survey
    Sampling, 1965), at least 1.
    """
    hits = np.array([np.count_nonzero(red) for red in histories], np.float64)
    sizes = np.array([red.size for red in histories], np.float64)
    of = sizes.sum()
    share = hits.sum() / of if of else 0.0
    independent = share * (1 - share) / of if of else 0.0
    count = len(histories)
    effect = 1.0
    if independent > 0 and count > 1:
        between = count / (count - 1) * float(np.sum((hits - share * sizes) ** 2)) / of**2
        effect = max(1.0, between / independent)
    low, high = wilson(float(share), float(of / effect))
    return Share(int(hits.sum()), int(of), low, high)


def _quiet(red: NDArray[np.bool_], changed: NDArray[np.int64]) -> NDArray[np.bool_]:
    """After the warm-up, where nothing had changed; a lasting change ends the quiet."""
    quiet = np.ones(red.size, np.bool_)
    quiet[:WARM_UP] = False
    quiet[changed[changed < red.size]] = False
    return red[quiet]


def _delay(red: NDArray[np.bool_], change: int) -> float:
    after = np.flatnonzero(red[change:])
    return float(after[0] + 1) if after.size else math.inf

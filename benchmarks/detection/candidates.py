"""What might be added to the shift check or changed in it, and what each costs and gains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.detection.alternatives import Rule, block, exceedance, level, log_spread, reds
from benchmarks.detection.measure import WARM_UP
from benchmarks.detection.simulate import Change, Floats, Layout, Noise, changed_runs, simulate

BAND_SDS = 6.0
F = 0.05
SPREAD_FLOOR = float(np.log(1.25))
"""A spread must have changed by a quarter: under correlated nights its estimates drift by less than that."""
SIZES = ((10, 10, 2.9), (15, 10, 2.3), (20, 10, 2.0), (20, 7, 2.3), (20, 5, 2.7), (30, 10, 1.8), (40, 20, 1.35))
"""Runs in the anchor, runs in the median, multiplier: as specified, and the last one as tried below."""
ONE_METRIC = Layout(metrics=1)


@dataclass(frozen=True, slots=True)
class Trying:
    """A history for the candidates: ``within`` runs it should be caught, 0 where nothing changes."""

    name: str
    noise: Noise
    change: Change = Change()  # noqa: RUF009 - frozen
    layout: Layout = ONE_METRIC
    within: int = 0

    def values(self, count: int) -> Floats:
        return np.stack([simulate(self.noise, self.change, self.layout, (self.name, at))[:, 0] for at in range(count)])


TRYINGS = (
    Trying("normal", Noise()),
    Trying("normal, 14 steps", Noise(), layout=Layout(metrics=1, steps=14)),
    Trying("t3", Noise("t3")),
    Trying("AR(.3)", Noise("ar")),
    Trying("lognormal", Noise("lognormal"), layout=Layout(metrics=1, level=0.01)),
    Trying("drift of sd/5 per run, rho 0.9", Noise(shared=0.9), Change("ramp", size=0.0008), within=25),
    Trying("step 1 sd, rho 0.5", Noise(), Change("step", size=1.0), within=25),
    Trying("step 3 sd, rho 0.9", Noise(shared=0.9), Change("step", size=3.0), within=10),
    Trying("late step 1.5 sd, rho 0", Noise(shared=0.0), Change("late_step", size=1.5), within=25),
    Trying("late step 1.5 sd, rho 0.5", Noise(), Change("late_step", size=1.5), within=25),
    Trying("variance doubled", Noise(), Change("spread", size=2**0.5), within=25),
    Trying("outlier 4 sd", Noise(), Change("outliers", size=4.0), within=1),
)


def candidates(band: float) -> Mapping[str, tuple[Rule, ...]]:
    """By name, for a band of that half-width; each rule beside the shift check unless it replaces it."""
    floor = F * band
    shift = Rule(level, floor=floor)
    return {
        "shift as specified": (shift,),
        "plus five blocks of steps (2.3)": (shift, *(Rule(block(at, 5), 2.3, floor=floor) for at in range(5))),
        "plus spread (2.3, floor 25 %)": (shift, Rule(log_spread, 2.3, floor=SPREAD_FLOOR)),
        "plus spread (2.3, no floor)": (shift, Rule(log_spread, 2.3)),
        "plus anchor of 40, median of 20 (1.35)": (shift, Rule(level, 1.35, anchor=40, recent=20, floor=floor)),
        "plus one run alone (5.5)": (shift, Rule(level, 5.5, recent=1, floor=floor)),
        "f = 0.25": (Rule(level, floor=5 * floor),),
        "median of 5 (2.7)": (Rule(level, 2.7, recent=5, floor=floor),),
        "anchor of 10 (2.9)": (Rule(level, 2.9, anchor=10, floor=floor),),
        "anchor of 30 (1.8)": (Rule(level, 1.8, anchor=30, floor=floor),),
    }


def tried(count: int) -> Iterator[tuple[str, list[float]]]:
    """Each candidate's name with one number for each of `TRYINGS`: false alarms per run, or the share caught."""
    histories = [trying.values(count) for trying in TRYINGS]
    for name in candidates(1.0):
        yield name, [_score(name, trying, values) for trying, values in zip(TRYINGS, histories, strict=True)]


def size_exceedances(samples: int) -> Iterator[tuple[int, int, float, float]]:
    """Each of `SIZES` with the p per gate spec and run that normal noise has."""
    for anchor, recent, multiplier in SIZES:
        yield anchor, recent, multiplier, exceedance(Rule(level, multiplier, anchor, recent), samples)


def _score(name: str, trying: Trying, values: Floats) -> float:
    rules = candidates(BAND_SDS * trying.noise.sigma)[name]
    red = reds(rules, values)
    if not trying.within:
        return float(red[:, WARM_UP:].mean())
    changed = changed_runs(trying.change, trying.layout.runs)
    if trying.change.kind == "outliers":
        return float(red[:, changed].mean())
    return float(red[:, trying.change.at : trying.change.at + trying.within].any(axis=1).mean())

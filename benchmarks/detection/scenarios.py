"""The histories that are tried, and what must be reached in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from benchmarks.detection.simulate import Change, Floats, Layout, Noise, simulate

Band = dict[str, float]
PRESET_KL: Band = {"rel_up": 0.5, "abs_floor_up": 0.02, "rel_down": 0.8, "abs_floor_down": 0.02}
"""What the preset declares for ``train/ppo_kl``: at level 0.05 a band of 0.025 up and 0.04 down."""
WIDE = 6.0
"""A band, in sds, that leaves a step to the other checks."""
NOTHING, USUAL, QUIET = Change(), Layout(), Layout(runs=110)
NARROWEST = 4.5
"""The narrowest band in sds for which few false alarms are promised."""


@dataclass(frozen=True, slots=True)
class Target:
    """``false_alarms``: at most ``bound`` per run; ``caught``: in at least ``bound`` of them by run ``within``."""

    what: Literal["false_alarms", "caught"]
    bound: float
    within: int = 0


@dataclass(frozen=True, slots=True)
class Scenario:
    """``band`` None: what `driftgate suggest` makes of the first runs. ``quick``: part of the short table."""

    name: str
    noise: Noise
    band: Band | None
    change: Change = NOTHING
    layout: Layout = USUAL
    target: Target | None = None
    quick: bool = False

    @property
    def stop_from(self) -> int | None:
        """A lasting change is caught once; single outliers and histories without change are judged to their end."""
        return None if self.change.kind in ("none", "outliers") else self.change.at

    def histories(self, count: int) -> Iterator[Floats]:
        return (simulate(self.noise, self.change, self.layout, (self.name, index)) for index in range(count))


def scenarios() -> tuple[Scenario, ...]:
    return (*_quiet(), *_drifts(), *_steps(), *_others())


FEW_FALSE_ALARMS = Target("false_alarms", 1 / 200)
DRIFT_CAUGHT = Target("caught", 0.95, within=29)
STEP_CAUGHT = Target("caught", 0.95, within=10)


def sds(noise: Noise, width: float = NARROWEST) -> Band:
    """A band of ``width`` sds on both sides."""
    half = width * noise.sigma
    return {"abs_floor_up": half, "abs_floor_down": half}


def _quiet() -> Iterator[Scenario]:
    for shared in (0.0, 0.5, 0.9):
        yield _still(f"normal, rho {shared:g}", Noise(shared=shared), target=FEW_FALSE_ALARMS, quick=shared == 0.5)
    varying = replace(QUIET, varying_length=True)
    yield _still("normal, length varies by 3", Noise(), varying, target=FEW_FALSE_ALARMS)
    others = (
        ("Student t3", Noise("t3"), QUIET),
        ("AR(.3)", Noise("ar"), QUIET),
        ("lognormal KL, sd 40 % of level", Noise("lognormal"), replace(QUIET, level=0.01)),
        ("reward, bounded 2 sd above its level", Noise("bounded", sigma=0.01), replace(QUIET, level=0.98)),
    )
    for name, noise, layout in others:
        yield _still(name, noise, layout)
        yield replace(_still(f"{name}, suggested band", noise, layout), band=None)


def _still(
    name: str, noise: Noise, layout: Layout = QUIET, target: Target | None = None, *, quick: bool = False
) -> Scenario:
    return Scenario(f"nothing: {name}", noise, sds(noise), layout=layout, target=target, quick=quick)


def _drifts() -> Iterator[Scenario]:
    change = Change("ramp", size=0.001)
    for sigma, shared in product((0.002, 0.005), (0.0, 0.5, 0.9)):
        name = f"drift 0.001 per run, sd {sigma:g}, rho {shared:g}"
        noise = Noise(sigma=sigma, shared=shared)
        yield Scenario(name, noise, PRESET_KL, change, target=DRIFT_CAUGHT, quick=shared == 0.5)
    for words, noise in (("sd 0.01", Noise(sigma=0.01)), ("sd 0.005, AR(.3)", Noise("ar", 0.005))):
        yield Scenario(f"drift 0.001 per run, {words}", noise, sds(noise), change)


def _steps() -> Iterator[Scenario]:
    for size, target, shares in ((3.0, STEP_CAUGHT, (0.0, 0.5, 0.9)), (1.0, None, (0.0, 0.5))):
        for shared in shares:
            noise, change = Noise(shared=shared), Change("step", size=size)
            name = f"step {size:g} sd, rho {shared:g}"
            yield Scenario(name, noise, sds(noise, WIDE), change, target=target, quick=bool(target) and shared == 0.5)


def _others() -> Iterator[Scenario]:
    noise = Noise()
    band = sds(noise, WIDE)
    yield Scenario("step 3 sd, last fifth of the steps", noise, band, Change("late_step", size=3.0))
    yield Scenario("outlier of 8 sd every tenth run", noise, band, Change("outliers", size=8.0))
    yield Scenario("noise variance doubled", noise, band, Change("spread", size=2**0.5))
    yield Scenario("noise sd tripled", noise, band, Change("spread", size=3.0))
    step = Change("step", size=1.0)
    yield Scenario("step 1 sd, lognormal KL, suggested band", Noise("lognormal"), None, step, Layout(level=0.01))

"""The histories that are tried, and what must be reached in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from benchmarks.detection.simulate import Change, Floats, Layout, Noise, simulate

Band = dict[str, float]
PRESET_KL: Band = {"rel_up": 0.5, "abs_floor_up": 0.02, "rel_down": 0.8, "abs_floor_down": 0.02}
"""What the preset declares for ``train/ppo_kl``: at level 0.05 a band of 0.025 up and 0.04 down."""
NOTHING, USUAL = Change(), Layout()
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
    name: str
    noise: Noise
    band: Band
    change: Change = NOTHING
    layout: Layout = USUAL
    target: Target | None = None

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
        noise = Noise(shared=shared)
        yield Scenario(f"quiet: normal, rho {shared:g}", noise, sds(noise), target=FEW_FALSE_ALARMS)
    for shape, words in (("t3", "Student t3"), ("ar", "AR(.3)")):
        noise = Noise(shape)  # type: ignore[arg-type]
        yield Scenario(f"quiet: {words}, rho 0.5", noise, sds(noise))
    skewed = Noise("lognormal", sigma=0.004)
    yield Scenario("quiet: lognormal KL, sd 40 % of level", skewed, sds(skewed), layout=Layout(level=0.01))
    reward = Noise("bounded", sigma=0.01)
    yield Scenario("quiet: reward, bounded 2 sd above its level", reward, sds(reward), layout=Layout(level=0.98))
    normal = Noise()
    layout = Layout(varying_length=True)
    yield Scenario("quiet: normal, length varies by 3", normal, sds(normal), layout=layout, target=FEW_FALSE_ALARMS)


def _drifts() -> Iterator[Scenario]:
    change = Change("ramp", size=0.001)
    for sigma in (0.002, 0.005):
        for shared in (0.0, 0.5, 0.9):
            name = f"drift 0.001 per run, sd {sigma:g}, rho {shared:g}"
            yield Scenario(name, Noise(sigma=sigma, shared=shared), PRESET_KL, change, target=DRIFT_CAUGHT)
    for sigma in (0.005, 0.01):
        yield Scenario(f"drift 0.001 per run, sd {sigma:g}, t3", Noise("t3", sigma), PRESET_KL, change)
        yield Scenario(f"drift 0.001 per run, sd {sigma:g}, AR(.3)", Noise("ar", sigma), PRESET_KL, change)


def _steps() -> Iterator[Scenario]:
    for size, target in ((3.0, STEP_CAUGHT), (1.0, None)):
        for shared in (0.0, 0.5, 0.9):
            noise = Noise(shared=shared)
            change = Change("step", size=size)
            yield Scenario(f"step {size:g} sd, rho {shared:g}", noise, sds(noise, 6.0), change, target=target)


def _others() -> Iterator[Scenario]:
    noise = Noise()
    band = sds(noise, 6.0)
    yield Scenario("step 3 sd, last fifth of the steps", noise, band, Change("late_step", size=3.0))
    yield Scenario("outlier of 8 sd every tenth run", noise, band, Change("outliers", size=8.0))
    yield Scenario("noise variance doubled", noise, band, Change("spread", size=2**0.5))
    yield Scenario("noise sd tripled", noise, band, Change("spread", size=3.0))
    skewed = Noise("lognormal", sigma=0.004)
    change = Change("step", size=1.0)
    yield Scenario("lognormal KL, step 1 sd", skewed, sds(skewed), change, Layout(level=0.01))

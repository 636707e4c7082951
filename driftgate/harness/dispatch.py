"""On which suites a selected test runs: at home, or where labels ask for it. Pure; standard library only."""

from __future__ import annotations

from dataclasses import dataclass

from driftgate.config.model import Config, Suite
from driftgate.harness.label_requests import LabelRequests
from driftgate.harness.registrations import Registration
from gate.numbers import counted
from gate.wording import listed


@dataclass(frozen=True, slots=True)
class SkippedPlace:
    """A generation that was asked for and on which the test does not run."""

    generation: str
    reason: str


@dataclass(frozen=True, slots=True)
class Dispatched:
    """``suites`` in the order of preference of their generations; empty where the test runs nowhere."""

    suites: tuple[str, ...]
    skipped: tuple[SkippedPlace, ...] = ()


def dispatch(registration: Registration, requests: LabelRequests, config: Config) -> Dispatched:
    """Home, unless generations are asked for: then once on each of those that a CUDA test supports, there on its home
    or the smallest suite with enough GPUs and all capabilities of the home suite.
    """
    if registration.backend != "cuda" or not requests.generations:
        return Dispatched((registration.suite,))
    places = [_place(registration, generation, config) for generation in requests.generations]
    return Dispatched(
        suites=tuple(place.name for place in places if isinstance(place, Suite)),
        skipped=tuple(place for place in places if isinstance(place, SkippedPlace)),
    )


def _place(registration: Registration, generation: str, config: Config) -> Suite | SkippedPlace:
    home = config.suites[registration.suite]
    if home.generation == generation:
        return home
    if generation not in registration.hardware:
        supported = listed(registration.hardware) or home.generation
        return SkippedPlace(generation, f"it supports {supported}, not {generation}")
    gpus = registration.num_gpus or home.gpus
    fitting = [
        suite
        for suite in config.suites.values()
        if (suite.backend, suite.generation) == ("cuda", generation)
        and suite.gpus >= gpus
        and set(home.capabilities) <= set(suite.capabilities)
    ]
    if not fitting:
        need = listed((counted(gpus, "GPU"), *home.capabilities))
        return SkippedPlace(generation, f"no suite of {generation} has what it needs: {need}")
    return min(fitting, key=lambda suite: (suite.gpus, len(suite.capabilities), suite.name))

"""Which suites a plan needs, and which of them wait for others. Pure; standard library only."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from driftgate.config.model import Config


@dataclass(frozen=True, slots=True)
class SuiteNeed:
    """``reason`` says in a few words why the suite is needed or not."""

    needed: bool
    reason: str


def need_of(*, runnable: bool, asked_by: str, affected_by: str | None) -> SuiteNeed:
    """A suite is needed iff a test can run there and a change affects it or somebody asked for it.

    ``asked_by`` is empty where nobody did; ``affected_by`` is None where no change affects it.
    """
    if not runnable:
        return SuiteNeed(needed=False, reason="no test to run")
    if asked_by:
        return SuiteNeed(needed=True, reason=f"asked for by {asked_by}")
    if affected_by is None:
        return SuiteNeed(needed=False, reason="no changed file affects it")
    return SuiteNeed(needed=True, reason=affected_by)


def planned_waits(planned: Collection[str], config: Config, *, fast_fail: bool) -> Mapping[str, tuple[str, ...]]:
    """For each planned suite the planned ones it starts after; through a suite that is not planned, too.

    None waits where fast-fail is off: then a failure elsewhere shall keep nothing from running.
    """
    return {
        name: tuple(
            other for other in config.suites if fast_fail and other in planned and other in _above(name, config)
        )
        for name in planned
    }


def start_order(waits: Mapping[str, tuple[str, ...]], config: Config) -> tuple[str, ...]:
    """The suites of ``waits`` so that each stands behind those it waits for; else in the configuration's order."""
    order: dict[str, None] = {}
    left = [name for name in config.suites if name in waits]
    while left:
        ready = next(name for name in left if order.keys() >= set(waits[name]))
        order[ready] = None
        left.remove(ready)
    return tuple(order)


def _above(name: str, config: Config) -> frozenset[str]:
    """Everything that ``name`` needs, directly or not."""
    found: set[str] = set()
    waiting = list(config.suites[name].needs)
    while waiting:
        needed = waiting.pop()
        if needed not in found:
            found.add(needed)
            waiting += config.suites[needed].needs
    return frozenset(found)

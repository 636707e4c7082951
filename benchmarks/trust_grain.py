"""What ``trust = "run"`` costs while one metric is red for weeks, against ``trust = "metric"``.

Simulated nights of four metrics. From night 40 on ``sick`` is off by ten bands for 35 nights. Five nights into that
``moved`` takes a step of 3 sd of its run mean, shared by all its steps, and ``new`` is declared. The seeds are fixed;
``python -m benchmarks.detection`` prints the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import mean, median
from typing import get_args

import numpy as np

from benchmarks.detection.tables import table as as_markdown
from gate.backtest import Backtest, Proposal, backtest
from gate.canonical import canonical_json
from gate.identity import SeriesIdentity, SpecKey
from gate.past import PastRun, PastValues, SeriesPast, TrustGrain
from gate.policy import GatePolicy
from gate.spec import Constraint, GateSpec
from gate.verdict import Status

NIGHTS, STEPS, SD, BAND = 75, 20, 0.01, 0.05
SICK_FROM, MOVED_FROM = 40, 45
LITERAL = {"abs_floor_down": BAND, "abs_floor_up": BAND}
START = datetime(2026, 1, 1, tzinfo=UTC)


def spec(metric: str) -> GateSpec:
    key = SpecKey(metric, canonical_json("all"), canonical_json(LITERAL))
    return GateSpec(key, "all", Constraint(**LITERAL))


SICK, MOVED, NEW, QUIET = SPECS = tuple(map(spec, ("sick", "moved", "new", "quiet")))


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one history, by the end of the sick nights; ``caught_after`` nights, None where the move went unseen."""

    red_nights: int
    baseline_age: int
    caught_after: int | None
    cold_nights: int


def history(rng: np.random.Generator) -> SeriesPast:
    steps = np.arange(STEPS)
    jumps = {MOVED: (MOVED_FROM, 3 * SD / STEPS**0.5), SICK: (SICK_FROM, 10 * BAND)}
    runs = []
    for night in range(NIGHTS):
        present = [one for one in SPECS if one is not NEW or night >= MOVED_FROM]
        values = []
        for one in present:
            first, jump = jumps.get(one, (NIGHTS, 0.0))
            numbers = 1 + jump * (night >= first) + SD * rng.normal(size=STEPS)
            values.append(PastValues(one.key, steps, numbers, trusted=True, points=STEPS))
        at = START + timedelta(days=night)
        runs.append(
            PastRun(f"{night:03d}", at, night, trusted=True, gate_trusted=True, has_error=False, values=tuple(values))
        )
    return SeriesPast(SeriesIdentity("default", "tests/test_a.py", "cpu", "nightly"), tuple(runs))


def cost(found: Backtest) -> Cost:
    moved_red = [night for night in _red(found, MOVED) if night >= MOVED_FROM]
    served = [night for night in range(NIGHTS - 1) if _serves(found, night, QUIET)]
    return Cost(
        red_nights=sum(run.red for run in found.runs[SICK_FROM:]),
        baseline_age=NIGHTS - 1 - served[-1],
        caught_after=moved_red[0] - MOVED_FROM + 1 if moved_red else None,
        cold_nights=sum(_corridor(found, night, NEW) is Status.INACTIVE for night in range(MOVED_FROM, NIGHTS)),
    )


def _red(found: Backtest, one: GateSpec) -> list[int]:
    return [int(run_id) for run_id in found.red_by(one.key)]


def _serves(found: Backtest, night: int, one: GateSpec) -> bool:
    if found.proposal.grain == "run":
        return found.runs[night].trusted
    return not any(outcome.red for outcome in found.runs[night].specs if outcome.key == one.key)


def _corridor(found: Backtest, night: int, one: GateSpec) -> Status:
    (outcome,) = (outcome for outcome in found.runs[night].specs if outcome.key == one.key)
    return outcome.checks["corridor"].status


def rows(costs: Sequence[Cost]) -> list[str]:
    caught = [one.caught_after for one in costs if one.caught_after is not None]
    delay = f"{median(caught):.0f} nights" if caught else "-"
    return [
        f"{mean(one.red_nights for one in costs):.1f} of {NIGHTS - SICK_FROM}",
        f"{mean(one.baseline_age for one in costs):.1f} nights",
        f"{100 * len(caught) / len(costs):.0f} %",
        delay,
        f"{mean(one.cold_nights for one in costs):.1f} of {NIGHTS - MOVED_FROM}",
    ]


LABELS = (
    "red runs while `sick` is off",
    "age of the newest baseline value of a metric that is well, at the end",
    "a shared 3-sd step of another metric caught meanwhile",
    "median delay where caught",
    "nights that a newly declared metric stays without a corridor",
)


def table(histories: int) -> str:
    """Each of `LABELS` under either grain, over so many histories, as Markdown."""
    tried = [history(np.random.default_rng(seed)) for seed in range(histories)]
    grains = get_args(TrustGrain)
    columns = [
        rows([cost(backtest(one, Proposal(SPECS, GatePolicy("balanced"), grain))) for one in tried]) for grain in grains
    ]
    heads = [f"{histories} histories, profile balanced", *(f'`trust = "{grain}"`' for grain in grains)]
    return as_markdown(heads, zip(LABELS, *columns, strict=True))

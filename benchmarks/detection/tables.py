"""Measurements as Markdown: the tables of RESULTS.md, which the documentation repeats between its markers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from benchmarks.detection.alternatives import TRIM_FACTOR, median_error, trim_factor
from benchmarks.detection.candidates import TRYINGS, size_exceedances, tried
from benchmarks.detection.judges import HELD
from benchmarks.detection.measure import WITHIN, Outcome, Share
from benchmarks.detection.real import RealOutcome
from benchmarks.detection.scenarios import Scenario, Target

Measured = Sequence[tuple[Scenario, Sequence[Outcome]]]


def targets(measured: Measured) -> str:
    rows = []
    for scenario, outcomes in measured:
        if scenario.target is not None:
            share = _held_to(scenario.target, next(found for found in outcomes if found.judge == HELD))
            rows.append([scenario.name, _words(scenario.target), *_verdict(scenario.target, share)])
    return table(["history", "target", "measured", "95 % interval", "met"], rows)


def missed_targets(measured: Measured) -> list[str]:
    return [
        scenario.name
        for scenario, outcomes in measured
        for found in outcomes
        if scenario.target and found.judge == HELD and not is_met(scenario.target, _held_to(scenario.target, found))
    ]


def is_met(target: Target, share: Share) -> bool:
    """As a point: what was measured is no worse than the bound."""
    return share.value <= target.bound if target.what == "false_alarms" else share.value >= target.bound


def is_clear(target: Target, share: Share) -> bool:
    """With its interval: the bound is met even by the worse end of it."""
    return share.high <= target.bound if target.what == "false_alarms" else share.low >= target.bound


def quiet(measured: Measured) -> str:
    rows = [
        [scenario.name, found.judge, _share(found.false_alarms), _percent(found.early_reds.value), _ms(found)]
        for scenario, outcomes in measured
        for found in outcomes
        if not found.delays
    ]
    return table(["history", "judge", "red runs after run 20", "red runs up to run 20", "CPU ms per run"], rows)


def changes(measured: Measured) -> str:
    heads = ["history", "judge", *(f"caught in {runs}" for runs in WITHIN), "median delay", "false alarms per run"]
    rows = [
        [scenario.name, found.judge, *map(_caught, found.caught), _delay(found), _percent(found.false_alarms.value)]
        for scenario, outcomes in measured
        for found in outcomes
        if found.delays
    ]
    return table(heads, rows)


def real(outcomes: Sequence[RealOutcome]) -> str:
    rows = [_real_row(found) for found in outcomes]
    return table(["history", "judge", "false alarms", "change caught", "broken runs kept out"], rows)


def missed_on_real(outcomes: Sequence[RealOutcome]) -> list[str]:
    """Where the judge held to the targets raised more than one false alarm, trusted a broken run or missed a change."""
    return [
        f"{found.history.name}: {found.history.what}"
        for found in outcomes
        if found.judge == HELD and not found.wall_time and not found.good
    ]


def reshuffled(outcomes: Sequence[RealOutcome], share: Share) -> str:
    delays = sorted(found.delay or math.inf for found in outcomes)
    history = outcomes[0].history
    return (
        f"{history.name} in {len(outcomes)} other orders, {history.change} ordinary runs and then those after the "
        f"change ({history.what}): {_share(share)} of the ordinary runs red; the change caught at its run "
        f"{delays[len(delays) // 2]:g} (median), {delays[-1]:g} at the latest."
    )


def alternatives(histories: int) -> str:
    rows = [
        [name, *(_small(value, caught=trying.within > 0) for trying, value in zip(TRYINGS, found, strict=True))]
        for name, found in tried(histories)
    ]
    heads = [f"{trying.name}, in {trying.within}" if trying.within > 1 else trying.name for trying in TRYINGS]
    return table(["check", *heads], rows)


def sizes(samples: int) -> str:
    rows = [
        [str(anchor), str(recent), f"{multiplier:g}", f"{share:.5f}"]
        for anchor, recent, multiplier, share in size_exceedances(samples)
    ]
    root_mean_square, mean = trim_factor(samples)
    return (
        table(["anchor runs", "runs in the median", "multiplier", "p per gate spec and run"], rows)
        + f"\n\nFactor on the trimmed sd: specified {TRIM_FACTOR}; measured {root_mean_square:.3f} (so that its square "
        f"is right on average), {mean:.3f} (so that itself is). Standard error of a median of 10: "
        f"{median_error(samples):.3f} sd, of a mean of 10: {1 / math.sqrt(10):.3f} sd."
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _held_to(target: Target, found: Outcome) -> Share:
    return found.false_alarms if target.what == "false_alarms" else found.caught_within(target.within)


def _verdict(target: Target, share: Share) -> list[str]:
    """The cells that say what was measured and how surely that meets the target."""
    met = "**MISSED**"
    if is_met(target, share):
        met = "with its interval" if is_clear(target, share) else "as a point only"
    return [f"{_percent(share.value)} ({share.hits} of {share.of})", _interval(share), met]


def _words(target: Target) -> str:
    if target.what == "false_alarms":
        return f"at most 1 red run in {1 / target.bound:g}"
    return f"caught by its run {target.within} in {100 * target.bound:g} %"


def _real_row(found: RealOutcome) -> list[str]:
    history = found.history
    name = f"{history.name}: {history.what}" + (", wall time alone" if found.wall_time else "")
    kept_out = ""
    if history.special and not found.wall_time:
        kept_out = f"{len(history.special) - len(found.missed)} of {len(history.special)}"
    caught = "" if history.change is None else "no"
    if found.caught is not None:
        caught = f"at its run {found.delay} ({found.caught.why})"
    alarms = "; ".join(f"run {red.run} ({red.why})" for red in found.false_alarms[:3])
    return [name, found.judge, f"{len(found.false_alarms)}{': ' if alarms else ''}{alarms}", caught, kept_out]


def _share(share: Share) -> str:
    return f"{_percent(share.value)} ({_interval(share)}; {share.hits} of {share.of})"


def _interval(share: Share) -> str:
    return f"{_percent(share.low)} to {_percent(share.high)}"


def _percent(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.2%}".replace("%", " %")


def _caught(share: Share) -> str:
    return f"{share.value:.0%}".replace("%", " %") + f" ({share.low:.0%} to {share.high:.0%})".replace("%", "")


def _small(value: float, *, caught: bool) -> str:
    return f"{value:.0%}".replace("%", " %") if caught else f"{value:.5f}"


def _delay(found: Outcome) -> str:
    return f"{found.median_delay:g}" if math.isfinite(found.median_delay) else "never"


def _ms(found: Outcome) -> str:
    return f"{found.ms_per_run:.1f}"

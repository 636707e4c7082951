"""Lint: what a declaration, a band or a series should be looked at for. It never fails a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from operator import is_

import numpy as np
from numpy.typing import NDArray

from gate.baseline import Baseline
from gate.case import Case
from gate.columns import Rows, blocks, column_means, column_sds
from gate.corridor import Corridor
from gate.history import VALID_RUNS, RunRef
from gate.numbers import counted, written
from gate.quorum import fails
from gate.selection import place
from gate.verdict import Notice

FEWEST_VALID = 8
"""Fewer valid runs say too little about noise to warn of anything."""
TIGHT, BLIND = 4.5, 50.0
"""Bands in sd: below the first noise alone turns runs red, above the second nothing would be seen."""
OFTEN_RED = 0.25
FEW_BROKEN = 0.25
"""Of the valid runs: so many may be set aside as broken when the noise is taken."""
STARVED_RUNS = 5


def band_notices(case: Case) -> Iterator[Notice]:
    """``band_too_tight``, ``band_blind`` and ``red_by_chance``, from the newest valid runs, red ones too."""
    rows = case.history.valid[:VALID_RUNS]
    if len(rows) < FEWEST_VALID or not case.selection.steps.size:
        return
    values = [case.aligned.values(row) for row in rows]
    corridor = case.corridor
    outside = (corridor.excludes(block).any() for block in blocks(values, corridor.ref.size))
    if not any(outside):  # most nights: nothing to set aside and nothing red
        yield from _width(case, corridor, values)
        return
    yield from _width(case, corridor, _examples_of_noise(corridor, values))
    yield from _often_red(case, corridor, values)


def _examples_of_noise(corridor: Corridor, values: Rows) -> Rows:
    """Without the few broken runs; where they are not few, the band is what is wrong, and all of them speak."""
    broken = np.concatenate([_mostly_outside(corridor, block) for block in blocks(values, corridor.ref.size)])
    if not 0 < np.count_nonzero(broken) <= FEW_BROKEN * len(values):
        return values
    return [row for row, is_broken in zip(values, broken, strict=True) if not is_broken]


def _mostly_outside(corridor: Corridor, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows of ``values`` (r, m) have most of their coordinates outside: such a run is no example of noise, and
    its sd would say that a good band is too tight.
    """
    known = np.count_nonzero(~np.isnan(values) & ~np.isnan(corridor.ref), axis=1)
    mostly: NDArray[np.bool_] = 2 * np.count_nonzero(corridor.excludes(values), axis=1) > known
    return mostly


def _width(case: Case, corridor: Corridor, values: Rows) -> Iterator[Notice]:
    """By the median over the coordinates; those without noise or without a reference say nothing about the band."""
    sd = column_sds(values, _means(case, values), FEWEST_VALID)
    known = np.flatnonzero((sd > 0) & ~np.isnan(corridor.ref))
    if not known.size:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = np.nan_to_num(np.minimum(corridor.up, corridor.down)[known] / sd[known], nan=np.inf)
        typical, least = float(np.median(ratio)), int(np.argmin(ratio))
    if TIGHT <= typical <= BLIND:
        return
    tightest = place(case.spec, int(case.selection.steps[known[least]]))
    typical_text, _, _ = written(typical, TIGHT, BLIND, digits=2)
    least_text = written(float(ratio[least]), typical, digits=2)[0]
    of = "" if known.size == 1 else f", in the median of {known.size} steps (least, {least_text}, at {tightest})"
    text = f"{case.spec.metric_key}: the band is {typical_text} times the sd of the last {len(values)} valid runs{of}"
    kind, advice = "band_too_tight", f"below {TIGHT:g} noise alone turns runs red: widen it"
    if typical > BLIND:
        kind, advice = "band_blind", f"above {BLIND:g} it would not see anything: narrow it"
    yield Notice(kind, f"{text}; {advice}", case.spec.metric_key)


def _means(case: Case, values: Rows) -> NDArray[np.float64]:
    """On most nights the valid runs are the baseline's, and their mean is known."""
    rows, size = case.history.valid[:VALID_RUNS], case.selection.steps.size
    known = len(values) == len(rows) == case.policy.history and all(map(is_, rows, case.rows))
    if known and not any(np.isnan(block).any() for block in blocks(values, size)):
        return case.baseline.mean
    return column_means(values, size)


def _often_red(case: Case, corridor: Corridor, values: Rows) -> Iterator[Notice]:
    """Each valid run against the corridor of today, by the quorum of the profile."""
    red = sum(_red_rows(case, corridor, block) for block in blocks(values, corridor.ref.size))
    if red > OFTEN_RED * len(values):
        text = (
            f"{case.spec.metric_key}: {red} of the last {len(values)} valid runs are red by the corridor alone; "
            f"widen the band, or start an epoch if the level moved on purpose"
        )
        yield Notice("red_by_chance", text, case.spec.metric_key)


def _red_rows(case: Case, corridor: Corridor, values: NDArray[np.float64]) -> int:
    """How many rows of ``values`` (r, m) fail the corridor."""
    active = case.baseline.n >= case.policy.corridor_needs
    outside = active & corridor.excludes(values)
    red = 0
    for index in np.flatnonzero(outside.any(axis=1)).tolist():
        at, row = np.flatnonzero(outside[index]), values[index]
        judged = int(np.count_nonzero(active & ~np.isnan(row)))
        any_far = bool(np.any(corridor.take(at).is_far(row[at])))
        red += fails(case.policy.profile, judged, at.size, any_far=any_far)
    return red


def starved(recent_runs: Sequence[RunRef]) -> Iterator[Notice]:
    """The warning that nothing trusted has come in for a while, so that the baselines stand still."""
    untrusted = list(takewhile(lambda run: not run.trusted, recent_runs))
    if len(untrusted) < STARVED_RUNS:
        return
    since = untrusted[-1]
    more = "at least " if len(untrusted) == len(recent_runs) else ""
    some_count = any(run.counting for run in untrusted)
    effect = "so that only some of its baselines move" if some_count else "so its baselines stand still"
    text = (
        f"{more}the last {len(untrusted)} runs of this series are all untrusted, since run {since.run_id} of "
        f"{since.created_at:%Y-%m-%d}, {effect}. If a bad run is in the baseline: "
        f"driftgate mark-untrusted --run-id ID --reason WHY. If the change is meant to stay: "
        f"driftgate epoch start TEST --from-run {since.run_id} --reason WHY"
    )
    yield Notice("starved", text)


def starved_streak(streak: int, runs: int) -> str | None:
    """The same of a series of ``runs`` runs seen from outside, in short: the newest ``streak`` are untrusted."""
    if streak < STARVED_RUNS:
        return None
    never = " and none ever was" if streak == runs else ""
    return f"its last {streak} runs are all untrusted{never}"


def orphaned_history(case: Case) -> Iterator[Notice]:
    """The warning that a cold declaration has a past under another one, and how far the values are from it."""
    if not case.history.others:
        return
    past = Baseline.aligned(case.history.others, case.aligned, case.policy.history)
    known = np.flatnonzero(case.judgeable & (case.baseline.n == 0) & (past.n > 0))
    if not known.size:
        return
    values, means = case.selection.values[known], past.mean[known]
    furthest = int(np.argmax(np.abs(values / 2 - means / 2)))
    value, mean, n = (column[furthest].item() for column in (values, means, past.n[known]))
    where = place(case.spec, int(case.selection.steps[known[furthest]]))
    text = (
        f"{case.spec.metric_key}: no history under this declaration, but some under another of the same metric (an "
        f"edited band?): {where} {_apart(value, mean)} its mean of {counted(n, 'run')}{_furthest_of(known.size)}"
    )
    yield Notice("orphaned_history", text, case.spec.metric_key)


def _apart(value: float, mean: float) -> str:
    value_text, mean_text = written(value, mean)
    if value == mean:
        return f"is {value_text}, equal to"
    (apart,) = written(abs(value - mean))
    return f"is {value_text}, {apart} {'above' if value > mean else 'below'} {mean_text},"


def _furthest_of(number: int) -> str:
    return f"; the furthest of {number} steps" if number > 1 else ""

"""What a mark or a new epoch would change, told before anything is: the dry run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gate.backtest import spec_outcome
from gate.errors import DriftgateError
from gate.evaluate import outcome_of
from gate.history import History, SpecHistory
from gate.identity import SpecKey
from gate.new_epoch import judge_again
from gate.past import Past, PastEpoch, PastRun, SeriesPast, TrustGrain
from gate.policy import GatePolicy
from gate.rejudge import claims_of, rejudge, stored_verdict
from gate.summary import BaselineSummary, summarise
from gate.verdict import Outcome, SpecVerdict, Verdict


@dataclass(frozen=True, slots=True, eq=False)
class MovedMeans:
    """The means of one gate spec that would move. ``steps`` int64 (m,); ``old``, ``new`` float64 (m,), NaN for none."""

    key: SpecKey
    reference: Literal["baseline", "anchor"]
    steps: NDArray[np.int64]
    old: NDArray[np.float64]
    new: NDArray[np.float64]

    def to_json(self) -> dict[str, Any]:
        old, new = ([None if np.isnan(mean) else mean for mean in column.tolist()] for column in (self.old, self.new))
        return {**asdict(self.key), "reference": self.reference, "steps": self.steps.tolist(), "old": old, "new": new}


@dataclass(frozen=True, slots=True)
class Flip:
    """A stored verdict that would come out otherwise; ``reasons`` say why it would be red."""

    run_id: str
    created_at: datetime
    stored: Outcome
    rejudged: Outcome
    reasons: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "created_at": self.created_at.isoformat(), "reasons": list(self.reasons)}


@dataclass(frozen=True, slots=True)
class TrustChange:
    """A run whose trust would change."""

    run_id: str
    created_at: datetime
    before: bool
    after: bool

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "created_at": self.created_at.isoformat()}


@dataclass(frozen=True, slots=True)
class Effects:
    """Of one series. ``trust`` and ``flips`` oldest run first; ``means`` of today."""

    trust: tuple[TrustChange, ...]
    means: tuple[MovedMeans, ...]
    flips: tuple[Flip, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "trust": [change.to_json() for change in self.trust],
            "means": [moved.to_json() for moved in self.means],
            "verdicts": [flip.to_json() for flip in self.flips],
        }


@dataclass(frozen=True, slots=True, eq=False)
class _Change:
    """A series as it is and as it would be: the same runs in the same order."""

    before: SeriesPast
    after: SeriesPast
    policy: GatePolicy
    grain: TrustGrain


def mark_effects(before: SeriesPast, after: SeriesPast, policy: GatePolicy, grain: TrustGrain = "run") -> Effects:
    """What a change of marks moves and flips: ``after`` has the same runs, some with other trust.

    Each later run is judged once by the declarations and the policy of its stored verdict, the others being as stored
    but for the change itself. Not told: a verdict that differs from the stored one for other reasons, and one that
    cannot be read.
    """
    change = _Change(before, after, policy, grain)
    return Effects(_trust_changes(change), tuple(_moved_means(change)), tuple(_flips(change)))


def epoch_effects(series: SeriesPast, epoch: PastEpoch, policy: GatePolicy, grain: TrustGrain = "run") -> Effects:
    """What starting ``epoch`` would do: the runs from its place on are judged again in order, each by those before it.

    Only trust changes that the gate itself had set.
    """
    under_it = replace(series, epochs=(*series.epochs, epoch))
    again = {judged.before.run_id: judged for judged in judge_again(under_it, epoch.place, grain)}
    runs = tuple(again[run.run_id].after if run.run_id in again else run for run in series.runs)
    change = _Change(series, replace(under_it, runs=runs), policy, grain)
    flips = (_flip(judged.before, judged.verdict.specs) for judged in again.values())
    return Effects(_trust_changes(change), tuple(_moved_means(change)), tuple(filter(None, flips)))


def _trust_changes(change: _Change) -> tuple[TrustChange, ...]:
    pairs = zip(change.before.runs, change.after.runs, strict=True)
    return tuple(
        TrustChange(old.run_id, old.created_at, old.trusted, new.trusted)
        for old, new in pairs
        if old.trusted != new.trusted
    )


def _flip(run: PastRun, specs: tuple[SpecVerdict, ...]) -> Flip | None:
    stored, rejudged = run.verdict["verdict"], outcome_of(specs)
    if not specs or stored == rejudged:
        return None
    reasons = (reason for spec in specs if not spec.trusted for reason in spec_outcome(spec).reasons)
    return Flip(run.run_id, run.created_at, stored, rejudged, tuple(reasons))


def _flips(change: _Change) -> Iterator[Flip]:
    """Only runs for which the change makes other rows the reference are judged again."""
    pasts = [Past(series, change.grain) for series in (change.before, change.after)]
    moved = False
    for old, new in zip(change.before.runs, change.after.runs, strict=True):
        flip = _flip_of(old, pasts) if moved else None
        if flip is not None:
            yield flip
        moved = moved or old is not new
        for past, run in zip(pasts, (old, new), strict=True):
            past.admit(run)


def _flip_of(run: PastRun, pasts: list[Past]) -> Flip | None:
    verdict = _readable_verdict(run)
    if verdict is None:
        return None
    claims = claims_of(run, [spec.spec for spec in verdict.specs])
    before, after = (_read(run, past, verdict.policy) for past in pasts)
    if all(_same_rows(before.of(spec.key), after.of(spec.key)) for spec, _ in claims):
        return None
    flip = _flip(run, rejudge(run, claims, pasts[1], verdict.policy))
    if flip is None or outcome_of(rejudge(run, claims, pasts[0], verdict.policy)) == flip.rejudged:
        return None
    return flip


def _readable_verdict(run: PastRun) -> Verdict | None:
    try:
        return stored_verdict(run)
    except DriftgateError:
        return None


def _read(run: PastRun, past: Past, policy: GatePolicy) -> History:
    keys = [values.key for values in run.values]
    return past.read_history(past.identity, keys, policy.newest_needed, policy.anchor_runs, run.ci_run_id, at=run.place)


def _same_rows(one: SpecHistory, other: SpecHistory) -> bool:
    return _run_ids(one) == _run_ids(other)


def _run_ids(history: SpecHistory) -> tuple[list[str], list[str]]:
    baseline, anchor = ([row.run.run_id for row in rows] for rows in (history.baseline, history.anchor))
    return baseline, anchor


def _moved_means(change: _Change) -> Iterator[MovedMeans]:
    """By what the next run would be judged."""
    keys = sorted({values.key for run in change.before.runs for values in run.values})
    before, after = (_summaries(series, keys, change) for series in (change.before, change.after))
    for key, old, new in zip(keys, before, after, strict=True):
        yield from _moved(key, "baseline", (old.steps, old.mean), (new.steps, new.mean))
        yield from _moved(key, "anchor", (old.steps, old.anchor_mean), (new.steps, new.anchor_mean))


def _summaries(series: SeriesPast, keys: list[SpecKey], change: _Change) -> list[BaselineSummary]:
    policy = change.policy
    past = Past.as_of(series, len(series.runs), change.grain)
    history = past.read_history(series.identity, keys, policy.history, policy.anchor_runs, None)
    return [summarise(key, history.of(key), limit=policy.history, anchor_runs=policy.anchor_runs) for key in keys]


_Means = tuple[NDArray[np.int64], NDArray[np.float64]]


def _moved(key: SpecKey, reference: Literal["baseline", "anchor"], old: _Means, new: _Means) -> Iterator[MovedMeans]:
    steps = np.union1d(old[0], new[0])
    before, after = (_at(steps, *means) for means in (old, new))
    moves = ~((before == after) | (np.isnan(before) & np.isnan(after)))
    if np.any(moves):
        yield MovedMeans(key, reference, steps[moves], before[moves], after[moves])


def _at(steps: NDArray[np.int64], known: NDArray[np.int64], means: NDArray[np.float64]) -> NDArray[np.float64]:
    found = np.full(steps.size, np.nan)
    found[np.searchsorted(steps, known)] = means
    return found

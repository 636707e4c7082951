"""The runs of an epoch that begins in the past, judged again in order as if it had been in force all along."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from gate.errors import DriftgateError
from gate.evaluate import outcome_of
from gate.past import Past, PastRun, Place, SeriesPast, TrustGrain
from gate.rejudge import as_judged, claims_of, rejudge, stored_verdict
from gate.verdict import Verdict


@dataclass(frozen=True, slots=True, eq=False)
class JudgedAgain:
    """A run as it is stored, as it would be stored now, and the verdict that says so."""

    before: PastRun
    after: PastRun
    verdict: Verdict


def judge_again(series: SeriesPast, first: Place, grain: TrustGrain) -> Iterator[JudgedAgain]:
    """The runs from ``first`` on under the epochs of ``series``, oldest first; each is part of what comes after it.

    Left as they are: runs whose trust is not the gate's own, superseded runs, runs without a verdict that this version
    can read.
    """
    past = Past(series, grain)
    for run in series.runs:
        judged = _judged(run, past) if run.place >= first else None
        past.admit(run if judged is None else judged.after)
        if judged is not None:
            yield judged


def _judged(run: PastRun, past: Past) -> JudgedAgain | None:
    verdict = _own_verdict(run)
    if verdict is None or not verdict.specs:
        return None
    claims = claims_of(run, [spec.spec for spec in verdict.specs])
    specs = rejudge(run, claims, past, verdict.policy)
    return JudgedAgain(run, as_judged(run, specs, claims), replace(verdict, specs=specs, outcome=outcome_of(specs)))


def _own_verdict(run: PastRun) -> Verdict | None:
    if not run.gate_decides or run.superseded_by is not None:
        return None
    try:
        return stored_verdict(run)
    except DriftgateError:
        return None

"""A stored run judged once more, against any past and by any declaration of the same metric and steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gate.case import Case
from gate.evaluate import judge
from gate.identity import AGGREGATE_STEP
from gate.past import Past, PastRun, PastValues
from gate.policy import GatePolicy
from gate.selection import NO_STEP, Selection
from gate.spec import GateSpec
from gate.stored_selection import stored_selection
from gate.verdict import SpecVerdict, Status, Verdict
from gate.verdict_reading import from_json

Claim = tuple[GateSpec, PastValues]
"""A gate spec and the stored values it is to judge."""


def claims_of(run: PastRun, specs: Sequence[GateSpec]) -> tuple[Claim, ...]:
    """For each spec the values of the same metric and steps, whatever constraint they were stored under.

    A spec that the run has no values for is left out.
    """
    stored = {(values.key.metric_key, values.key.steps_key): values for values in reversed(run.values)}
    places = [(spec, (spec.key.metric_key, spec.key.steps_key)) for spec in specs]
    return tuple((spec, stored[place]) for spec, place in places if place in stored)


def stored_verdict(run: PastRun) -> Verdict | None:
    """None where the run was stored without one. Raises DriftgateError for a document that is no verdict."""
    return from_json(run.verdict) if run.verdict else None


def rejudge(run: PastRun, claims: Sequence[Claim], past: Past, policy: GatePolicy) -> tuple[SpecVerdict, ...]:
    """One verdict for each claim, by what ``past`` holds.

    What the record alone showed is taken from the stored verdict. Raises DriftgateError for one that is none.
    """
    keys = [spec.key for spec, _ in claims]
    history = past.read_history(
        past.identity, keys, policy.newest_needed, policy.anchor_runs, run.ci_run_id, at=run.place
    )
    return tuple(
        judge(Case.prepare(spec, selection_of(run, values), history.of(spec.key), policy)) for spec, values in claims
    )


def as_judged(run: PastRun, judged: Sequence[SpecVerdict], claims: Sequence[Claim]) -> PastRun:
    """The run as it would be stored with these verdicts; what an operator or a standing mark decided stays.

    A run that nothing judged keeps its trust and has no values.
    """
    trusted = all(spec.trusted for spec in judged) if judged else run.gate_trusted
    values = (
        replace(stored, key=spec.spec.key, trusted=spec.trusted)
        for spec, (_, stored) in zip(judged, claims, strict=True)
    )
    return replace(
        run,
        trusted=trusted if judged and run.gate_decides else run.trusted,
        gate_trusted=trusted,
        has_error=any(spec.status is Status.ERROR for spec in judged) if judged else run.has_error,
        values=tuple(values),
    )


def selection_of(run: PastRun, values: PastValues) -> Selection:
    """What the record had to judge: the stored values, and what was wrong with it by the stored verdict."""
    if _had_errors(run, values):
        spec = next(spec for spec in from_json(run.verdict).specs if spec.spec.key == values.key)
        found = dict(zip(values.steps.tolist(), values.values.tolist(), strict=True))
        return stored_selection(spec, found, values.at_step)
    at_steps = values.steps
    if values.steps.tolist() == [AGGREGATE_STEP]:
        at_steps = np.array([NO_STEP if values.at_step is None else values.at_step], np.int64)
    return Selection(values.steps, at_steps, values.values, points=values.points)


def _had_errors(run: PastRun, values: PastValues) -> bool:
    """Told from the document itself: few verdicts hold an error, and reading one costs more than judging."""
    key = values.key
    return any(
        "selection" in spec["checks"]
        and (spec["metric_key"], spec["steps_key"], spec["constraint_key"])
        == (key.metric_key, key.steps_key, key.constraint_key)
        for spec in run.verdict.get("specs", ())
    )

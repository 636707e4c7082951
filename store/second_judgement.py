"""A run that somebody else has judged, judged again by whoever keeps the history: a client's word is not enough."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gate.case import Case
from gate.errors import DriftgateError
from gate.evaluate import judge_prepared, outcome_of
from gate.fields import parse_constraint, parse_steps
from gate.history import HistoryReader
from gate.identity import AGGREGATE_STEP, SpecKey
from gate.policy import GatePolicy
from gate.selection import NO_STEP, Selection
from gate.spec import GateSpec
from gate.stored_selection import stored_selection
from gate.verdict import Notice, SpecVerdict, Status, Verdict
from gate.verdict_checking import checked
from gate.verdict_json import to_stored
from store.stored import NewRun, SeriesValues


@dataclass(frozen=True, slots=True, eq=False)
class SecondJudgement:
    """``theirs``: the verdict that came with the run, None where none did. ``claims``: what is to be judged."""

    run: NewRun
    policy: GatePolicy
    theirs: Verdict | None
    claims: tuple[tuple[GateSpec, Selection], ...]

    @classmethod
    def of(cls, run: NewRun, policy: GatePolicy) -> SecondJudgement:
        """Raises ValueError for a verdict that is none or is about another series, and for keys of no declaration."""
        theirs = _verdict_of(run)
        return cls(run, policy, theirs, tuple(_claims(run, theirs)))

    def __call__(self, reader: HistoryReader) -> NewRun:
        """The run as both judge it: trusted, and each of its gate specs, only where both say so.

        It keeps the verdict it came with, unless that trusts what this one does not, or there is none.
        """
        run = self.run
        keys = [spec.key for spec, _ in self.claims]
        excluded = run.provenance.ci_run_id
        history = reader.read_history(run.identity, keys, self.policy.newest_needed, self.policy.anchor_runs, excluded)
        cases = [Case.prepare(spec, found, history.of(spec.key), self.policy) for spec, found in self.claims]
        judged, notices = judge_prepared(cases)
        trusted = all(spec.trusted for spec in judged)
        overruled = run.trusted and not trusted
        ours = {spec.spec.key: spec.trusted for spec in judged}
        return replace(
            run,
            trusted=run.trusted and trusted,
            has_error=run.has_error or any(spec.status is Status.ERROR for spec in judged),
            series=tuple(replace(one, trusted=one.trusted and ours[one.key]) for one in run.series),
            verdict=self._verdict(judged, notices) if self.theirs is None or overruled else run.verdict,
        )

    def _verdict(self, judged: tuple[SpecVerdict, ...], notices: tuple[Notice, ...]) -> Mapping[str, Any]:
        run, theirs = self.run, self.theirs
        kept = () if theirs is None else theirs.warnings
        if theirs is not None:
            kept = (*kept, Notice("service", "the job trusted this run; the service, which judged it again, does not"))
        mode = "shadow" if theirs is None else theirs.mode
        outcome = outcome_of(judged)
        warnings = tuple(dict.fromkeys((*kept, *notices)))
        verdict = Verdict(outcome, run.identity, self.policy, run.provenance, judged, warnings, mode=mode)
        return to_stored(verdict)


def _verdict_of(run: NewRun) -> Verdict | None:
    if not run.verdict:
        return None
    try:
        verdict = checked(run.verdict)
    except DriftgateError as error:
        raise ValueError(f"verdict: {error}") from None
    if verdict.identity != run.identity:
        raise ValueError(f"verdict: it is about {verdict.identity}, the run is of {run.identity}")
    return verdict


def _claims(run: NewRun, theirs: Verdict | None) -> Iterator[tuple[GateSpec, Selection]]:
    """What the verdict declares, then what is given beside it, which is declared by its keys alone."""
    given = {one.key: one for one in run.series}
    for spec in theirs.specs if theirs is not None else ():
        one = given.pop(spec.spec.key, None)
        if one is None:
            yield spec.spec, stored_selection(spec, {}, None)
            continue
        if one.points != spec.points:
            raise ValueError(
                f"verdict: {one.key.metric_key} has {spec.points} points there and {one.points} in the run"
            )
        yield spec.spec, stored_selection(spec, dict(zip(one.steps, one.values, strict=True)), one.at_step)
    for one in given.values():
        yield _declared(one.key), _selection(one)


def _declared(key: SpecKey) -> GateSpec:
    """Raises ValueError where the keys are not the canonical JSON of a declaration."""
    faults: list[str] = []
    try:
        steps, constraint = (json.loads(text) for text in (key.steps_key, key.constraint_key))
    except (ValueError, RecursionError):
        raise ValueError(
            f"{key.metric_key}: steps_key and constraint_key are a declaration's literals as JSON"
        ) from None
    spec = GateSpec(key, parse_steps(steps, faults.append), parse_constraint(constraint, faults.append))
    if faults:
        raise ValueError(f"{key.metric_key}: {faults[0]}")
    return spec


def _selection(one: SeriesValues) -> Selection:
    steps = np.array(one.steps, np.int64)
    at_steps = steps
    if one.steps == (AGGREGATE_STEP,):
        at_steps = np.array([NO_STEP if one.at_step is None else one.at_step], np.int64)
    return Selection(steps, at_steps, np.array(one.values, np.float64), points=one.points)

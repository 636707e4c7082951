"""Composition: declarations, a record and one read of history become a verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from gate.anchor import anchor_lost, check_anchor
from gate.case import Case, Check
from gate.completeness import check_selection, few_points
from gate.history import HistoryReader
from gate.identity import SeriesIdentity
from gate.limits import check_limits
from gate.lint import band_notices, orphaned_history, starved
from gate.policy import GatePolicy
from gate.provenance import Provenance
from gate.recent import check_corridor
from gate.record import Record
from gate.selection import select
from gate.shift import check_shift, incomparable_curves
from gate.spec import GateSpec
from gate.spread import check_spread
from gate.verdict import Notice, Outcome, SpecVerdict, Verdict

NO_DECLARATION = "no declaration"
CHECKS: Mapping[str, Check] = {
    "selection": check_selection,
    "corridor": check_corridor,
    "anchor": check_anchor,
    "shift": check_shift,
    "spread": check_spread,
    "limits": check_limits,
}
"""Every check by its name in the verdict, in the order in which reports tell them."""
SPEC_NOTICES: Sequence[Callable[[Case], Iterator[Notice]]] = (
    few_points,
    anchor_lost,
    incomparable_curves,
    band_notices,
    orphaned_history,
)
"""Everything that warns about one gate spec."""


def evaluate(
    specs: Sequence[GateSpec],
    record: Record,
    *,
    identity: SeriesIdentity,
    policy: GatePolicy,
    reader: HistoryReader,
    provenance: Provenance | None = None,
) -> Verdict:
    """Judge one run. Reads history exactly once, and not at all where nothing is declared.

    Raises what ``reader`` raises, and nothing for anything that a record may hold.
    """
    provenance = provenance or Provenance()
    if not specs:
        return Verdict("not_judged", identity, policy, provenance, reason=NO_DECLARATION)
    history = reader.read_history(
        identity, [spec.key for spec in specs], policy.newest_needed, policy.anchor_runs, provenance.ci_run_id
    )
    cases = [Case.prepare(spec, select(spec, record), history.of(spec.key), policy) for spec in specs]
    judged, notices = judge_prepared(cases)
    warnings = (*_record_notices(record), *starved(history.recent_runs), *notices)
    return Verdict(outcome_of(judged), identity, policy, provenance, judged, warnings)


def judge_prepared(cases: Sequence[Case]) -> tuple[tuple[SpecVerdict, ...], tuple[Notice, ...]]:
    """The gate specs of a run judged, and what there is to warn of about them."""
    notices = tuple(notice for case in cases for warn in SPEC_NOTICES for notice in warn(case))
    return tuple(judge(case) for case in cases), notices


def judge(case: Case) -> SpecVerdict:
    """One gate spec through every check that applies to it."""
    answers = {name: answer for name, check in CHECKS.items() if (answer := check(case)) is not None}
    selection = case.selection
    return SpecVerdict(
        spec=case.spec,
        steps=selection.steps,
        at_steps=selection.at_steps,
        values=selection.values,
        columns={name: answer.columns for name, answer in answers.items() if answer.columns is not None},
        checks={name: answer.check for name, answer in answers.items()},
        points=selection.points,
        baseline=case.baseline.run_ids,
        anchor=tuple(row.run.run_id for row in case.anchor_rows),
        epoch_id=case.history.epoch_id,
    )


def outcome_of(specs: Sequence[SpecVerdict]) -> Outcome:
    return "trusted" if all(spec.trusted for spec in specs) else "not_trusted"


def _record_notices(record: Record) -> Iterator[Notice]:
    if record.damaged is not None:
        yield Notice("damaged_record", record.damaged)
    for note in record.notes:
        yield Notice("record_note", note)

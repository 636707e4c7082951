"""Declarations, a record and a store become results. Imported where something is judged: it loads numpy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import gate.selection
from driftgate.compat.baselines import read_baselines
from driftgate.compat.declarations import CiGateSpec, gate_spec
from driftgate.compat.results import GateStatus, MetricGateResult
from driftgate.compat.selection import SelectionError, select_from, selections
from driftgate.compat.storage import BaselineReader, RunIdentity
from gate.case import Case
from gate.policy import GatePolicy
from gate.recent import check_corridor
from gate.record import Record
from gate.spec import GateSpec
from gate.verdict import Status

COLD_START = "ok: cold start, no trusted value at this coordinate yet"


@dataclass(frozen=True, slots=True)
class _Selected:
    """One declaration with its coordinates, or with why there are none."""

    spec: GateSpec
    selection: gate.selection.Selection
    fault: str = ""


def judge(
    declared: Sequence[CiGateSpec],
    record: Record,
    store: BaselineReader,
    identity: RunIdentity,
    history_limit: int,
) -> list[MetricGateResult]:
    """One result per coordinate in the order of the declarations, one for a declaration that selects nothing."""
    found = [_selected(gate_spec(each), record) for each in declared]
    wanted = {one.spec.key: one.selection.steps for one in found if not one.fault}
    history = read_baselines(store, identity, wanted, history_limit)
    policy = GatePolicy(profile="strict", history=history_limit, shift_runs=1)
    results: list[MetricGateResult] = []
    for one in found:
        if one.fault:
            results.append(_unselected(one.spec, one.fault))
        else:
            results += _judged(Case.prepare(one.spec, one.selection, history.of(one.spec.key), policy))
    return results


def _selected(spec: GateSpec, record: Record) -> _Selected:
    try:
        return _Selected(spec, select_from(record, spec))
    except SelectionError as error:
        return _Selected(spec, gate.selection.Selection(), str(error))


def _unselected(spec: GateSpec, fault: str) -> MetricGateResult:
    key = spec.key
    nothing = (None, None, None, GateStatus.ERROR, 0, None)
    return MetricGateResult(key.metric_key, key.steps_key, key.constraint_key, *nothing, fault)


def _judged(case: Case) -> Iterator[MetricGateResult]:
    columns = check_corridor(case).columns
    assert columns is not None  # noqa: S101 - the check of corridors judges coordinates
    index = {step: at for at, step in enumerate(case.selection.steps.tolist())}
    key = case.spec.key
    for selected in selections(case.selection, case.spec):
        at = index[selected.step]
        n = int(case.baseline.n[at])
        status = GateStatus(Status(columns.status[at]).label)
        yield MetricGateResult(
            metric_key=key.metric_key,
            steps_key=key.steps_key,
            constraint_key=key.constraint_key,
            step=selected.step,
            at_step=selected.at_step,
            current=selected.value,
            historical_status=status,
            baseline_n=n,
            baseline_mean=float(case.baseline.mean[at]) if n else None,
            reason=columns.reasons.get(at, "ok" if n else COLD_START),
        )

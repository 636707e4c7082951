"""From a series to the values that are judged, by the reference's rule: one fault anywhere selects nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gate.canonical import canonical_json
from gate.fields import parse_steps
from gate.identity import SpecKey
from gate.numbers import counted
from gate.spec import Constraint, GateSpec, Reduction

if TYPE_CHECKING:
    import gate.selection
    from gate.record import MetricSeries, Record

_NAME = "series"


class SelectionError(ValueError):
    """A series from which nothing can be selected; says why."""


@dataclass(frozen=True)
class Selection:
    """``step`` is -1 for ``"last"``; ``at_step`` says where the value came from, None where its point had no step."""

    step: int
    at_step: int | None
    value: float


def select(series: Sequence[Any], steps: str | Sequence[int]) -> list[Selection]:
    """The values at ``steps``: ``"last"``, ``"all"``, or a list of steps, in the order of the list.

    ``series``: points ``[step, value]``; a point whose value is no number is ignored. Raises SelectionError.
    """
    from gate.record import parse

    spec = GateSpec(SpecKey(_NAME, "", ""), _valid_steps(steps), Constraint(), checks=())
    try:
        line = json.dumps({"metric": _NAME, "series": list(series)})
    except TypeError as error:
        raise SelectionError(f"points cannot be read: {error}") from None
    return selections(select_from(parse(line.encode()), spec), spec)


def select_from(record: Record, spec: GateSpec) -> gate.selection.Selection:
    """One declaration's coordinates out of a record, ascending. Raises SelectionError."""
    import gate.selection

    series = record.metrics.get(spec.metric_key)
    if series is not None:
        record = replace(record, metrics={**record.metrics, spec.metric_key: _judged_points(series, spec)})
    selection = gate.selection.select(spec, record)
    faults = [*selection.problems, *selection.errors.values()]
    if faults:
        raise SelectionError("; ".join(faults))
    return selection


def selections(selection: gate.selection.Selection, spec: GateSpec) -> list[Selection]:
    """In the order of the declaration."""
    from gate.selection import NO_STEP

    rows = zip(selection.steps.tolist(), selection.at_steps.tolist(), selection.values.tolist(), strict=True)
    found = {step: Selection(step, None if at == NO_STEP else at, value) for step, at, value in rows}
    order = spec.steps if isinstance(spec.steps, tuple) else tuple(found)
    return [found[step] for step in order]


def _judged_points(series: MetricSeries, spec: GateSpec) -> MetricSeries:
    """Of ``"last"`` the last point alone, whatever came before; a step that is selected must not come twice."""
    if spec.steps == "last":
        return replace(series, steps=series.steps[-1:], values=series.values[-1:])
    wanted = set(spec.steps) if isinstance(spec.steps, tuple) else set(series.steps)
    twice = [step for step, n in Counter(series.steps).items() if n > 1 and step is not None and step in wanted]
    if twice:
        raise SelectionError(f"{spec.metric_key}: duplicate step {twice[0]} ({counted(len(twice), 'such step')})")
    return series


def _valid_steps(steps: Any) -> Any:
    faults: list[str] = []
    literal = list(steps) if isinstance(steps, tuple) else steps
    valid = parse_steps(literal, faults.append)
    if isinstance(valid, Reduction):
        faults.append(f'found {canonical_json(steps)}, a reduction; write "last", "all" or a list of steps')
    if faults:
        raise SelectionError(f"steps: {'; '.join(faults)}")
    return valid

"""A verdict as plain JSON values, for people, other programs and the store. `gate.verdict_reading` reads it back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gate.identity import AGGREGATE_STEP
from gate.selection import NO_STEP
from gate.spec import GateSpec
from gate.verdict import CheckColumns, SpecVerdict, Status, Verdict
from gate.verdict_reading import SCHEMA, from_json

__all__ = ["SCHEMA", "from_json", "to_json", "to_stored"]

_DISTRUSTED = (Status.FAIL.label, Status.ERROR.label)


def to_json(verdict: Verdict) -> dict[str, Any]:
    """The full form, one row per coordinate. Numbers that are not finite are null; reasons name them."""
    return _document(verdict, [np.arange(spec.steps.size) for spec in verdict.specs])


def to_stored(verdict: Verdict) -> dict[str, Any]:
    """What is kept with a run: of the coordinates only those that fail, are outside or are errors.

    Together with the run's stored values and the rows of the named runs, `gate.replay` makes the full form of it.
    """
    document = _document(verdict, [np.flatnonzero(spec.worst >= Status.OUTSIDE) for spec in verdict.specs])
    for written, spec in zip(document["specs"], verdict.specs, strict=True):
        if spec.steps.tolist() == [AGGREGATE_STEP]:
            written["at_step"] = _step(int(spec.at_steps[0]))
    return document


def _document(verdict: Verdict, kept: Sequence[NDArray[np.intp]]) -> dict[str, Any]:
    """``kept``: per gate spec the indices of the coordinates to write."""
    lists = _RunLists()
    return {
        "schema": SCHEMA,
        "verdict": verdict.outcome,
        "mode": verdict.mode,
        "reason": verdict.reason,
        "series": asdict(verdict.identity),
        "provenance": {"commit_sha": verdict.provenance.commit_sha, **asdict(verdict.provenance)},
        "policy": asdict(verdict.policy),
        "written": None if verdict.written is None else asdict(verdict.written),
        "coordinates": [
            row for spec, indices in zip(verdict.specs, kept, strict=True) for row in _coordinates(spec, indices)
        ],
        "specs": [_spec(spec, lists) for spec in verdict.specs],
        "run_lists": lists.by_name,
        "compared": verdict.compared,
        "coordinates_total": verdict.coordinates_total,
        "warnings": [asdict(notice) for notice in verdict.warnings],
    }


class _RunLists:
    """Lists of run ids, each written once under a short name."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[str]] = {}
        self._names: dict[tuple[str, tuple[str, ...]], str] = {}

    def name(self, prefix: str, run_ids: tuple[str, ...]) -> str:
        key = (prefix, run_ids)
        if key not in self._names:
            number = sum(prefix == other for other, _ in self._names)
            self._names[key] = f"{prefix}{number}"
            self.by_name[self._names[key]] = list(run_ids)
        return self._names[key]


def _spec(spec: SpecVerdict, lists: _RunLists) -> dict[str, Any]:
    return {
        **asdict(spec.spec.key),
        "baseline": lists.name("b", spec.baseline),
        "anchor": lists.name("a", spec.anchor) if spec.anchor else None,
        "epoch_id": spec.epoch_id,
        "points": spec.points,
        **_policy_literals(spec.spec),
        "checks": {
            name: {"status": check.status.label, **check.facts, "reason": check.reason}
            for name, check in spec.checks.items()
        },
    }


def _policy_literals(spec: GateSpec) -> dict[str, Any]:
    """What the declaration says beside its identity, as literals."""
    limits, expected = spec.limits, spec.expect_points
    return {
        "line": spec.line,
        "limits": limits and {name: bound for name, bound in asdict(limits).items() if bound is not None},
        "expect_points": expected and ({"min": expected.count} if expected.at_least else expected.count),
        "enforce": spec.enforce,
        "allowlist_reason": spec.allowlist_reason,
        "drift_checks": list(spec.checks),
    }


def _coordinates(spec: SpecVerdict, indices: NDArray[np.intp]) -> Iterable[dict[str, Any]]:
    key = asdict(spec.spec.key)
    checks = {name: list(_check_rows(name, columns, indices)) for name, columns in spec.columns.items()}
    steps, at_steps, values = (column[indices].tolist() for column in (spec.steps, spec.at_steps, spec.values))
    for row, (step, at_step, value) in enumerate(zip(steps, at_steps, values, strict=True)):
        answers = {name: answer for name, rows in checks.items() if (answer := rows[row]) is not None}
        yield {
            **key,
            "step": step,
            "at_step": _step(at_step),
            "value": _number(value),
            "trusted": all(answer["status"] not in _DISTRUSTED for answer in answers.values()),
            "checks": answers,
        }


def _check_rows(name: str, columns: CheckColumns, indices: NDArray[np.intp]) -> Iterable[dict[str, Any] | None]:
    """One answer per coordinate; None where ``selection`` found nothing wrong."""
    numbers = {field: column[indices].tolist() for field, column in columns.numbers.items()}
    for row, (index, status) in enumerate(zip(indices.tolist(), columns.status[indices].tolist(), strict=True)):
        if name == "selection" and status == Status.PASS:
            yield None
            continue
        yield {
            "status": Status(status).label,
            **{field: _number(column[row]) for field, column in numbers.items()},
            "reason": columns.reasons.get(index, ""),
        }


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _step(at_step: int) -> int | None:
    return None if at_step == NO_STEP else at_step

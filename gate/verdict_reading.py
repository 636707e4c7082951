"""A verdict out of its JSON form, full or as stored."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from gate.errors import DriftgateError
from gate.fields import parse_constraint, parse_expect_points, parse_limits, parse_steps
from gate.identity import SeriesIdentity, SpecKey
from gate.policy import GatePolicy
from gate.provenance import Provenance
from gate.selection import NO_STEP
from gate.spec import GateSpec
from gate.verdict import CheckColumns, Notice, SpecCheck, SpecVerdict, Status, Verdict, Written

SCHEMA = 1
_Row = Mapping[str, Any]
_PASSED: _Row = {"status": "pass", "reason": ""}


def from_json(document: Mapping[str, Any]) -> Verdict:
    """The verdict that was written; numbers written as null are NaN. A stored form gives the coordinates it kept.

    Raises DriftgateError for a document of another schema or one that is no verdict.
    """
    if document.get("schema") != SCHEMA:
        raise DriftgateError(f"verdict of schema {document.get('schema')!r}, expected {SCHEMA}; use a newer driftgate")
    try:
        return _verdict(document)
    except (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise DriftgateError(f"not a verdict: {type(error).__name__} {error}") from error


def _verdict(document: Mapping[str, Any]) -> Verdict:
    rows: defaultdict[SpecKey, list[_Row]] = defaultdict(list)
    for row in document["coordinates"]:
        rows[_key(row)].append(row)
    written = document["written"]
    return Verdict(
        outcome=document["verdict"],
        identity=SeriesIdentity(**document["series"]),
        policy=GatePolicy(**document["policy"]),
        provenance=Provenance(**_known(Provenance, document["provenance"])),
        specs=tuple(_spec_verdict(spec, rows[_key(spec)], document["run_lists"]) for spec in document["specs"]),
        warnings=tuple(Notice(**notice) for notice in document["warnings"]),
        reason=document["reason"],
        mode=document["mode"],
        written=None if written is None else Written(**written),
    )


def _known(value_type: type, document: Mapping[str, Any]) -> dict[str, Any]:
    return {field.name: document[field.name] for field in fields(value_type) if field.name in document}


def _key(row: _Row) -> SpecKey:
    return SpecKey(row["metric_key"], row["steps_key"], row["constraint_key"])


def _spec_verdict(spec: _Row, rows: Sequence[_Row], run_lists: Mapping[str, Sequence[str]]) -> SpecVerdict:
    names = dict.fromkeys(name for row in rows for name in row["checks"])
    return SpecVerdict(
        spec=_gate_spec(spec),
        steps=np.array([row["step"] for row in rows], np.int64),
        at_steps=np.array([NO_STEP if row["at_step"] is None else row["at_step"] for row in rows], np.int64),
        values=_numbers([row["value"] for row in rows]),
        columns={name: _columns([row["checks"].get(name) for row in rows]) for name in names},
        checks={name: _spec_check(check) for name, check in spec["checks"].items()},
        points=spec["points"],
        baseline=tuple(run_lists[spec["baseline"]]),
        anchor=() if spec["anchor"] is None else tuple(run_lists[spec["anchor"]]),
        epoch_id=spec["epoch_id"],
    )


def _columns(answers: Sequence[_Row | None]) -> CheckColumns:
    """From one answer per coordinate; none was written where ``selection`` passed."""
    given = [answer or _PASSED for answer in answers]
    numbers = {name: [answer[name] for answer in given] for name in ("mean", "lo", "hi") if name in given[0]}
    return CheckColumns(
        status=np.array([Status.of(answer["status"]) for answer in given], np.int8),
        n=np.array([answer["n"] for answer in given], np.int64) if "n" in given[0] else None,
        reasons={index: answer["reason"] for index, answer in enumerate(given) if answer["reason"]},
        **{name: _numbers(column) for name, column in numbers.items()},
    )


def _numbers(values: Sequence[float | None]) -> NDArray[np.float64]:
    return np.array([math.nan if value is None else value for value in values], np.float64)


def _spec_check(check: _Row) -> SpecCheck:
    facts = {name: fact for name, fact in check.items() if name not in ("status", "reason")}
    return SpecCheck(Status.of(check["status"]), check["reason"], facts)


def _gate_spec(spec: _Row) -> GateSpec:
    limits, expected = spec["limits"], spec["expect_points"]
    key = _key(spec)
    return GateSpec(
        key=key,
        steps=parse_steps(json.loads(key.steps_key), _refuse),
        constraint=parse_constraint(json.loads(key.constraint_key), _refuse),
        limits=None if limits is None else parse_limits(limits, _refuse),
        expect_points=None if expected is None else parse_expect_points(expected, _refuse),
        enforce=spec["enforce"],
        allowlist_reason=spec["allowlist_reason"],
        checks=tuple(spec["drift_checks"]),
        line=spec["line"],
    )


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)

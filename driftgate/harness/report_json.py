"""The report on a call of ``run`` for machines, written here and read back by ``driftgate ci-report``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from driftgate.harness.outcome import JobExit
from driftgate.harness.plan_notice import PlanNotice
from driftgate.harness.reported import ReportedAttempt, ReportedRun, ReportedSkip, ReportedTest
from gate.errors import DriftgateError
from gate.identity import SeriesIdentity
from gate.outline import NOT_EVIDENCE
from gate.provenance import Provenance
from gate.verdict_json import from_json, to_json

SCHEMA = 1
_NUMBERS = ("pr", "ci_run_id", "ci_run_attempt", "test_attempt", "seed")
"""The facts of a provenance that are whole numbers; the others are texts."""


def run_json(run: ReportedRun) -> dict[str, Any]:
    """One document: where the run comes from, every test with its attempts and verdict, and what was not run."""
    return {
        "schema": SCHEMA,
        "exit": int(run.exit),
        "cadence": run.cadence,
        "writes_baseline": run.writes,
        "writes_reason": run.reason or None,
        "fork": run.fork,
        "not_evidence": NOT_EVIDENCE if run.fork else None,
        "interrupted": run.interrupted,
        "provenance": {"commit_sha": run.provenance.commit_sha, **asdict(run.provenance)},
        "tests": [_test_json(test) for test in run.tests],
        "skipped": [{"series": asdict(skipped.identity), "reason": skipped.reason} for skipped in run.skipped],
        "not_run": [asdict(identity) for identity in run.not_run],
        "warnings": [asdict(notice) for notice in run.notices],
    }


def read_run(document: Any) -> ReportedRun:
    """The run that `run_json` wrote. Raises DriftgateError for anything else."""
    try:
        if document["schema"] != SCHEMA:
            raise DriftgateError(f"is of schema {document['schema']!r}, expected {SCHEMA}; use a newer driftgate")
        return _run(document)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise DriftgateError(f"is no report of driftgate run: {type(error).__name__} {error}") from error


def _test_json(test: ReportedTest) -> dict[str, Any]:
    return {
        "file": test.identity.test_path,
        "series": asdict(test.identity),
        "passed": test.passed,
        "passed_on_retry": test.passed_on_retry,
        "exit": int(test.exit),
        "duration_s": round(test.duration_s, 3),
        "attempts": [_attempt_json(attempt) for attempt in test.attempts],
        "remarks": list(test.remarks),
        "verdict": to_json(test.verdict),
    }


def _attempt_json(attempt: ReportedAttempt) -> dict[str, Any]:
    return {
        "attempt": attempt.number,
        "class": attempt.attempt_class,
        "failure": attempt.failure,
        "error": attempt.error,
        "detail": attempt.detail,
        "started_at": attempt.started_at.isoformat(),
        "duration_s": round(attempt.duration_s, 3),
        "exit_code": attempt.exit_code,
        "last_lines": list(attempt.last_lines),
    }


def _run(document: Mapping[str, Any]) -> ReportedRun:
    return ReportedRun(
        cadence=_text(document["cadence"]),
        writes=document["writes_baseline"] is True,
        reason=_text(document["writes_reason"] or ""),
        fork=_maybe(bool, document["fork"]),
        interrupted=document["interrupted"] is True,
        exit=JobExit(document["exit"]),
        provenance=_provenance(document["provenance"]),
        tests=tuple(map(_test, document["tests"])),
        skipped=tuple(ReportedSkip(_identity(row["series"]), _text(row["reason"])) for row in document["skipped"]),
        not_run=tuple(map(_identity, document["not_run"])),
        notices=tuple(PlanNotice(_text(row["kind"]), _text(row["text"])) for row in document["warnings"]),
    )


def _test(row: Mapping[str, Any]) -> ReportedTest:
    test = ReportedTest(
        identity=_identity(row["series"]),
        attempts=tuple(map(_attempt, row["attempts"])),
        verdict=from_json(row["verdict"]),
        exit=JobExit(row["exit"]),
        remarks=tuple(map(_text, row["remarks"])),
    )
    if test.verdict.identity != test.identity or not test.attempts:
        raise ValueError(f"the verdict of {test.identity.test_path} is on another test, or nothing was attempted")
    return test


def _attempt(row: Mapping[str, Any]) -> ReportedAttempt:
    return ReportedAttempt(
        number=int(row["attempt"]),
        attempt_class=_text(row["class"]),
        failure=_maybe(str, row["failure"]),
        error=_text(row["error"]),
        detail=_text(row["detail"]),
        started_at=datetime.fromisoformat(row["started_at"]),
        duration_s=float(row["duration_s"]),
        exit_code=_maybe(int, row["exit_code"]),
        last_lines=tuple(map(_text, row["last_lines"])),
    )


def _identity(row: Mapping[str, Any]) -> SeriesIdentity:
    return SeriesIdentity(*(_text(row[field.name]) for field in fields(SeriesIdentity)))


def _provenance(row: Mapping[str, Any]) -> Provenance:
    """Of each fact what it may be, or not known."""
    kinds = dict.fromkeys(_NUMBERS, int) | {"fork": bool}
    facts = {
        field.name: _maybe(kinds.get(field.name, str), row.get(field.name))
        for field in fields(Provenance)
        if field.name != "packages"
    }
    packages = {_text(name): _text(version) for name, version in row["packages"].items()}
    return Provenance(**facts, packages=packages)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"found {type(value).__name__}, expected a text")
    return value


def _maybe(kind: type, value: Any) -> Any:
    if value is not None and not isinstance(value, kind):
        raise TypeError(f"found {type(value).__name__}, expected {kind.__name__} or null")
    return value

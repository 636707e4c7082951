"""The report on a verdict and on one call of ``run``: the same facts as text, JSON and Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import orjson

from driftgate.harness.attempts import AttemptResult
from driftgate.harness.next_steps import next_steps
from driftgate.harness.run import RunResult, TestReport
from gate.identity import SeriesIdentity
from gate.outline import headline, safe
from gate.report_markdown import code, markdown_report
from gate.report_text import text_report
from gate.verdict import Verdict
from gate.verdict_json import to_json

SCHEMA = 1
_LARGEST_BYTES = 900_000
"""A job summary may have a mebibyte."""


def verdict_text(verdict: Verdict) -> str:
    """The gate's own report and what to do next, for a console."""
    return text_report(verdict) + "".join(f"  next: {step}\n" for step in next_steps(verdict))


def verdict_markdown(verdict: Verdict, *, max_bytes: int = 60_000) -> str:
    """The gate's own report, of at most ``max_bytes``, and what to do next."""
    return markdown_report(verdict, max_bytes=max_bytes) + "".join(
        f"- next: {code(step)}\n" for step in next_steps(verdict)
    )


def as_json(result: RunResult) -> dict[str, Any]:
    """One document: policy, every test with its attempts and verdict, and what was not run."""
    return {
        "schema": SCHEMA,
        "exit": int(result.exit),
        "cadence": result.policy.cadence.name,
        "writes_baseline": result.policy.writes,
        "writes_reason": result.policy.reason or None,
        "interrupted": result.interrupted,
        "tests": [_test(test) for test in result.tests],
        "skipped": [{"series": asdict(test.identity), "reason": test.reason} for test in result.skipped],
        "not_run": [asdict(identity) for identity in result.not_run],
    }


def json_bytes(document: dict[str, Any]) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_INDENT_2)


def as_markdown(result: RunResult) -> str:
    """Red tests first, then what deviates, then the rest; at most 900 kB of ASCII."""
    ordered = sorted(result.tests, key=_severity, reverse=True)
    text = "\n".join([*_summary(result), *(line for test in ordered for line in _section(test, len(ordered)))])
    return text + "\n"


def _test(test: TestReport) -> dict[str, Any]:
    return {
        "file": test.identity.test_path,
        "series": asdict(test.identity),
        "passed": test.passed,
        "exit": int(test.exit),
        "duration_s": round(test.duration_s, 3),
        "attempts": [_attempt(attempt) for attempt in test.attempts],
        "remarks": list(test.remarks),
        "verdict": to_json(test.judgement.verdict),
    }


def _attempt(attempt: AttemptResult) -> dict[str, Any]:
    return {
        "attempt": attempt.number,
        "class": attempt.attempt_class,
        "detail": attempt.detail,
        "started_at": attempt.started_at.isoformat(),
        "duration_s": round(attempt.duration_s, 3),
        "exit_code": attempt.exit_code,
    }


def _severity(test: TestReport) -> tuple[bool, bool]:
    return (not test.passed, test.judgement.verdict.outcome == "not_trusted")


def _summary(result: RunResult) -> Iterator[str]:
    passed = sum(test.passed for test in result.tests)
    distrusted = sum(test.judgement.verdict.outcome == "not_trusted" for test in result.tests)
    interrupted = ", interrupted" if result.interrupted else ""
    yield (f"## driftgate: {passed} passed, {len(result.tests) - passed} failed, {distrusted} not trusted{interrupted}")
    yield ""
    if not result.policy.writes:
        yield f"Nothing was written: {code(safe(result.policy.reason))}"
        yield ""
    yield "| test | result | gate |"
    yield "|---|---|---|"
    for test in sorted(result.tests, key=_severity, reverse=True):
        yield f"| {_place(test.identity)} | {_cell(_result(test))} | {_cell(headline(test.judgement.verdict))} |"
    for identity in result.not_run:
        yield f"| {_place(identity)} | not run | |"
    for skipped in result.skipped:
        yield f"| {_place(skipped.identity)} | {_cell(f'skipped, {skipped.reason}')} | |"
    yield ""


def _result(test: TestReport) -> str:
    last = test.attempts[-1]
    return f"{last.attempt_class} ({last.detail}, {test.duration_s:.1f} s)"


def _section(test: TestReport, tests: int) -> Iterator[str]:
    yield f"### {code(safe(test.identity.test_path))}"
    yield ""
    yield verdict_markdown(test.judgement.verdict, max_bytes=_LARGEST_BYTES // tests)
    yield from (f"- {code(safe(remark))}" for remark in test.remarks)


def _place(identity: SeriesIdentity) -> str:
    return _cell(f"{identity.test_path} {identity.suite}")


def _cell(text: str) -> str:
    """One cell of a table: a code span in which a bar does not end the cell."""
    return code(safe(text)).replace("|", "\\|")

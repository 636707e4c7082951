"""The report on a verdict and on one call of ``run``: the same facts as text, JSON and Markdown."""

from __future__ import annotations

from typing import Any

import orjson

from driftgate.harness.fitted import Block, fitted
from driftgate.harness.job_summary import LARGEST_BYTES
from driftgate.harness.next_steps import next_steps
from driftgate.harness.report_json import run_json
from driftgate.harness.reported import ReportedRun, counts, reported
from driftgate.harness.run import RunResult
from driftgate.harness.run_markdown import Detail, evidence, origin, told, verdict_markdown
from gate.outline import safe
from gate.report_markdown import code
from gate.report_text import text_report
from gate.verdict import Verdict

__all__ = ["as_json", "as_markdown", "json_bytes", "verdict_markdown", "verdict_text"]


def verdict_text(verdict: Verdict) -> str:
    """The gate's own report and what to do next, for a console."""
    return text_report(verdict) + "".join(f"  next: {step}\n" for step in next_steps(verdict))


def as_json(result: RunResult) -> dict[str, Any]:
    """One document: where the run comes from, every test with its attempts and verdict, and what was not run."""
    return run_json(reported(result))


def json_bytes(document: dict[str, Any]) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_INDENT_2)


def as_markdown(result: RunResult, max_bytes: int = LARGEST_BYTES) -> str:
    """Failed tests first, then what deviates, then the rest; ASCII of at most ``max_bytes``."""
    run = reported(result)
    needy = sum(test.severity > 1 for test in run.tests)
    detail = Detail().shared_by(needy, max_bytes)
    return fitted([_head(run), *told(run.tests, run.not_run, run.skipped, detail)], max_bytes)


def _head(run: ReportedRun) -> Block:
    interrupted = " (the run was interrupted)" if run.interrupted else ""
    written = "writes the baseline" if run.writes else f"nothing was written: {code(safe(run.reason))}"
    title = (f"## driftgate: {counts(run.tests)}{interrupted}", "")
    notices = tuple(f"- warning {code(safe(notice.text))}" for notice in run.notices)
    return Block((*title, *evidence(run.fork).head, f"{origin(run)}; {written}", ""), notices, ("",) if notices else ())

"""A decision on a rerun as text, as JSON, as the body of a post, and as outputs of a workflow step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from driftgate.harness.rerun_policy import LAST_ATTEMPT, Ended, Ending, RerunDecision
from gate.outline import safe
from gate.report_markdown import code

MOST_JOBS = 100
"""Jobs that one list of a post shows: a comment has a limit of size."""
_HEADLINES = {
    Ended.PASSED: "passed",
    Ended.FAILED: "FAILED",
    Ended.CANCELLED: "was cancelled",
    Ended.SKIPPED: "was skipped",
}


def decision_json(decision: RerunDecision) -> dict[str, Any]:
    return {
        "schema": 1,
        "action": decision.action,
        "fail": decision.fail,
        "reason": decision.reason,
        "failed": list(decision.failed),
        "flaky": list(decision.flaky),
        "newly_failing": list(decision.newly_failing),
    }


def decision_outputs(decision: RerunDecision) -> dict[str, str]:
    """Each value on one line, for conditions of a workflow's steps; the lists as JSON."""
    return {
        "action": decision.action,
        "fail": json.dumps(decision.fail),
        "failed": json.dumps(decision.failed),
        "flaky": json.dumps(decision.flaky),
        "newly_failing": json.dumps(decision.newly_failing),
    }


def decision_text(decision: RerunDecision) -> str:
    """The decision, why, and the jobs it is about; printable ASCII."""
    ends = ", then fail" if decision.fail else ""
    lines = [f"rerun-policy: {decision.action}{ends} ({safe(decision.reason)})"]
    for title, names in _lists(decision):
        lines += [f"  {title}: {safe(name)}" for name in names]
    return "\n".join(lines) + "\n"


def decision_markdown(ending: Ending, decision: RerunDecision, run_url: str | None = None) -> str:
    """The body of a post: what failed and what was flaky, apart; no name of a job is markup."""
    title = f"attempt {ending.attempt} {_HEADLINES[ending.ended]}"
    lines = [f"### Pipeline: {title}", "", f"{code(safe(decision.reason))}", ""]
    for heading, names in _lists(decision):
        lines += [f"**{heading}**", "", *(f"- {code(safe(name))}" for name in names[:MOST_JOBS])]
        lines += [f"- and {len(names) - MOST_JOBS} more"] if len(names) > MOST_JOBS else []
        lines.append("")
    if ending.attempt >= LAST_ATTEMPT and ending.failed_before is None:
        lines += [
            "The failed jobs of the attempt before are not known: flaky and new failures cannot be told apart.",
            "",
        ]
    if run_url:
        lines += [f"Run: {code(safe(run_url))}", ""]
    return "\n".join(lines)


def _lists(decision: RerunDecision) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Headings and their jobs, where there are any; a job stands under one heading."""
    still = tuple(name for name in decision.failed if name not in decision.newly_failing)
    failing = "still failing" if decision.newly_failing or decision.flaky else "failed"
    lists = {failing: still, "newly failing": decision.newly_failing, "flaky: failed, then passed": decision.flaky}
    return ((heading, names) for heading, names in lists.items() if names)

"""Several jobs' reports as one job summary, and as the comment on a pull request that is updated in place."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from driftgate.harness.ci_report import HARMLESS, LOST, CiReport
from driftgate.harness.fitted import Block, fitted
from driftgate.harness.job_summary import LARGEST_BYTES
from driftgate.harness.reported import counts
from driftgate.harness.run_markdown import Detail, cell, evidence, origin, told
from driftgate.harness.shard_files import ReportProblem, ShardReport
from gate.outline import safe
from gate.report_markdown import code

LARGEST_COMMENT = 65_000
"""GitHub takes comments of 65,536 characters."""
NO_SHARD = "-"
_MOST_ORIGINS = 3
_MOST_PROBLEMS = 50
_SERVER = re.compile(r"https?://[A-Za-z0-9.:-]{1,200}")
_REPOSITORY = re.compile(r"[A-Za-z0-9._-]{1,100}(?:/[A-Za-z0-9._-]{1,100}){1,20}")


def summary_markdown(report: CiReport, max_bytes: int = LARGEST_BYTES) -> str:
    """For a job summary, with the last lines of what failed; ASCII."""
    return _markdown(report, Detail(), max_bytes)


def comment_markdown(report: CiReport, environment: Mapping[str, str]) -> str:
    """The body of a comment. Its first line is the mark by which the next one finds it; without any output of tests,
    which a log would mask secrets in and a comment would not.
    """
    detail = Detail(section_bytes=6_000, deviations=5, output=False)
    link = _run_link(report, environment)
    head = f"{mark(report.title)}\n"
    foot = f"\n[The run, its logs and its summary]({link})\n" if link else ""
    return head + _markdown(report, detail, LARGEST_COMMENT - len(head) - len(foot)) + foot


def mark(title: str | None) -> str:
    """An HTML comment, the same for the same title and another one for another."""
    if title is None:
        return "<!-- driftgate:ci-report -->"
    slug = "-".join(re.findall("[a-z0-9]+", title.lower()))[:40].strip("-") or "title"
    digest = hashlib.sha256(title.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"<!-- driftgate:ci-report {slug}-{digest} -->"


def _markdown(report: CiReport, detail: Detail, max_bytes: int) -> str:
    needy = sum(test.severity > 1 for test in report.tests)
    blocks = told(report.tests, report.not_run, report.skipped, detail.shared_by(needy, max_bytes))
    grave = [problem for problem in report.problems if problem.kind not in HARMLESS]
    harmless = [problem for problem in report.problems if problem.kind in HARMLESS]
    top = (_head(report), _problems("What is wrong with the reports", grave))
    return fitted([*top, *blocks, _problems("About the reports", harmless), _shards(report)], max_bytes)


def _head(report: CiReport) -> Block:
    title = f"driftgate {code(safe(report.title))}" if report.title else "driftgate"
    number = len(report.counting)
    origins = list(dict.fromkeys(_common_origin(shard) for shard in report.counting))[:_MOST_ORIGINS]
    facts = "; ".join(["1 report" if number == 1 else f"{number} reports", *origins])
    return Block((f"## {title}: {report.headline}", "", *evidence(report.fork).head, facts, ""))


def _common_origin(shard: ShardReport) -> str:
    """What all reports of a pipeline have in common."""
    return origin(replace(shard.run, provenance=replace(shard.run.provenance, shard=None, ci_run_attempt=None)))


def _problems(title: str, problems: Sequence[ReportProblem]) -> Block:
    if not problems:
        return Block()
    lines = [f"- {_problem(problem)}" for problem in problems[:_MOST_PROBLEMS]]
    more = len(problems) - len(lines)
    return Block((f"### {title}", ""), (*lines, *([f"- and {more} more"] if more else [])), ("",))


def _problem(problem: ReportProblem) -> str:
    """Loud where some result is not known."""
    where = f"{code(safe(problem.file))}: " if problem.file else ""
    loud = "**NO RESULT** " if problem.kind in LOST else ""
    return f"{loud}{where}{code(safe(problem.text))}"


def _shards(report: CiReport) -> Block:
    """Which report told what."""
    rows = [
        f"| {cell(shard.file)} | {cell(f'{shard.run.provenance.shard or NO_SHARD}')} | {_found(shard)} |"
        for shard in report.shards
    ]
    head = ("<details><summary>Reports</summary>", "", "| report | shard | result |", "|---|---|---|")
    return Block(head, tuple(rows), ("", "</details>", "")) if rows else Block()


def _found(shard: ShardReport) -> str:
    replaced = "" if shard.superseded is None else f", superseded by {cell(shard.superseded)}"
    return f"{counts(shard.run.tests)}, exit {int(shard.run.exit)}{replaced}"


def _run_link(report: CiReport, environment: Mapping[str, str]) -> str | None:
    """The page of the CI run that the reports are of, where this job's CI says enough to know its address."""
    runs = {shard.run.provenance.ci_run_id for shard in report.counting}
    run_id = runs.pop() if len(runs) == 1 else None
    if not isinstance(run_id, int):
        return None
    if environment.get("GITHUB_ACTIONS") == "true":
        server, name, page = environment.get("GITHUB_SERVER_URL"), environment.get("GITHUB_REPOSITORY"), "actions/runs"
    elif environment.get("GITLAB_CI") == "true":
        server, name, page = environment.get("CI_SERVER_URL"), environment.get("CI_PROJECT_PATH"), "-/pipelines"
    else:
        return None
    known = _SERVER.fullmatch(server or "") and _REPOSITORY.fullmatch(name or "")
    return f"{server}/{name}/{page}/{run_id}" if known else None

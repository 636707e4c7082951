"""Several jobs' reports as one document, and as lines for a console."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from driftgate.harness.ci_report import LOST, CiReport
from driftgate.harness.outcome import JobExit
from driftgate.harness.reported import ReportedTest
from driftgate.harness.run_markdown import found, hidden_by_retry, result_word
from driftgate.harness.shard_files import ShardReport
from gate.outline import NOT_EVIDENCE, safe

SCHEMA = 1


def ci_report_json(report: CiReport) -> dict[str, Any]:
    """``exit`` is what ``--fail`` answers with. The verdicts themselves are in the reports of the jobs."""
    tests = report.tests
    return {
        "schema": SCHEMA,
        "title": report.title,
        "exit": int(report.exit),
        "complete": report.complete,
        "not_evidence": NOT_EVIDENCE if report.fork else None,
        "passed": sum(test.passed for test in tests),
        "failed": sum(test.exit is JobExit.TEST_FAILED for test in tests),
        "not_trusted": sum(test.distrusted for test in tests),
        "not_judged": sum(test.unjudged for test in tests),
        "passed_on_retry": sum(test.passed_on_retry for test in tests),
        "problems": [asdict(problem) for problem in report.problems],
        "reports": [_shard_json(shard) for shard in report.shards],
        "tests": [_test_json(test, shard) for shard in report.counting for test in shard.run.tests],
        "not_run": [asdict(identity) for identity in report.not_run],
        "skipped": [{"series": asdict(skipped.identity), "reason": skipped.reason} for skipped in report.skipped],
    }


def ci_report_text(report: CiReport) -> str:
    """What needs a look, one line each; printable ASCII."""
    return "".join(f"{line}\n" for line in _lines(report))


def _shard_json(shard: ShardReport) -> dict[str, Any]:
    provenance = shard.run.provenance
    return {
        "file": shard.file,
        "superseded_by": shard.superseded,
        "exit": int(shard.run.exit),
        "cadence": shard.run.cadence,
        "fork": shard.run.fork,
        "commit_sha": provenance.commit_sha,
        "ci_run_id": provenance.ci_run_id,
        "ci_run_attempt": provenance.ci_run_attempt,
        "shard": provenance.shard,
        "tests": len(shard.run.tests),
    }


def _test_json(test: ReportedTest, shard: ShardReport) -> dict[str, Any]:
    return {
        "series": asdict(test.identity),
        "report": shard.file,
        "result": result_word(test).lower().replace(" ", "_"),
        "found": found(test),
        "exit": int(test.exit),
        "duration_s": round(test.duration_s, 3),
        "attempts": [attempt.told for attempt in test.attempts],
        "passed_on_retry": test.passed_on_retry,
        "verdict": test.verdict.outcome,
    }


def _lines(report: CiReport) -> Iterator[str]:
    title = f" {safe(report.title)}" if report.title else ""
    yield f"driftgate{title}: {report.headline} in {len(report.counting)} of {len(report.shards)} reports"
    if report.fork:
        yield f"  {NOT_EVIDENCE}"
    for problem in report.problems:
        where = f"{problem.file}: " if problem.file else ""
        yield f"  {'NO RESULT' if problem.kind in LOST else 'reports'}: {safe(where + problem.text)}"
    for test in sorted(report.tests, key=lambda test: (-test.severity, test.identity)):
        place = f"{test.identity.test_path} in {test.identity.suite}"
        if test.severity > 1:
            yield f"  {result_word(test)} {safe(f'{place}: {found(test)}')}"
        if test.passed_on_retry:
            yield f"  passed only on retry: {safe(f'{place}: {hidden_by_retry(test)}')}"
    for identity in report.not_run:
        yield f"  not run: {safe(f'{identity.test_path} in {identity.suite}')}"

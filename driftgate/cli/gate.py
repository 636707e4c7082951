"""``driftgate gate``: the post-test hook."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftgate.cli.output import print_json, print_text, say
from driftgate.cli.reports import JunitOption, MarkdownOption, check_reports, write_markdown, write_report
from driftgate.cli.session import Session, command
from driftgate.cli.targets import BackendOption, SuiteOption
from driftgate.cli.triggers import CadenceOption, EventOption, ScheduleOption, WriteOption, requests

if TYPE_CHECKING:
    from driftgate.harness.hook import HookResult


@command
def gate(
    session: Session,
    *,
    test: Annotated[Path, typer.Argument(metavar="TEST", help="The test file whose declarations apply.")],
    records: Annotated[Path, typer.Option("--records", metavar="DIR", help="Record directory of the passing attempt.")],
    backend: BackendOption = None,
    suite: SuiteOption = None,
    cadence: CadenceOption = None,
    event: EventOption = None,
    schedule: ScheduleOption = None,
    write: WriteOption = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline", metavar="FILE", help="Judge in shadow against this exported file, without the store."
        ),
    ] = None,
    report_md: MarkdownOption = None,
    junit: JunitOption = None,
) -> None:
    """Judge the record of a test that passed. Where this run may, it is written to the history.

    Example: driftgate gate tests/e2e/test_grpo.py --records records/ --backend cuda --suite stage-c-8-gpu-h100
    """
    from driftgate.harness.hook import GateRequest, judge_attempt
    from driftgate.harness.junit import verdict_junit
    from driftgate.harness.run_report import verdict_markdown
    from gate.verdict_json import to_json

    request = GateRequest(
        test=test,
        records=records,
        config=session.config(),
        environment=os.environ,
        requests=requests(cadence, event, schedule, write),
        backend=backend,
        suite=suite,
        baseline=baseline,
    )
    check_reports(report_md, junit)
    result = judge_attempt(request)
    write_markdown(report_md, partial(verdict_markdown, result.verdict))
    write_report(junit, verdict_junit(result.verdict, result.exit))
    if session.json:
        print_json(to_json(result.verdict))
    else:
        _print(result)
    _annotate(result)
    for problem in result.problems[1:]:  # the verdict's reason is the first
        say(f"driftgate: {problem}")
    raise typer.Exit(result.exit)


def _print(result: HookResult) -> None:
    from driftgate.harness.run_report import verdict_text

    print_text(verdict_text(result.verdict))
    if not result.policy.writes:
        say(f"driftgate: nothing was written: {result.policy.reason}")


def _annotate(result: HookResult) -> None:
    """Beside the source, where this is a step of GitHub Actions: its runner reads both streams."""
    from driftgate.harness.annotations import annotations_of_verdict
    from driftgate.harness.ci_console import console_of

    console = console_of(os.environ)
    for annotation in annotations_of_verdict(result.verdict, result.exit):
        if line := console.annotated(annotation):
            say(line.rstrip("\n"))

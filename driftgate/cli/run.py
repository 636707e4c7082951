"""``driftgate run``: run test files, judge those that pass."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from driftgate.cli.output import print_json
from driftgate.cli.reports import JsonFileOption, MarkdownOption, check_reports, write_report
from driftgate.cli.session import Session, command
from driftgate.cli.targets import BackendOption, SuiteOption
from driftgate.cli.triggers import CadenceOption, EventOption, ScheduleOption, WriteOption, requests


@command
def run(
    session: Session,
    *,
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Test files; each runs at its home suite.")],
    backend: BackendOption = None,
    suite: SuiteOption = None,
    cadence: CadenceOption = None,
    event: EventOption = None,
    schedule: ScheduleOption = None,
    write: WriteOption = None,
    timeout_per_file: Annotated[
        float | None, typer.Option("--timeout-per-file", metavar="SECONDS", help="Longest time for one file.")
    ] = None,
    continue_on_error: Annotated[
        bool, typer.Option("--continue-on-error", help="Go on after a failing test; the exit code is red either way.")
    ] = False,
    keep_failed: Annotated[
        bool, typer.Option("--keep-failed", help="Keep the records of failed attempts as evidence; never judged.")
    ] = False,
    records: Annotated[
        Path | None, typer.Option("--records", metavar="DIR", help="Where attempts get their record directories.")
    ] = None,
    report_md: MarkdownOption = None,
    report_json: JsonFileOption = None,
) -> None:
    """Run test files and judge each that passes. Where this run may write, it is stored.

    Example: driftgate run tests/e2e/test_grpo.py --cadence nightly
    """
    from driftgate.cli.progress import shown_progress
    from driftgate.harness.run import run_tests
    from driftgate.harness.run_report import as_json, as_markdown, json_bytes
    from driftgate.harness.run_request import RunRequest

    request = RunRequest(
        files=tuple(files),
        config=session.config(timeouts__timeout_per_file=timeout_per_file),
        environment=os.environ,
        requests=requests(cadence, event, schedule, write),
        hw=backend,
        suite=suite,
        records=None if records is None else records.absolute(),
        continue_on_error=continue_on_error,
        keep_failed=keep_failed,
    )
    check_reports(report_md, report_json)
    with shown_progress(os.environ, to_stderr=session.json) as progress:
        result = run_tests(request, progress.output, progress)
        progress.finished(result)
    document = as_json(result)
    write_report(report_md, as_markdown(result).encode())
    write_report(report_json, json_bytes(document))
    if session.json:
        print_json(document)
    raise typer.Exit(result.exit)

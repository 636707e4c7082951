"""``driftgate run``: run test files, or the plan, and judge what passes."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftgate.cli.output import print_json, say
from driftgate.cli.plan import option
from driftgate.cli.reports import (
    JsonFileOption,
    JunitOption,
    MarkdownOption,
    check_reports,
    write_markdown,
    write_report,
)
from driftgate.cli.session import Session, command
from driftgate.cli.targets import BackendOption
from driftgate.cli.triggers import CadenceOption, EventOption, ScheduleOption, WriteOption, requests

if TYPE_CHECKING:
    from driftgate.harness.interruption import Interruption
    from driftgate.harness.prepared_run import PreparedRun
    from driftgate.harness.run import RunResult
    from driftgate.harness.run_request import RunRequest


@command
def run(
    session: Session,
    *,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Test files, each at its home suite; without any, the plan."),
    ] = None,
    backend: BackendOption = None,
    suite: Annotated[str | None, option("suite")] = None,
    cadence: CadenceOption = None,
    label: Annotated[list[str] | None, option("label")] = None,
    event: EventOption = None,
    schedule: ScheduleOption = None,
    shard: Annotated[str | None, option("shard")] = None,
    file: Annotated[Path | None, option("file")] = None,
    changed_files: Annotated[Path | None, option("changed_files")] = None,
    match_all_labels: Annotated[bool, option("match_all_labels")] = False,
    durations: Annotated[Path | None, option("durations")] = None,
    write: WriteOption = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline", metavar="FILE", help="Judge in shadow against this exported file, without the store."
        ),
    ] = None,
    timeout_per_file: Annotated[
        float | None, typer.Option("--timeout-per-file", metavar="SECONDS", help="Longest time for one file.")
    ] = None,
    continue_on_error: Annotated[
        bool, typer.Option("--continue-on-error", help="Go on after a failing test; the exit code is red either way.")
    ] = False,
    retry: Annotated[
        bool | None,
        typer.Option("--retry/--no-retry", help="Try failed tests again, or not, whatever suites are configured to."),
    ] = None,
    max_attempts: Annotated[
        int | None, typer.Option("--max-attempts", metavar="N", help="Attempts of one test, the first included.")
    ] = None,
    retry_wait: Annotated[
        float | None, typer.Option("--retry-wait", metavar="SECONDS", help="Time between two attempts; may be 0.")
    ] = None,
    keep_failed: Annotated[
        bool, typer.Option("--keep-failed", help="Keep the records of failed attempts as evidence; never judged.")
    ] = False,
    records: Annotated[
        Path | None, typer.Option("--records", metavar="DIR", help="Where attempts get their record directories.")
    ] = None,
    report_md: MarkdownOption = None,
    report_json: JsonFileOption = None,
    junit: JunitOption = None,
) -> None:
    """Run tests, and judge each that passes.

    Without FILE: what the plan has for this suite, backend or shard. Where this run may write, it is stored.

    Example: driftgate run --cadence nightly --suite stage-a-cpu
    """
    from driftgate.harness.interruption import Interruption
    from driftgate.harness.run_report import as_json
    from driftgate.harness.run_request import RunRequest, Selection
    from driftgate.harness.sharding import parse_shard

    request = RunRequest(
        config=session.config(
            timeouts__timeout_per_file=timeout_per_file, retry__max_attempts=max_attempts, retry__wait=retry_wait
        ),
        environment=os.environ,
        files=tuple(files or ()),
        requests=requests(cadence, event, schedule, write, label or ()),
        hw=backend,
        suite=suite,
        selection=Selection(
            shard=None if shard is None else parse_shard(shard),
            file=file,
            changed_files=changed_files,
            durations=durations,
            match_all_labels=match_all_labels,
        ),
        records=None if records is None else records.absolute(),
        continue_on_error=continue_on_error,
        keep_failed=keep_failed,
        retry=retry,
        baseline=baseline,
    )
    check_reports(report_md, report_json, junit)
    prepared = _prepared(request)
    with Interruption() as interruption:  # who asks for a stop after the last test gets the reports all the same
        result = _carried_out(prepared, interruption, to_stderr=session.json)
        _write_reports(result, report_md, report_json, junit)
        if session.json:
            print_json(as_json(result))
    raise typer.Exit(result.exit)


def _prepared(request: RunRequest) -> PreparedRun:
    from driftgate.harness.prepared_run import prepare
    from gate.outline import safe

    prepared = prepare(request)
    for notice in prepared.tests.notices:
        say(f"driftgate: {safe(notice.text)}")
    return prepared


def _carried_out(prepared: PreparedRun, interruption: Interruption, *, to_stderr: bool) -> RunResult:
    from driftgate.cli.progress import shown_progress
    from driftgate.harness.run import run_prepared

    with shown_progress(os.environ, to_stderr=to_stderr) as progress:
        result = run_prepared(prepared, progress.output, progress, interruption=interruption)
        progress.finished(result)
    return result


def _write_reports(result: RunResult, markdown: Path | None, json: Path | None, junit: Path | None) -> None:
    from driftgate.harness.junit import junit_xml
    from driftgate.harness.run_report import as_json, as_markdown, json_bytes

    write_markdown(markdown, partial(as_markdown, result))
    write_report(json, json_bytes(as_json(result)))
    write_report(junit, junit_xml(result))

"""``driftgate ci-report``: the reports of a pipeline's jobs as one."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from driftgate.cli.output import print_json, print_text
from driftgate.cli.reports import JunitOption, MarkdownOption, check_reports, write_markdown, write_report
from driftgate.cli.session import Session, command


@command
def ci_report(
    session: Session,
    *,
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="What run --report-json wrote; a folder stands for the *.json below it."),
    ] = None,
    expect: Annotated[
        int | None, typer.Option("--expect", metavar="N", min=0, help="How many jobs were to leave a report.")
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="Stands on top; each has a comment of its own.")
    ] = None,
    report_md: MarkdownOption = None,
    comment: Annotated[
        Path | None,
        typer.Option("--comment", metavar="FILE", help="Write the body of a comment; its first line is its mark."),
    ] = None,
    junit: JunitOption = None,
    fail: Annotated[
        bool, typer.Option("--fail", help="Exit as the tests did, and 4 where a report is lost; otherwise exit 0.")
    ] = False,
) -> None:
    """Merge the reports of several jobs into one.

    One summary, and one comment on the pull request. A report that is missing, damaged or there twice is told and never
    passed over. In a step of GitHub Actions the summary is written unasked.

    Example: driftgate ci-report reports/ --expect 4 --comment comment.md
    """
    from driftgate.harness.ci_report import merged
    from driftgate.harness.ci_report_json import ci_report_json, ci_report_text
    from driftgate.harness.ci_report_markdown import comment_markdown, summary_markdown
    from driftgate.harness.junit import junit_of

    check_reports(report_md, comment, junit)
    report = merged(files or (), expect=expect, title=title)
    write_markdown(report_md, partial(summary_markdown, report))
    write_report(comment, comment_markdown(report, os.environ).encode())
    write_report(junit, junit_of([shard.run for shard in report.counting]))
    if session.json:
        print_json(ci_report_json(report))
    else:
        print_text(ci_report_text(report))
    raise typer.Exit(report.exit if fail else 0)

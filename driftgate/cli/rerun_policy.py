"""``driftgate rerun-policy``: does a nightly pipeline that ended get its one rerun, or is its outcome posted?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from driftgate.cli.output import print_json, print_text
from driftgate.cli.reports import MarkdownOption, check_reports, write_report
from driftgate.cli.session import Session, command


@command
def rerun_policy(
    session: Session,
    *,
    attempt: Annotated[int, typer.Option("--attempt", metavar="N", help="Which attempt ended, counted from 1.")],
    event: Annotated[
        str, typer.Option("--event", metavar="NAME", help="What started it: schedule, workflow_dispatch.")
    ],
    conclusion: Annotated[
        str, typer.Option("--conclusion", metavar="NAME", help="How it ended: success, failure, cancelled, timed_out.")
    ],
    failed: Annotated[
        Path | None,
        typer.Option(
            "--failed",
            metavar="FILE",
            help="Its failed jobs: GitHub's list of its jobs, an array of names, or a name a line.",
        ),
    ] = None,
    failed_before: Annotated[
        Path | None, typer.Option("--failed-before", metavar="FILE", help="The same of the attempt before it.")
    ] = None,
    refused: Annotated[
        bool, typer.Option("--refused", help="The rerun that this command asked for was refused.")
    ] = False,
    run_url: Annotated[
        str | None, typer.Option("--run-url", metavar="URL", help="Where the run can be seen, for the report.")
    ] = None,
    report_md: MarkdownOption = None,
    github_output: Annotated[
        bool, typer.Option("--github-output", help="Append action, fail and the lists to the file in GITHUB_OUTPUT.")
    ] = False,
) -> None:
    """Decide whether a pipeline's failed jobs run once more.

    The answer is to rerun them, to post the outcome, or nothing. Nothing is done and nobody is asked: the workflow that
    calls this acts. Failed jobs and flaky ones are listed apart.

    Example: driftgate rerun-policy --attempt 1 --event schedule --conclusion failure --failed failed.json
    """
    from driftgate.harness import rerun_report
    from driftgate.harness.github_outputs import append_outputs
    from driftgate.harness.job_names import read_job_names
    from driftgate.harness.rerun_policy import Ending, decide_rerun

    ending = Ending(
        attempt=attempt,
        event=event,
        conclusion=conclusion,
        failed=frozenset() if failed is None else read_job_names(failed, "--failed"),
        failed_before=None if failed_before is None else read_job_names(failed_before, "--failed-before"),
        refused=refused,
    )
    check_reports(report_md)
    decision = decide_rerun(ending)
    write_report(report_md, rerun_report.decision_markdown(ending, decision, run_url).encode())
    if github_output:
        append_outputs(rerun_report.decision_outputs(decision), os.environ)
    if session.json:
        print_json(rerun_report.decision_json(decision))
    else:
        print_text(rerun_report.decision_text(decision))

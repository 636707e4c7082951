"""``driftgate gate``: the post-test hook."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from driftgate.cli.output import print_json
from driftgate.cli.reports import MarkdownOption, write_report
from driftgate.cli.session import Session, command
from driftgate.cli.targets import BackendOption, SuiteOption
from driftgate.cli.triggers import CadenceOption, EventOption, ScheduleOption, WriteOption, requests


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
    report_md: MarkdownOption = None,
) -> None:
    """Judge the record of a test that passed and, where this run may, write it to the history.

    Example: driftgate gate tests/e2e/test_grpo.py --records records/ --backend cuda --suite stage-c-8-gpu-h100
    """
    from driftgate.harness.hook import GateRequest, judge_attempt
    from gate.report import markdown_report, text_report
    from gate.verdict_json import to_json

    request = GateRequest(
        test=test,
        records=records,
        config=session.config(),
        environment=os.environ,
        requests=requests(cadence, event, schedule, write),
        backend=backend,
        suite=suite,
    )
    result = judge_attempt(request)
    write_report(report_md, markdown_report(result.verdict).encode())
    if session.json:
        print_json(to_json(result.verdict))
    else:
        print(text_report(result.verdict), end="")
    raise typer.Exit(result.exit)

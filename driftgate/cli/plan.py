"""``driftgate plan``: what would run where, and why."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from driftgate.cli.output import print_text
from driftgate.cli.session import Session, command
from driftgate.harness.plan_call import plan_output
from driftgate.harness.plan_options import OPTIONS, plan_options


def option(name: str) -> Any:
    """The Typer option of one row of the table."""
    row = OPTIONS[name]
    return typer.Option(row.flag, metavar=row.metavar, help=row.help)


@command
def plan(
    session: Session,
    *,
    hw: Annotated[str | None, option("hw")] = None,
    suite: Annotated[str | None, option("suite")] = None,
    cadence: Annotated[str | None, option("cadence")] = None,
    label: Annotated[list[str] | None, option("label")] = None,
    event: Annotated[str | None, option("event")] = None,
    schedule: Annotated[str | None, option("schedule")] = None,
    shard: Annotated[str | None, option("shard")] = None,
    file: Annotated[str | None, option("file")] = None,
    snapshot: Annotated[str | None, option("snapshot")] = None,
    changed_files: Annotated[str | None, option("changed_files")] = None,
    match_all_labels: Annotated[bool, option("match_all_labels")] = False,
    durations: Annotated[str | None, option("durations")] = None,
    explain: Annotated[str | None, option("explain")] = None,
    must_contain: Annotated[list[str] | None, option("must_contain")] = None,
    github_output: Annotated[bool, option("github_output")] = False,
) -> None:
    """Which tests would run where, and why. Nothing is run.

    Example: driftgate plan --cadence nightly --hw cuda
    """
    given = {name: value for name, value in locals().items() if name in OPTIONS}
    print_text(plan_output(plan_options(given, json=session.json), session.config(), os.environ))

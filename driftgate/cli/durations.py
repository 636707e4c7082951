"""``driftgate durations``: how long tests really take, for ``plan --durations``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from driftgate.cli.output import counted, number, print_json, print_table, say
from driftgate.cli.reports import check_writable
from driftgate.cli.session import Session, command
from driftgate.cli.targets import BackendOption, SuiteOption


@command
def durations(
    session: Session,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write the file that plan --durations reads.")
    ] = None,
    runs: Annotated[
        int, typer.Option("--runs", metavar="N", min=1, max=10_000, help="Learn from the newest N passing attempts.")
    ] = 20,
    backend: BackendOption = None,
    suite: SuiteOption = None,
) -> None:
    """How long tests take, learned from passing attempts.

    The seconds within which 9 of 10 of them ended. Attempts are stored by runs that write the baseline.

    Example: driftgate durations --output durations.json
    """
    from driftgate.harness.durations import durations_document, learned_durations
    from driftgate.harness.flakes import PASSED
    from store.contract import AttemptFilter

    if output is not None:
        check_writable(output)
    where = AttemptFilter(attempt_class=PASSED, backend=backend, suite=suite, newest=runs)
    with session.history() as (config, store):
        found = learned_durations(store.list_attempts(config.project, where))
    document = durations_document(found)
    if output is not None:
        output.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        say(f"{counted(len(found), 'duration')} written to {output}")
    if session.json:
        print_json(document)
    elif output is None:
        if not found:
            say("no attempt that passed is stored yet; runs that write the baseline store them")
            return
        rows = [(each.file, each.backend, each.suite, number(each.p90_s), str(each.n)) for each in found]
        print_table(("test", "backend", "suite", "p90 s", "n"), rows)

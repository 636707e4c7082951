"""``driftgate runs``: what is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftgate.cli.output import counted, print_json, print_table, print_text, say
from driftgate.cli.session import Session, command
from driftgate.cli.targets import BackendOption, SuiteOption
from driftgate.cli.tree import Command
from driftgate.harness.outcome import JobExit

app = typer.Typer(help="What is stored.", no_args_is_help=True)

RunId = Annotated[str, typer.Argument(metavar="ID", help="As `driftgate runs list` shows it.")]


@app.command("list", cls=Command)
@command
def list_runs(
    session: Session,
    *,
    test: Annotated[Path | None, typer.Argument(metavar="TEST", help="Only runs of this test file.")] = None,
    backend: BackendOption = None,
    suite: SuiteOption = None,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, max=1000, help="At most so many, newest first.")
    ] = 50,
) -> None:
    """Runs, newest first.

    Example: driftgate runs list tests/e2e/test_grpo.py --limit 10
    """
    from driftgate.cli.run_view import LIST_COLUMNS, list_cells
    from driftgate.harness.test_files import series_path
    from store.contract import RunFilter
    from store.documents import run_list_json

    with session.history() as (config, store):
        name = None if test is None else series_path(test, config.repository)
        runs = store.list_runs(config.project, RunFilter(test_path=name, backend=backend, suite=suite, limit=limit))
    if session.json:
        print_json(run_list_json(runs))
        return
    if not runs:
        say("no such run is stored")
        return
    print_table(LIST_COLUMNS, map(list_cells, runs))
    if len(runs) == limit:
        say(f"the newest {counted(limit, 'run')}; --limit shows more")


@app.command("show", cls=Command)
@command
def show(session: Session, run_id: RunId) -> None:
    """One run: verdict, provenance, values, and who changed its trust.

    Example: driftgate runs show 5f0c4f6e8a9b4c1d8e7f6a5b4c3d2e1f
    """
    from driftgate.cli.run_view import print_run
    from driftgate.cli.trust_view import print_log
    from store.documents import run_page_json

    with session.history() as (config, store):
        found = store.get_run(config.project, run_id)
        events = store.trust_events(config.project, run_id=run_id)
    if session.json:
        print_json(run_page_json(found, events))
        return
    print_run(found)
    print_log(events)


@app.command("replay", cls=Command)
@command
def replay(session: Session, run_id: RunId) -> None:
    """Judge a stored run again. From the stored rows the verdict must come out the same: exit 1 where it does not.

    Example: driftgate runs replay 5f0c4f6e8a9b4c1d8e7f6a5b4c3d2e1f
    """
    from driftgate.cli.run_view import gate_said
    from gate.report import text_report
    from gate.verdict_json import to_json
    from store.replaying import replay_run

    with session.history() as (config, store):
        found = replay_run(store, config.project, run_id)
    if session.json:
        print_json({**to_json(found.verdict), "replay": {"run_id": run_id, "same": found.same}})
    else:
        print_text(text_report(found.verdict))
        say(
            "the same verdict as stored"
            if found.same
            else f"NOT the verdict that was stored: {gate_said(found.run.verdict)}"
        )
    raise typer.Exit(JobExit.FINE if found.same else JobExit.TEST_FAILED)

"""``driftgate epoch``: an operator accepts an intended change of level, or takes that back."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftgate.cli.effects_view import DryRun, tell
from driftgate.cli.operators import Actor, Reason, login
from driftgate.cli.output import counted, moment, print_json, print_table, say
from driftgate.cli.session import Session, command
from driftgate.cli.targets import BackendOption, SuiteOption, only_series, series_of
from driftgate.cli.tree import Command
from gate.errors import ConfigError

if TYPE_CHECKING:
    from store.contract import ActionResult, Epoch

app = typer.Typer(help="Accept an intended change of level.", no_args_is_help=True)

_COLUMNS = ("epoch", "test", "suite", "metric", "first run", "begins", "state", "started", "by", "reason")

_BEGINS_LATER = (
    "this epoch begins in the future, at {}, since the newest stored run is from then; runs before that belong to the "
    "epoch before. Give --from-run to begin earlier"
)


@app.command("start", cls=Command)
@command
def start(
    session: Session,
    *,
    test: Annotated[Path, typer.Argument(metavar="TEST", help="Test file, as a path from here.")],
    reason: Reason,
    backend: BackendOption = None,
    suite: SuiteOption = None,
    metric: Annotated[str | None, typer.Option("--metric", metavar="KEY", help="Only this metric.")] = None,
    from_run: Annotated[
        str | None,
        typer.Option("--from-run", metavar="ID", help="First run of the epoch; without it, after the newest."),
    ] = None,
    actor: Actor = None,
    dry_run: DryRun = False,
) -> None:
    """Accept an intended change: baselines begin anew. Runs from --from-run on are judged again, in order.

    Example: driftgate epoch start tests/e2e/test_grpo.py --from-run 5f0c4f6e8a9b4c1d8e7f6a5b4c3d2e1f --reason "AdamW"
    """
    with session.history() as (config, store):
        identity = only_series(store, config, test, backend=backend, suite=suite)
        try:
            result = store.start_epoch(
                identity, metric=metric, from_run=from_run, reason=reason, actor=actor or login(), dry_run=dry_run
            )
        except ValueError as error:
            raise ConfigError(str(error)) from None
        epochs = store.list_epochs(config.project, identity)
    for epoch in epochs:
        if epoch.epoch_id == result.epoch_id and epoch.begins_at > datetime.now(UTC):
            say(f"driftgate: {_BEGINS_LATER.format(moment(epoch.begins_at))}")
    tell(session, result, result.epoch_document(), f"epoch {result.epoch_id} started; {_flipped(result)}")


@app.command("undo", cls=Command)
@command
def undo(
    session: Session,
    *,
    epoch_id: Annotated[str, typer.Argument(metavar="ID", help="As `driftgate epoch list` shows it.")],
    reason: Reason,
    actor: Actor = None,
    dry_run: DryRun = False,
) -> None:
    """Take an epoch back. The one before it is in force again, and trust that its start changed is as before.

    Example: driftgate epoch undo 0d2b5c7e9f1a4b3c8d6e5f4a3b2c1d0e --reason "the step was a bug after all"
    """
    with session.history() as (config, store):
        try:
            result = store.undo_epoch(
                project=config.project, epoch_id=epoch_id, reason=reason, actor=actor or login(), dry_run=dry_run
            )
        except ValueError as error:
            raise ConfigError(str(error)) from None
    tell(session, result, result.epoch_document(), f"epoch {epoch_id} undone; {_flipped(result)}")


@app.command("list", cls=Command)
@command
def list_epochs(
    session: Session,
    *,
    test: Annotated[Path | None, typer.Argument(metavar="TEST", help="Only epochs of this test file.")] = None,
    backend: BackendOption = None,
    suite: SuiteOption = None,
) -> None:
    """Epochs, the one started last first. Those that were undone are listed, too.

    Example: driftgate epoch list tests/e2e/test_grpo.py
    """
    from store.documents import epoch_list_json

    with session.history() as (config, store):
        epochs = store.list_epochs(config.project)
        if test is not None:
            wanted = series_of(store, config, test, backend=backend, suite=suite)
            epochs = [epoch for epoch in epochs if epoch.identity in wanted]
    if session.json:
        print_json(epoch_list_json(epochs))
    elif epochs:
        print_table(_COLUMNS, map(_cells, epochs))
    else:
        say("no epoch has been started")


def _cells(epoch: Epoch) -> tuple[str, ...]:
    from gate.outline import safe

    return (
        epoch.epoch_id,
        epoch.identity.test_path,
        epoch.identity.suite,
        epoch.metric_key or "all",
        epoch.first_run_id or "-",
        moment(epoch.begins_at),
        _state(epoch),
        moment(epoch.started_at),
        safe(epoch.actor),
        safe(epoch.reason),
    )


def _state(epoch: Epoch) -> str:
    if epoch.undone_at is not None:
        return f"undone {moment(epoch.undone_at)}"
    return "in force" if epoch.in_force else "replaced"


def _flipped(result: ActionResult) -> str:
    return f"{counted(len(result.runs), 'run')} changed between trusted and untrusted"

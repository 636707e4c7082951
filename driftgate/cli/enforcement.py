"""``driftgate enforcement``: the kill switch of the store, for every job at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from driftgate.cli.operators import Actor, Reason, login
from driftgate.cli.output import moment, print_json, print_text, say
from driftgate.cli.session import Session, command
from driftgate.cli.tree import Command
from gate.errors import ConfigError

if TYPE_CHECKING:
    from store.contract import EnforcementSwitch

app = typer.Typer(help="Whether verdicts may fail jobs of the project.", no_args_is_help=True)

Tried = Annotated[bool, typer.Option("--dry-run", help="Write nothing; tell what would change.")]


@app.command("show", cls=Command)
@command
def show(session: Session) -> None:
    """Whether verdicts may fail jobs, and who decided that.

    Example: driftgate enforcement show
    """
    with session.history() as (config, store):
        switch = store.get_enforcement(config.project)
    if session.json:
        print_json(switch.document())
    else:
        print_text(f"{_state(switch)}\n")


@app.command("off", cls=Command)
@command
def off(session: Session, *, reason: Reason, actor: Actor = None, dry_run: Tried = False) -> None:
    """From now on every run of the project is in shadow: judged and stored as ever, but no verdict fails a job.

    Example: driftgate enforcement off --reason "the new image moved every baseline"
    """
    _turn(session, reason, actor, on=False, dry_run=dry_run)


@app.command("on", cls=Command)
@command
def on(session: Session, *, reason: Reason, actor: Actor = None, dry_run: Tried = False) -> None:
    """Verdicts fail jobs again where declarations and configuration say so.

    Example: driftgate enforcement on --reason "baselines are repaired"
    """
    _turn(session, reason, actor, on=True, dry_run=dry_run)


def _turn(session: Session, reason: str, actor: str | None, *, on: bool, dry_run: bool) -> None:
    with session.history() as (config, store):
        try:
            switch = store.set_enforcement(
                project=config.project, on=on, reason=reason, actor=actor or login(), dry_run=dry_run
            )
        except ValueError as error:
            raise ConfigError(str(error)) from None
    if session.json:
        print_json(switch.change_document())
    elif not switch.changed:
        say(f"nothing changes: {_state(switch)}")
    elif dry_run:
        say(f"dry run, nothing is written; enforcement would be {'on' if on else 'off'}")
    else:
        say(_state(switch))


def _state(switch: EnforcementSwitch) -> str:
    from gate.outline import safe

    state = f"enforcement is {'on' if switch.on else 'off'}"
    if switch.changed_at is None:
        return state
    return f"{state} since {moment(switch.changed_at)} by {safe(f'{switch.actor}: {switch.reason}')}"

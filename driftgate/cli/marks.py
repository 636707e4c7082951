"""``driftgate mark-untrusted`` and ``mark-trusted``: an operator repairs a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from driftgate.cli.effects_view import DryRun, tell
from driftgate.cli.operators import Actor, Reason, login
from driftgate.cli.output import counted
from driftgate.cli.session import Session, command
from gate.errors import ConfigError

RunId = Annotated[
    str | None, typer.Option("--run-id", metavar="ID", help="One run, as `driftgate runs list` shows it.")
]
CiRunId = Annotated[
    int | None, typer.Option("--ci-run-id", metavar="N", help="Every run of this CI run, also those still to come.")
]
Commit = Annotated[
    str | None, typer.Option("--commit", metavar="SHA", help="Every run of this full commit, also those still to come.")
]


@dataclass(frozen=True, slots=True)
class _Mark:
    """What was asked for. ``selector``: run id, CI run id, commit, one of them given."""

    trusted: bool
    reason: str
    actor: str | None
    selector: tuple[str | None, int | None, str | None]
    dry_run: bool


@command
def mark_untrusted(
    session: Session,
    *,
    reason: Reason,
    run_id: RunId = None,
    ci_run_id: CiRunId = None,
    commit: Commit = None,
    actor: Actor = None,
    dry_run: DryRun = False,
) -> None:
    """Take runs out of every baseline. Nothing is deleted; `mark-trusted` with the same selector undoes it.

    Example: driftgate mark-untrusted --ci-run-id 4711 --reason "wrong image on the h100 pool"
    """
    _apply(session, _Mark(False, reason, actor, (run_id, ci_run_id, commit), dry_run))


@command
def mark_trusted(
    session: Session,
    *,
    reason: Reason,
    run_id: RunId = None,
    ci_run_id: CiRunId = None,
    commit: Commit = None,
    actor: Actor = None,
    dry_run: DryRun = False,
) -> None:
    """Put runs back into the baselines. The standing rule of this selector is lifted.

    Example: driftgate mark-trusted --ci-run-id 4711 --reason "the image was right after all"
    """
    _apply(session, _Mark(True, reason, actor, (run_id, ci_run_id, commit), dry_run))


def _apply(session: Session, mark: _Mark) -> None:
    from store.contract import MarkRequest

    if sum(value is not None for value in mark.selector) != 1:
        raise ConfigError("give exactly one of --run-id, --ci-run-id and --commit")
    with session.history() as (config, store):
        request = MarkRequest(
            config.project, mark.trusted, mark.reason, mark.actor or login(), *mark.selector, dry_run=mark.dry_run
        )
        try:
            result = store.mark(request)
        except ValueError as error:
            raise ConfigError(str(error)) from None
    became = "trusted" if mark.trusted else "untrusted"
    tell(session, result, result.document(), f"{counted(len(result.runs), 'run')} changed to {became}{_also(mark)}")


def _also(mark: _Mark) -> str:
    """What the call did besides: by CI run or commit it is a standing rule."""
    _, ci_run_id, commit = mark.selector
    what = f"CI run {ci_run_id}" if ci_run_id is not None else f"commit {commit}" if commit is not None else None
    if what is None:
        return ""
    return (
        f"; the rule for {what} is lifted" if mark.trusted else f"; later runs of {what} will be stored untrusted, too"
    )

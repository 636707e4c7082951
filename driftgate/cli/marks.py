"""``driftgate mark-untrusted`` and ``mark-trusted``: an operator repairs a baseline."""

from __future__ import annotations

from typing import Annotated

import typer

from driftgate.cli.operators import Actor, Reason, login
from driftgate.cli.output import counted, print_json, print_text, say
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

_Selector = tuple[str | None, int | None, str | None]
"""Run id, CI run id, commit: one of them is given."""


@command
def mark_untrusted(
    session: Session,
    *,
    reason: Reason,
    run_id: RunId = None,
    ci_run_id: CiRunId = None,
    commit: Commit = None,
    actor: Actor = None,
) -> None:
    """Take runs out of every baseline. Nothing is deleted; `mark-trusted` with the same selector undoes it.

    Example: driftgate mark-untrusted --ci-run-id 4711 --reason "wrong image on the h100 pool"
    """
    _apply(session, reason=reason, actor=actor, trusted=False, selector=(run_id, ci_run_id, commit))


@command
def mark_trusted(
    session: Session,
    *,
    reason: Reason,
    run_id: RunId = None,
    ci_run_id: CiRunId = None,
    commit: Commit = None,
    actor: Actor = None,
) -> None:
    """Put runs back into the baselines. The standing rule of this selector is lifted.

    Example: driftgate mark-trusted --ci-run-id 4711 --reason "the image was right after all"
    """
    _apply(session, reason=reason, actor=actor, trusted=True, selector=(run_id, ci_run_id, commit))


def _apply(session: Session, *, trusted: bool, reason: str, actor: str | None, selector: _Selector) -> None:
    from store.contract import MarkRequest

    if sum(value is not None for value in selector) != 1:
        raise ConfigError("give exactly one of --run-id, --ci-run-id and --commit")
    with session.history() as (config, store):
        try:
            changed = store.mark(MarkRequest(config.project, trusted, reason, actor or login(), *selector)).runs
        except ValueError as error:
            raise ConfigError(str(error)) from None
    if session.json:
        print_json({"schema": 1, "changed": len(changed), "runs": changed})
        return
    print_text("".join(f"{run_id}\n" for run_id in changed))
    say(f"{counted(len(changed), 'run')} changed to {'trusted' if trusted else 'untrusted'}{_also(trusted, selector)}")


def _also(trusted: bool, selector: _Selector) -> str:
    """What the call did besides: by CI run or commit it is a standing rule."""
    _, ci_run_id, commit = selector
    what = f"CI run {ci_run_id}" if ci_run_id is not None else f"commit {commit}" if commit is not None else None
    if what is None:
        return ""
    return f"; the rule for {what} is lifted" if trusted else f"; later runs of {what} will be stored untrusted, too"

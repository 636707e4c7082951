"""``driftgate token``: who may use the service, and for how long."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from driftgate.cli.output import moment, print_json, print_table, print_text, say
from driftgate.cli.session import Session, command
from driftgate.cli.tree import Command
from gate.errors import ConfigError
from gate.wording import shown

if TYPE_CHECKING:
    from store.tokens import Token, Tokens

app = typer.Typer(help="Who may use the service, and for how long.", no_args_is_help=True)

_COLUMNS = ("token", "name", "scope", "state", "created", "expires", "last used")
_LIFETIME = re.compile(r"([0-9]{1,6})([dh])")
_UNITS = {"d": timedelta(days=1), "h": timedelta(hours=1)}


@app.command("create", cls=Command)
@command
def create(
    session: Session,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is; the trust log names it.")],
    scope: Annotated[
        str,
        typer.Option("--scope", metavar="NAME", help="read; write: read and store runs; operate: read, mark, epochs."),
    ],
    expires: Annotated[
        str, typer.Option("--expires", metavar="TIME", help="From now, in days or hours: 90d, 12h.")
    ] = "90d",
    may_trust: Annotated[
        bool,
        typer.Option("--may-trust", help="Runs written with it may enter baselines; without it they never do."),
    ] = False,
) -> None:
    """Make a token for one project. It is shown this once: only a hash is stored.

    Example: driftgate token create dashboard --scope read --expires 90d
    """
    from store.tokens import NewToken, scope_named

    lifetime = _lifetime(expires)
    with _tokens(session) as (project, tokens):
        try:
            token, secret = tokens.create(NewToken(project, name, scope_named(scope), lifetime, may_trust))
        except ValueError as error:
            raise ConfigError(str(error)) from None
    if session.json:
        print_json({"id": token.token_id, "name": token.name, "token": secret})
        return
    print_text(f"{secret}\n")
    say(f"token {token.token_id} of project {token.project}, valid until {moment(token.expires_at)}; {_rights(token)}")
    say("keep it now: it is not shown again")


@app.command("list", cls=Command)
@command
def list_tokens(session: Session) -> None:
    """The project's tokens, the newest first, also those that are no longer valid. The secrets are not stored.

    Example: driftgate token list
    """
    now = datetime.now(UTC)
    with _tokens(session) as (project, tokens):
        found = tokens.of_project(project)
    if session.json:
        print_json({"schema": 1, "tokens": [token.to_json(now) for token in found]})
    elif found:
        print_table(_COLUMNS, (_cells(token, now) for token in found))
    else:
        say(f"no token has been made for project {project}")


@app.command("revoke", cls=Command)
@command
def revoke(
    session: Session,
    *,
    token_id: Annotated[str, typer.Argument(metavar="ID", help="As `driftgate token list` shows it.")],
) -> None:
    """A token, and every session begun with it, is unknown from now on. Runs that were written with it stay.

    Example: driftgate token revoke 0d2b5c7e9f1a4b3c8d6e5f4a3b2c1d0e
    """
    with _tokens(session) as (project, tokens):
        token = tokens.revoke(project, token_id)
    if session.json:
        print_json({"schema": 1, **token.to_json(datetime.now(UTC))})
    elif token.revoked_at is not None:
        say(f"token {token.token_id} ({token.name}) is revoked since {moment(token.revoked_at)}")


@contextmanager
def _tokens(session: Session) -> Iterator[tuple[str, Tokens]]:
    """The project and the tokens of the configured store, which is the database itself."""
    from store.urls import masked

    url = session.config().store.url
    if url.startswith(("http://", "https://")):
        raise ConfigError(f"{masked(url)} is a service; its tokens are made where its database is at hand, by --db")
    with session.database() as (config, store):
        yield config.project, store.tokens


def _lifetime(text: str) -> timedelta:
    found = _LIFETIME.fullmatch(text)
    if found is None:
        raise ConfigError(f"--expires: found {shown(text)}; give a number of days or hours, e.g. 90d or 12h")
    return int(found[1]) * _UNITS[found[2]]


def _rights(token: Token) -> str:
    if token.scope != "write":
        return f"scope {token.scope}"
    return "scope write, its runs may enter baselines" if token.may_trust else "scope write, its runs stay untrusted"


def _cells(token: Token, now: datetime) -> tuple[str, ...]:
    return (
        token.token_id,
        token.name,
        f"{token.scope}, may trust" if token.may_trust else token.scope,
        token.state(now),
        moment(token.created_at),
        moment(token.expires_at),
        "never" if token.last_used_at is None else moment(token.last_used_at),
    )

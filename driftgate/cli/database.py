"""``driftgate db``: the schema of the store."""

from __future__ import annotations

import typer

from driftgate.cli.output import print_json, print_text, say
from driftgate.cli.session import Session, command
from driftgate.cli.tree import Command

app = typer.Typer(help="The schema of the store.", no_args_is_help=True)


@app.command("upgrade", cls=Command)
@command
def upgrade(session: Session) -> None:
    """Bring the database to this version's schema. Harmless to repeat; uses DRIFTGATE_MIGRATION_URL where it is set.

    Example: driftgate db upgrade --db sqlite:///history.db
    """
    from store.migrate import upgrade as upgrade_schema

    revision = upgrade_schema(_schema_url(session))
    if session.json:
        print_json({"schema": 1, "revision": revision})
    else:
        say(f"the schema is at revision {revision}")


@app.command("current", cls=Command)
@command
def current(session: Session) -> None:
    """Which revision the schema has, and which one is needed.

    Example: driftgate db current
    """
    from store.migrate import HEAD
    from store.migrate import current as current_revision

    revision = current_revision(_schema_url(session))
    if session.json:
        print_json({"schema": 1, "revision": revision, "head": HEAD})
        return
    print_text(f"revision {revision or 'none yet'}, this version needs {HEAD}\n")
    if revision is None:
        say("`driftgate db upgrade` makes the schema; a SQLite file gets it at its first use")


def _schema_url(session: Session) -> str:
    """The direct endpoint where one is configured: a transaction pooler is no place for schema changes."""
    store = session.config().store
    return session.db or store.migration_url or store.url

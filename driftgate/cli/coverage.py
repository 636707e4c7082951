"""``driftgate coverage``: series that nobody feeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftgate.cli.output import print_json, print_table, print_text, say
from driftgate.cli.session import Session, command

if TYPE_CHECKING:
    from driftgate.config.model import Config
    from driftgate.harness.coverage import Clock, Covered


@command
def coverage(
    session: Session,
    *,
    days: Annotated[
        int,
        typer.Option("--days", metavar="N", min=1, max=36_500, help="Quiet for longer than so many days is silent."),
    ] = 10,
    tree_only: Annotated[
        bool, typer.Option("--tree-only", help="Do not ask the store: only what is declared and never scheduled.")
    ] = False,
) -> None:
    """Series that nobody feeds, or that have gone quiet.

    Those that no scheduled cadence writes, that are silent, starve for trusted runs, or whose test is gone. A report:
    what it finds changes no exit code.

    Example: driftgate coverage --days 3
    """
    from driftgate.harness.coverage import Clock

    clock = Clock(datetime.now(UTC), timedelta(days=days))
    config = session.config()
    found = _covered(session, config, clock, tree_only=tree_only)
    if session.json:
        print_json({"schema": 1, "days": days, "series": [_as_json(one) for one in found]})
    else:
        _print(found)


def _covered(session: Session, config: Config, clock: Clock, *, tree_only: bool) -> Sequence[Covered]:
    from driftgate.harness import coverage as rules
    from driftgate.harness.discovery import read_tree
    from gate.errors import SourceError

    tree = read_tree(config)
    if tree.problems:
        raise SourceError(tree.problems)
    if tree_only:
        return rules.coverage(tree.files, None, config, clock)
    with session.history() as (_, store):
        return rules.coverage(tree.files, store.list_series(config.project), config, clock)


def _as_json(one: Covered) -> dict[str, Any]:
    stored = one.stored
    return {
        "series": asdict(one.identity),
        "fed_by": one.fed_by,
        "runs": None if stored is None else stored.runs,
        "last_run_at": None if stored is None or stored.last_run_at is None else stored.last_run_at.isoformat(),
        "untrusted_streak": None if stored is None else stored.untrusted_streak,
        "findings": [asdict(finding) for finding in one.findings],
    }


def _print(found: Sequence[Covered]) -> None:
    from driftgate.harness.coverage import KINDS

    begun = False
    for kind, meaning in KINDS.items():
        rows = [(one.identity, finding.text) for one in found for finding in one.findings if finding.kind == kind]
        if rows:
            gap = "\n" if begun else ""
            print_text(f"{gap}{kind.upper()}: {meaning}\n")
            print_table(
                ("test", "backend", "suite", "why"), [(i.test_path, i.backend, i.suite, why) for i, why in rows]
            )
            begun = True
    fine = sum(not one.findings for one in found)
    say(f"{len(found)} series, {fine} fine")

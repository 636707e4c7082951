"""``driftgate flakes``: which tests pass only on retry, and which are really broken."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftgate.cli.output import counted, moment, print_json, print_table, print_text, say
from driftgate.cli.session import Session, command
from driftgate.cli.targets import BackendOption, SuiteOption

if TYPE_CHECKING:
    from driftgate.harness.flakes import Flakes, TestRecord

DEFAULT_DAYS = 30


@command
def flakes(
    session: Session,
    *,
    since: Annotated[
        int | None,
        typer.Option("--since", metavar="DAYS", min=1, max=36_500, help="Attempts of so many days; 30 without --runs."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option("--runs", metavar="N", min=1, max=10_000, help="The newest N executions of each test.")
    ] = None,
    backend: BackendOption = None,
    suite: SuiteOption = None,
) -> None:
    """Tests that passed only on retry, and those that never did.

    Attempts are stored by runs that write the baseline. Retries and reruns in one CI run are one execution.

    Example: driftgate flakes --since 14
    """
    from driftgate.harness.flakes import MOST_ATTEMPTS_READ, find_flakes
    from store.contract import AttemptFilter

    days = since or (DEFAULT_DAYS if runs is None else None)
    where = AttemptFilter(
        since=None if days is None else datetime.now(UTC) - timedelta(days=days),
        backend=backend,
        suite=suite,
        newest=None if runs is None else runs * MOST_ATTEMPTS_READ,
    )
    with session.history() as (config, store):
        found = find_flakes(store.list_attempts(config.project, where), runs)
    if session.json:
        print_json(_as_json(found, days, runs))
    else:
        _print(found)


def _as_json(found: Flakes, days: int | None, runs: int | None) -> dict[str, Any]:
    return {
        "schema": 1,
        "since_days": days,
        "runs": runs,
        "tests": found.tests,
        "executions": found.executions,
        "flaky": [_record_json(record) for record in found.flaky],
        "failing": [_record_json(record) for record in found.failing],
    }


def _record_json(record: TestRecord) -> dict[str, Any]:
    times = {name: at and at.isoformat() for name, at in _times(record).items()}
    own = {name: value for name, value in asdict(record).items() if name not in ("identity", *times)}
    more = {
        "executions": record.executions,
        "flake_rate": record.flake_rate,
        "always_fails": record.always_fails,
    }
    return {"series": asdict(record.identity), **own, **more, **times}


def _times(record: TestRecord) -> dict[str, datetime | None]:
    return {"last_flaky_at": record.last_flaky_at, "last_failed_at": record.last_failed_at}


def _print(found: Flakes) -> None:
    looked_at = f"{counted(found.tests, 'test')}, {counted(found.executions, 'execution')} looked at"
    if not found.flaky and not found.failing:
        say(f"no flaky and no failing test; {looked_at}")
        return
    if found.flaky:
        print_text("FLAKY: failed, then passed (or the reverse) in one CI run\n")
        print_table(("test", "suite", "flaky", "rate", "failed as", "last seen"), map(_flaky_cells, found.flaky))
    if found.flaky and found.failing:
        print_text("\n")
    if found.failing:
        print_text("FAILING: no attempt of an execution passed\n")
        columns = ("test", "suite", "failed", "in a row", "failed as", "last seen")
        print_table(columns, map(_failing_cells, found.failing))
    say(looked_at)


def _flaky_cells(record: TestRecord) -> tuple[str, ...]:
    share = f"{record.flaky} of {record.executions}"
    return (*_place(record), share, f"{record.flake_rate:.0%}", _classes(record), _moment(record.last_flaky_at))


def _failing_cells(record: TestRecord) -> tuple[str, ...]:
    share = f"all {record.failed}" if record.always_fails else f"{record.failed} of {record.executions}"
    return (*_place(record), share, str(record.streak), _classes(record), _moment(record.last_failed_at))


def _place(record: TestRecord) -> Iterable[str]:
    return record.identity.test_path, record.identity.suite


def _classes(record: TestRecord) -> str:
    return ", ".join(f"{name} {number}" for name, number in record.classes.items())


def _moment(at: datetime | None) -> str:
    return "-" if at is None else moment(at)

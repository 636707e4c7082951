"""Options about what started a run, and the request they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from driftgate.harness.trigger import Requests

CadenceOption = Annotated[
    str | None, typer.Option("--cadence", metavar="NAME", help="regular, nightly, weekly, release or one of your own.")
]
EventOption = Annotated[
    str | None, typer.Option("--event", metavar="NAME", help="The CI event, where the environment does not say it.")
]
ScheduleOption = Annotated[
    str | None, typer.Option("--schedule", metavar="CRON", help="The cron line that fired, looked up in [cadences].")
]
WriteOption = Annotated[
    bool | None,
    typer.Option(
        "--write/--no-write",
        help="Insist on writing the baseline (refused where this run may not), or keep this run from writing.",
    ),
]


def requests(
    cadence: str | None, event: str | None, schedule: str | None, write: bool | None, labels: Sequence[str] = ()
) -> Requests:
    """What the options ask for; the rest of the facts comes from the environment."""
    return Requests(cadence=cadence, event=event, cron=schedule, labels=tuple(labels), write=write)

"""``driftgate doctor``: what is missing, wrong or slow, before a night is lost to it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftgate.cli.output import print_json, print_text, say
from driftgate.cli.session import Session, command
from driftgate.cli.triggers import CadenceOption, EventOption, ScheduleOption, requests
from driftgate.config.files import find_config
from driftgate.harness.outcome import JobExit, combined
from gate.errors import ConfigError
from gate.wording import printable

if TYPE_CHECKING:
    from driftgate.config.model import Config
    from driftgate.harness.trigger import Requests
    from store.health import Diagnosis

_SUBJECT_WIDTH = 18


@command
def doctor(
    session: Session,
    *,
    cadence: CadenceOption = None,
    event: EventOption = None,
    schedule: ScheduleOption = None,
    timeout: Annotated[
        int, typer.Option("--timeout", metavar="SECONDS", min=1, max=600, help="Wait so long for the database.")
    ] = 10,
) -> None:
    """Check environment, configuration, CI and database.

    Each line says ok, warn or fail, and what to do. Nothing is changed. Exit 0 where nothing failed, 2 where
    environment or configuration did, 4 where the database did.

    Example: driftgate doctor --cadence nightly
    """
    asked = requests(cadence, event, schedule, None)
    found: list[Diagnosis] = []
    exits: list[JobExit] = []
    for failing, diagnosis in _examined(session, asked, timeout):
        found.append(diagnosis)
        if diagnosis.state == "fail":
            exits.append(failing)
        if not session.json:
            _print(diagnosis)
    code = combined(exits)
    if session.json:
        print_json({"schema": 1, "exit": int(code), "checks": [asdict(diagnosis) for diagnosis in found]})
    else:
        warned = sum(diagnosis.state == "warn" for diagnosis in found)
        say(f"{len(exits)} failed, {warned} to look at, {len(found) - len(exits) - warned} ok")
    raise typer.Exit(code)


def _examined(session: Session, asked: Requests, timeout_s: int) -> Iterator[tuple[JobExit, Diagnosis]]:
    """Each with the exit code that it means where it failed."""
    from store.health import Diagnosis

    try:
        config = session.config()
    except ConfigError as error:
        for line in str(error).splitlines():
            advice = "the rest was not looked at; docs/reference/config.md has every key"
            yield JobExit.UNUSABLE, Diagnosis("configuration", "fail", line, advice)
        return
    yield from ((JobExit.UNUSABLE, found) for found in _machine(session, config, asked))
    yield from ((JobExit.UNAVAILABLE, found) for found in _store(config, timeout_s))


def _machine(session: Session, config: Config, asked: Requests) -> Iterator[Diagnosis]:
    from driftgate.harness.doctor import DoctorRequest, examine

    file = find_config(session.config_file, Path.cwd()).path
    return examine(DoctorRequest(config, file, os.environ, asked))


def _store(config: Config, timeout_s: int) -> Iterator[Diagnosis]:
    """Nothing where the URL itself is wrong: that was told with the configuration."""
    from driftgate.harness.doctor_store import examine_store

    try:
        yield from examine_store(config, timeout_s)
    except ConfigError:
        return


def _print(diagnosis: Diagnosis) -> None:
    print_text(f"{diagnosis.state:<5} {diagnosis.subject:<{_SUBJECT_WIDTH}} {printable(diagnosis.text)}\n")
    if diagnosis.advice:
        print_text(f"{'':5} {'':{_SUBJECT_WIDTH}} -> {diagnosis.advice}\n")

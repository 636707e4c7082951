"""``driftgate config show``: which values hold, and where each came from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftgate.cli.output import print_json, print_text, say
from driftgate.cli.session import Session, command
from driftgate.cli.tree import Command
from driftgate.config.effective import settings_of, toml_lines
from driftgate.config.files import find_config
from driftgate.config.keys import KEYS
from driftgate.config.schema import ANY_NAME, dotted
from gate.errors import ConfigError
from gate.wording import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from driftgate.config.effective import Setting
    from driftgate.config.model import Config

app = typer.Typer(help="The configuration.", no_args_is_help=True)

SECRET_URLS = ("store.url", "store.migration_url")


@app.command("show", cls=Command)
@command
def show(
    session: Session,
    *,
    key: Annotated[
        str | None, typer.Argument(metavar="KEY", help="Only this key or table, e.g. store or suites.stage-a-cpu.gpus.")
    ] = None,
) -> None:
    """Every value that holds, and where it comes from.

    Printed as driftgate.toml; the source is an option, the environment, the file, the preset or a default. Passwords in
    database URLs are hidden.

    Example: driftgate config show cadences.nightly
    """
    config = session.config()
    file = find_config(session.config_file, Path.cwd()).path
    settings = tuple(map(_without_secret, settings_of(config)))
    chosen = settings if key is None else _below(key, settings, config)
    if session.json:
        print_json({"schema": 1, "file": file and str(file), "values": [_as_json(setting) for setting in chosen]})
        return
    if key is None:
        print_text(f"# file: {file or 'none, everything comes from the preset, the environment and options'}\n")
    print_text("".join(f"{line}\n" for line in toml_lines(chosen)).lstrip("\n"))


def _without_secret(setting: Setting) -> Setting:
    if setting.key not in SECRET_URLS:
        return setting
    from store.urls import masked

    return replace(setting, value=masked(setting.value))


def _below(key: str, settings: tuple[Setting, ...], config: Config) -> tuple[Setting, ...]:
    """Raises ConfigError for a key that does not exist; one without a value gives nothing, and is told."""
    chosen = tuple(setting for setting in settings if setting.is_below(key))
    if not chosen:
        known = {prefix for setting in settings for prefix in _prefixes(setting.path)} | set(_fixed_keys(KEYS, ()))
        if key not in {*known, *config.sources}:
            raise ConfigError(
                f"config show: no key {key!r}{nearest(key, known)}; without KEY it lists all, "
                f"docs/reference/config.md explains them"
            )
        say(f"{key} is not set")
    return chosen


def _prefixes(path: tuple[str, ...]) -> Iterator[str]:
    return (dotted(path[:depth]) for depth in range(1, len(path) + 1))


def _fixed_keys(table: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[str]:
    """Keys and tables that exist whether or not they have a value."""
    for name, below in table.items():
        if name != ANY_NAME:
            yield dotted((*above, name))
            if not callable(below):
                yield from _fixed_keys(below, (*above, name))


def _as_json(setting: Setting) -> dict[str, Any]:
    return {"key": setting.key, "value": setting.value, "source": setting.source}

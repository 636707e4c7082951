"""Report files that a command was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from driftgate.cli.output import say
from gate.errors import ConfigError

MarkdownOption = Annotated[
    Path | None, typer.Option("--report-md", metavar="FILE", help="Write the report as Markdown, for a job summary.")
]
JsonFileOption = Annotated[Path | None, typer.Option("--report-json", metavar="FILE", help="Write the report as JSON.")]


def check_reports(*paths: Path | None) -> None:
    """Raises ConfigError for a report that could not be written: hours later it would be too late."""
    for path in paths:
        if path is None:
            continue
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.open("ab").close()
        except OSError as error:
            raise ConfigError(f"the report {path} cannot be written ({error.strerror}); name another file") from error


def write_report(path: Path | None, content: bytes) -> None:
    """Write a report that `check_reports` let pass. What comes between now is told, and changes no result."""
    if path is None:
        return
    try:
        path.write_bytes(content)
    except OSError as error:
        say(f"driftgate: the report {path} was not written: {error.strerror}")

"""Report files that a command was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gate.errors import ConfigError

MarkdownOption = Annotated[
    Path | None, typer.Option("--report-md", metavar="FILE", help="Write the report as Markdown, for a job summary.")
]
JsonFileOption = Annotated[Path | None, typer.Option("--report-json", metavar="FILE", help="Write the report as JSON.")]


def write_report(path: Path | None, content: bytes) -> None:
    """Write a report file where one was asked for. Raises ConfigError where it cannot be written."""
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise ConfigError(f"cannot write the report {path}: {error.strerror}") from error

"""Report files that a command was asked for."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from driftgate.cli.output import say
from driftgate.harness.job_summary import LARGEST_BYTES, append_summary, summary_file
from gate.errors import ConfigError

MarkdownOption = Annotated[
    Path | None, typer.Option("--report-md", metavar="FILE", help="Write the report as Markdown, for a job summary.")
]
JunitOption = Annotated[Path | None, typer.Option("--junit", metavar="FILE", help="Write the results as JUnit XML.")]
JsonFileOption = Annotated[Path | None, typer.Option("--report-json", metavar="FILE", help="Write the report as JSON.")]


def check_writable(path: Path) -> None:
    """Raises ConfigError for a file that could not be written: hours later it would be too late. Its content stays."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("ab").close()
    except OSError as error:
        raise ConfigError(f"the report {path} cannot be written ({error.strerror}); name another file") from error


def check_reports(*paths: Path | None) -> None:
    """The same for reports, of which an earlier one is emptied: whatever ends this call, it is not the report on it."""
    given = [path for path in paths if path is not None]
    for path in given:
        check_writable(path)
    summary = summary_file(os.environ)
    for path in given:
        if path.is_file() and (summary is None or path.resolve() != summary.resolve()):
            write_report(path, b"")


def write_markdown(path: Path | None, render: Callable[[int], str]) -> None:
    """The report to ``--report-md``, and to the job summary where this is a step of GitHub Actions; ``render`` gets the
    bytes it may take. A file that is both gets it once. What goes wrong is told, and changes no result.
    """
    summary = summary_file(os.environ)
    if summary is not None and (complaint := append_summary(summary, render)):
        say(f"driftgate: {complaint}")
    if path is not None and (summary is None or path.resolve() != summary.resolve()):
        write_report(path, render(LARGEST_BYTES).encode())


def write_report(path: Path | None, content: bytes) -> None:
    """Write a report that `check_reports` let pass. What comes between now is told, and changes no result."""
    if path is None:
        return
    try:
        path.write_bytes(content)
    except OSError as error:
        say(f"driftgate: the report {path} was not written: {error.strerror}")

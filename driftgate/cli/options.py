"""Options that every command has, spelled once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DbOption = Annotated[
    str | None,
    typer.Option(
        "--db", metavar="URL", help="Store to use, e.g. sqlite:///history.db. Secrets belong in the environment."
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="driftgate.toml to use instead of the one found from here upwards."),
]
ProjectOption = Annotated[
    str | None,
    typer.Option("--project", metavar="NAME", help="Project to use instead of the configured one."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Data for machines on stdout; everything else on stderr.")]
BackendOption = Annotated[
    str | None,
    typer.Option("--backend", "--hw", metavar="NAME", help="cpu, cuda or rocm."),
]
SuiteOption = Annotated[
    str | None,
    typer.Option("--suite", metavar="NAME", help="Suite (stage) that executed the test."),
]

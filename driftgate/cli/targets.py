"""Which stored series a command's TEST means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftgate.config.model import Config
from store.errors import NotFound

if TYPE_CHECKING:
    from gate.identity import SeriesIdentity
    from store.contract import MetricHistoryStore

BackendOption = Annotated[str | None, typer.Option("--backend", "--hw", metavar="NAME", help="cpu, cuda or rocm.")]
SuiteOption = Annotated[
    str | None, typer.Option("--suite", metavar="NAME", help="Suite (stage) that executed the test.")
]


def series_of(
    store: MetricHistoryStore, config: Config, test: Path, *, backend: str | None, suite: str | None
) -> list[SeriesIdentity]:
    """Every stored series of the test, narrowed by backend and suite. Raises NotFound naming what is stored instead."""
    from driftgate.harness.test_files import series_path
    from store.finding import series_named

    name = series_path(test, config.repository)
    return series_named(store, config.project, name, backend=backend, suite=suite)


def only_series(
    store: MetricHistoryStore, config: Config, test: Path, *, backend: str | None, suite: str | None
) -> SeriesIdentity:
    """The one series that is meant. Raises NotFound where several are, naming them."""
    from store.finding import places

    found = series_of(store, config, test, backend=backend, suite=suite)
    if len(found) > 1:
        raise NotFound(f"{test} has several series; choose one by --backend and --suite: {places(found)}")
    return found[0]

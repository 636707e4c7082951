"""Which stored series a command's TEST means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftgate.config.model import Config
from gate.wording import nearest
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

    name = series_path(test, config.repository)
    stored = [summary.identity for summary in store.list_series(config.project)]
    same_test = [identity for identity in stored if identity.test_path == name]
    if not same_test:
        known = {identity.test_path for identity in stored}
        raise NotFound(f"no run of {name} is stored in project {config.project}{nearest(name, known)}")
    wanted = [i for i in same_test if backend in (None, i.backend) and suite in (None, i.suite)]
    if not wanted:
        raise NotFound(f"no run of {name} for that backend and suite; stored: {_listed(same_test)}")
    return wanted


def only_series(
    store: MetricHistoryStore, config: Config, test: Path, *, backend: str | None, suite: str | None
) -> SeriesIdentity:
    """The one series that is meant. Raises NotFound where several are, naming them."""
    found = series_of(store, config, test, backend=backend, suite=suite)
    if len(found) > 1:
        raise NotFound(f"{test} has several series; choose one by --backend and --suite: {_listed(found)}")
    return found[0]


def _listed(identities: list[SeriesIdentity]) -> str:
    return ", ".join(f"{identity.backend} {identity.suite}" for identity in identities)

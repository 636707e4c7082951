"""What every command has: the same four options, the effective configuration, an open store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftgate.cli.output import print_text
from driftgate.config.load import load_config
from driftgate.config.model import Config
from driftgate.harness.plan_json import json_line, problems_json
from gate.errors import SourceError

if TYPE_CHECKING:
    from store.contract import MetricHistoryStore
    from store.sql_store import SqlMetricHistoryStore


@dataclass(frozen=True, slots=True)
class Session:
    """The options that every command has. ``json``: data on stdout for machines instead of tables."""

    db: str | None = None
    config_file: Path | None = None
    project: str | None = None
    json: bool = False

    def config(self, **more: Any) -> Config:
        """Option over environment over file over preset. ``more``: keys with ``__`` for the dot; None is not given."""
        options = {"store.url": self.db, "project": self.project}
        options |= {key.replace("__", "."): value for key, value in more.items()}
        return load_config(file=self.config_file, start=Path.cwd(), env=os.environ, options=options)

    @contextmanager
    def history(self) -> Iterator[tuple[Config, MetricHistoryStore]]:
        """The effective configuration and its store, closed at the end."""
        from store.opening import open_store

        config = self.config()
        url, journal = config.store.url, config.store.journal
        with open_store(url, trust=config.trust, journal=journal, policy=config.gate) as store:
            yield config, store

    @contextmanager
    def database(self) -> Iterator[tuple[Config, SqlMetricHistoryStore]]:
        """The same for what only those do who hold the database itself. Raises ConfigError for a service."""
        from store.opening import open_database

        config = self.config()
        url, journal = config.store.url, config.store.journal
        with open_database(url, trust=config.trust, journal=journal, policy=config.gate) as store:
            yield config, store


COMMON: dict[str, tuple[Any, Any]] = {
    "db": (
        Annotated[
            str | None,
            typer.Option(
                "--db", metavar="URL", help="Store: sqlite:///history.db, https://HOST, ...; secrets: environment."
            ),
        ],
        None,
    ),
    "config_file": (
        Annotated[
            Path | None,
            typer.Option("--config", metavar="FILE", help="driftgate.toml, instead of the one found from here up."),
        ],
        None,
    ),
    "project": (
        Annotated[str | None, typer.Option("--project", metavar="NAME", help="Project instead of the configured one.")],
        None,
    ),
    "json": (
        Annotated[bool, typer.Option("--json", help="Data for machines on stdout, everything else on stderr.")],
        False,
    ),
}
"""Parameter name to annotation and default."""


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the common options; it receives them as ``session``."""
    own = [p for p in signature(function, eval_str=True).parameters.values() if p.name != "session"]
    common = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in COMMON.items()
    ]

    @wraps(function)
    def with_session(**values: Any) -> None:
        session = Session(**{name: values.pop(name) for name in COMMON})
        with _problems_as_json(session):
            function(session, **values)

    parameters = [*(p.replace(kind=Parameter.KEYWORD_ONLY) for p in own), *common]
    with_session.__doc__ = _unwrapped_example(function.__doc__ or "")
    with_session.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    with_session.__annotations__ = {p.name: p.annotation for p in parameters}
    return with_session


def _unwrapped_example(doc: str) -> str:
    """The example on a line of its own that can be copied: the mark keeps the help from folding it."""
    return cleandoc(doc).replace("\nExample: ", "\n\b\nExample: ")


@contextmanager
def _problems_as_json(session: Session) -> Iterator[None]:
    try:
        yield
    except SourceError as error:
        if session.json:
            print_text(json_line(problems_json(error)))
        raise

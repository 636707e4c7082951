"""What every command of an operator asks for: why, and by whom."""

from __future__ import annotations

import getpass
from typing import Annotated

import typer

from gate.errors import ConfigError

Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why, for the trust log.")]
Actor = Annotated[
    str | None, typer.Option("--actor", metavar="NAME", help="Who, for the trust log; without it the login name.")
]


def login() -> str:
    """Raises ConfigError where nobody is logged in by name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no such user in a container, no variable that names one
        raise ConfigError("who is asking? the login name is not known here; give --actor") from None

"""Names given as options, held against those that exist. Standard library only."""

from __future__ import annotations

from collections.abc import Iterable

from gate.errors import ConfigError
from gate.wording import listed, nearest


def check_known(option: str, name: str | None, valid: Iterable[str]) -> None:
    """Raises ConfigError for a name that is not among the valid ones; None is not given."""
    names = tuple(valid)
    if name is not None and name not in names:
        raise ConfigError(f"{option}: unknown {name!r}{nearest(name, names)}; valid: {listed(names)}")

"""Outputs of a GitHub Actions step, for the conditions of later steps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gate.errors import ConfigError

VARIABLE = "GITHUB_OUTPUT"


def append_outputs(values: Mapping[str, str], environment: Mapping[str, str]) -> None:
    """``values`` are of one line each. Raises ConfigError where no step is asking, or its file cannot be written."""
    path = environment.get(VARIABLE)
    if not path:
        raise ConfigError(f"--github-output: {VARIABLE} is not set; it is set in a step of GitHub Actions only")
    lines = "".join(f"{name}={value}\n" for name, value in values.items())
    try:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(lines)
    except OSError as error:
        raise ConfigError(f"--github-output: {path} ({VARIABLE}) cannot be written ({error.strerror})") from None

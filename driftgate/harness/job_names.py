"""Files with the names of CI jobs, as a workflow's script writes them. Standard library only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gate.errors import ConfigError
from gate.wording import shown

LARGEST_BYTES = 1 << 20
LONGEST_NAME = 1000


def read_job_names(path: Path, option: str) -> frozenset[str]:
    """The names in a file: a JSON array of strings where it begins with a bracket, else one name a line; maybe none.

    Raises ConfigError, in the name of ``option``, for a file that cannot be read or holds something else.
    """
    text = _text(path, option)
    names = _from_json(text, path, option) if text.lstrip()[:1] in ("[", "{") else text.split("\n")
    found = frozenset(filter(None, (name.strip() for name in names)))
    for name in found:
        if len(name) > LONGEST_NAME:
            raise ConfigError(f"{option}: {path}: the name {shown(name)} is longer than {LONGEST_NAME} characters")
    return found


def _text(path: Path, option: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{option}: {path} cannot be read ({error.strerror}); check the path") from None
    if len(data) > LARGEST_BYTES:
        raise ConfigError(f"{option}: {path} is larger than {LARGEST_BYTES} bytes; it holds job names, one a line")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{option}: {path} is not UTF-8; write job names, one a line") from None


def _from_json(text: str, path: Path, option: str) -> list[str]:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise ConfigError(
            f"{option}: {path} is not valid JSON; write a JSON array of names, or one name a line"
        ) from None
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ConfigError(f"{option}: {path} holds {shown(value)}; write a JSON array of names, or one name a line")
    return value

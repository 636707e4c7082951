"""Where the configuration is written: driftgate.toml, else [tool.driftgate] in pyproject.toml, else nowhere."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gate.errors import ConfigError
from gate.wording import listed, nearest, shown

_PRESETS = Path(__file__).parent / "presets"
NO_PRESET = "none"
_OWN_NAME = "driftgate.toml"
_SHARED_NAME = "pyproject.toml"


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """``path`` None: no file. ``base`` is what relative paths in it are relative to."""

    path: Path | None
    base: Path
    document: Mapping[str, Any]


def find_config(file: Path | None, start: Path) -> ConfigFile:
    """The given file, else the first one from ``start`` up to the repository root; outside a repository only ``start``.

    Raises ConfigError where the file is missing or is not TOML.
    """
    if file is not None:
        return _given_file(file)
    start = start.absolute()
    root = repository_root(start)
    folders = (start, *start.parents)
    for folder in folders[: folders.index(root or start) + 1]:
        found = _in_folder(folder)
        if found is not None:
            return found
    return ConfigFile(None, root or start, {})


def repository_root(start: Path) -> Path | None:
    """The nearest folder from ``start`` upwards that holds a ``.git``."""
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), None)


def _given_file(file: Path) -> ConfigFile:
    path = file.absolute()
    document = _shared_document(path) if path.name == _SHARED_NAME else read_toml(path)
    if document is None:
        raise ConfigError(f"{path}: has no table [tool.driftgate]; add it or name another file")
    return ConfigFile(path, path.parent, document)


def _in_folder(folder: Path) -> ConfigFile | None:
    own = folder / _OWN_NAME
    if own.is_file():
        return ConfigFile(own, folder, read_toml(own))
    shared = folder / _SHARED_NAME
    document = _shared_document(shared) if shared.is_file() else None
    return None if document is None else ConfigFile(shared, folder, document)


def _shared_document(path: Path) -> Mapping[str, Any] | None:
    tool = read_toml(path).get("tool")
    document = tool.get("driftgate") if isinstance(tool, dict) else None
    if document is not None and not isinstance(document, dict):
        raise ConfigError(f"{path}: tool.driftgate: found {shown(document)}, expected a table")
    return document


def read_preset(name: str) -> Mapping[str, Any]:
    """The tables of a built-in preset. Raises ConfigError for an unknown name."""
    if name == NO_PRESET:
        return {}
    known = sorted(path.stem for path in _PRESETS.glob("*.toml"))
    if name not in known:
        valid = (*known, NO_PRESET)
        raise ConfigError(f"preset: unknown preset {name!r}{nearest(name, valid)}; valid: {listed(valid)}")
    return read_toml(_PRESETS / f"{name}.toml")


def read_toml(path: Path) -> dict[str, Any]:
    """Raises ConfigError naming the file and the line."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        return tomllib.loads(text)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read ({error.strerror}); check the path") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8; save the file as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_toml_error(path, text, str(error))) from None
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply to be read; simplify the file") from None


def _toml_error(path: Path, text: str, message: str) -> str:
    found = re.search(r" \(at line (\d+), column \d+\)$", message)
    line = int(found[1]) if found else text.count("\n") + 1
    return f"{path}:{line}: not valid TOML: {message}"

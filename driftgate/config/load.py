"""The effective configuration: option > environment > file > preset, each key from the first source that has it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driftgate.config.build import build_config
from driftgate.config.files import ConfigFile, find_config, read_preset, repository_root
from driftgate.config.keys import ENVIRONMENT, KEYS
from driftgate.config.label_registry import labels_in
from driftgate.config.model import Config
from driftgate.config.schema import Entry, KeyPath, read_table
from gate.errors import ConfigError, SourceError

DEFAULT_PRESET = "miles"


def load_config(*, file: Path | None, start: Path, env: Mapping[str, str], options: Mapping[str, Any]) -> Config:
    """``file`` is the one asked for, else one is looked for from the folder ``start`` up to the repository root.

    ``options`` maps dotted keys (``"store.url"``) to values; None means not given. Raises ConfigError with one line
    for each mistake, naming the source and the key.
    """
    found = find_config(file, start)
    file_entries = _file_entries(found)
    environment = _environment_entries(env)
    chosen = _option_entries(options)
    given = file_entries | environment | chosen
    preset = given[("preset",)].value if ("preset",) in given else DEFAULT_PRESET
    repository = repository_root(start.absolute()) or repository_root(found.base) or start.absolute()
    below = _preset_entries(preset)
    return build_config(found.base, repository, {**below, **_registry_entries({**below, **given}, repository), **given})


def _preset_entries(name: str) -> dict[KeyPath, Entry]:
    entries = _entries(read_preset(name), f"preset {name}", f"preset {name}")
    return {("preset",): Entry(name, "default"), **entries}


def _file_entries(found: ConfigFile) -> dict[KeyPath, Entry]:
    entries = _entries(found.document, str(found.path), str(found.path))
    for key, variable in {key: variable for variable, key in ENVIRONMENT}.items():
        url = entries.get(tuple(key.split(".")))
        if url is not None and _holds_password(url.value):
            raise ConfigError(f"{found.path}: {key}: holds a password; secrets come from {variable} alone")
    return entries


def _registry_entries(entries: Mapping[KeyPath, Entry], repository: Path) -> dict[KeyPath, Entry]:
    """The labels of the Python file that ``discovery.label_registry`` names."""
    named = entries.get(("discovery", "label_registry"))
    if named is None:
        return {}
    path = repository / named.value.path
    try:
        labels = labels_in(named.value, path.read_bytes())
    except OSError as error:
        where = f"{named.source}: discovery.label_registry"
        raise ConfigError(f"{where}: {path}: cannot be read ({error.strerror}); check the path") from None
    except SourceError as error:
        raise ConfigError(str(error)) from None
    return {("labels", label): Entry(meaning, str(path)) for label, meaning in labels.items()}


def _holds_password(url: str) -> bool:
    authority, at, _ = url.partition("://")[2].partition("/")[0].rpartition("@")
    return bool(at) and ":" in authority


def _environment_entries(env: Mapping[str, str]) -> dict[KeyPath, Entry]:
    merged: dict[KeyPath, Entry] = {}
    for variable, key in ENVIRONMENT:
        if env.get(variable):
            merged |= _entries(_nested(key, env[variable]), f"environment {variable}", f"environment {variable}")
    return merged


def _option_entries(options: Mapping[str, Any]) -> dict[KeyPath, Entry]:
    merged: dict[KeyPath, Entry] = {}
    for key, value in options.items():
        if value is not None:
            merged |= _entries(_nested(key, value), "option", f"option {key}")
    return merged


def _nested(key: str, value: Any) -> Mapping[str, Any]:
    for part in reversed(key.split(".")):
        value = {part: value}
    return value  # type: ignore[no-any-return]


def _entries(document: Mapping[str, Any], where: str, source: str) -> dict[KeyPath, Entry]:
    entries, complaints = read_table(document, KEYS, source)
    if complaints:
        raise ConfigError("\n".join(f"{where}: {complaint}" for complaint in complaints))
    return entries

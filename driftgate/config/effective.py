"""The effective configuration by key, as it could be written in driftgate.toml, each value with its source."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

from driftgate.config.keys import KEYS
from driftgate.config.model import Config, LabelRegistry, Root, Scope
from driftgate.config.schema import ANY_NAME, BARE_KEY, KeyPath, Table, dotted

DEFAULT_SOURCE = "default"


@dataclass(frozen=True, slots=True)
class Setting:
    """``value`` as TOML knows it. ``source``: as in `Config.sources`, or ``default``."""

    path: KeyPath
    value: Any
    source: str

    @property
    def key(self) -> str:
        return dotted(self.path)

    def is_below(self, key: str) -> bool:
        """Whether the setting is ``key`` itself or stands in the table ``key``."""
        return any(dotted(self.path[:depth]) == key for depth in range(1, len(self.path) + 1))


def settings_of(config: Config) -> tuple[Setting, ...]:
    """Every key that has a value, in the order of the reference."""
    return tuple(
        Setting(path, value, config.sources.get(dotted(path), DEFAULT_SOURCE))
        for path, value in _leaves(KEYS, _tables(config), ())
    )


def toml_lines(settings: tuple[Setting, ...]) -> Iterator[str]:
    """A document that driftgate would read again; what stands above the first table comes first."""
    ordered = sorted(settings, key=lambda setting: len(setting.path) > 1)
    for table, members in groupby(ordered, key=lambda setting: setting.path[:-1]):
        if table:
            yield ""
            yield f"[{'.'.join(map(_name, table))}]"
        for setting in members:
            yield f"{_name(setting.path[-1])} = {_written(setting.value)}  # {_comment(setting.source)}"


def _tables(config: Config) -> Mapping[str, Any]:
    """The configuration in the nesting of driftgate.toml."""
    gate = {field.name: getattr(config.gate, field.name) for field in fields(config.gate)}
    own = {name: getattr(config, name) for name in KEYS if hasattr(config, name)}
    return {
        **own,
        "capture": {"metrics": config.capture_metrics},
        "gate": {**gate, "trust": config.trust, "defaults": config.defaults},
        "discovery": {"roots": config.roots, "label_registry": config.label_registry},
    }


def _leaves(table: Table, value: Any, above: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
    """The present values below ``value``, single ones before tables, as TOML wants them."""
    names = list(value) if ANY_NAME in table else list(table)
    below = {name: table.get(name) or table[ANY_NAME] for name in names}
    for name in sorted(names, key=lambda name: not callable(below[name])):
        found = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        expected = below[name]
        if found is None:
            continue
        if callable(expected):
            yield (*above, name), _plain(found)
        else:
            yield from _leaves(expected, found, (*above, name))


def _plain(value: Any) -> Any:
    if isinstance(value, Scope):
        return {"all_except": list(value.all_except)} if value.all_except else value.kind
    if isinstance(value, Root):
        return _plain_root(value)
    if isinstance(value, LabelRegistry):
        return f"{value.path}:{value.name}"
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return value


def _plain_root(root: Root) -> Mapping[str, Any]:
    default = {"backend": root.default_backend, "suite": root.default_suite, "est_time": root.default_est_time_s}
    found = {
        "path": root.path,
        "pattern": root.pattern,
        "command": root.command,
        "forbid": root.forbid or None,
        "default": default if root.default_suite is not None else None,
    }
    return {name: _plain(value) for name, value in found.items() if value is not None}


def _written(value: Any) -> str:
    """A TOML value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{dotted((name,))} = {_written(item)}' for name, item in value.items())} }}"
    return repr(value)


def _name(part: str) -> str:
    return part if BARE_KEY.fullmatch(part) else _written(part)


def _comment(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)

"""A nested document held against a table of keys: typed values by dotted key, and every key that does not belong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from driftgate.config.values import Parser, RefusedValueError, text
from gate.wording import listed, nearest, printable, shown

Table = Mapping[str, "Parser | Table"]
"""Key to parser, or to a table below it. The key ``*`` stands for names that the user chooses: a row each."""

KeyPath = tuple[str, ...]
ANY_NAME = "*"
BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """A typed value and where it came from. A row's own entry, which says that it exists, has the value None."""

    value: Any
    source: str


def dotted(path: KeyPath) -> str:
    """The key as TOML writes it: parts that are no bare keys stand in quotes."""
    return ".".join(part if BARE_KEY.fullmatch(part) else f'"{printable(part)}"' for part in path)


def read_table(document: Mapping[str, Any], table: Table, source: str) -> tuple[dict[KeyPath, Entry], list[str]]:
    """The entries of one source by path, and one line for each key that is unknown or holds a wrong value."""
    entries: dict[KeyPath, Entry] = {}
    complaints: list[str] = []
    for path, value, parser in _leaves(document, table, (), complaints):
        try:
            entries[path] = Entry(parser(value) if parser else None, source)
        except RefusedValueError as error:
            complaints.append(f"{dotted(path)}: {error}")
    return entries, complaints


def _leaves(
    document: Mapping[str, Any], table: Table, above: KeyPath, complaints: list[str]
) -> Iterator[tuple[KeyPath, Any, Parser | None]]:
    for key, value in document.items():
        path = (*above, key)
        expected = table.get(key) or table.get(ANY_NAME)
        refused = _refused_name(key) if ANY_NAME in table else None
        if refused is not None:
            complaints.append(f"{dotted(above)}: name: {refused}")
        elif expected is None:
            complaints.append(f"{dotted(path)}: unknown key{nearest(key, table)}; valid: {listed(table)}")
        elif callable(expected):
            yield path, value, expected
        elif not isinstance(value, Mapping):
            complaints.append(f"{dotted(path)}: found {shown(value)}, expected a table with {_contents(expected)}")
        else:
            if ANY_NAME in table:
                yield path, None, None
            yield from _leaves(value, expected, path, complaints)


def _refused_name(name: str) -> RefusedValueError | None:
    """Names of rows reach logs, reports and outputs of workflows, as other texts do."""
    try:
        text(name)
    except RefusedValueError as error:
        return error
    return None


def _contents(table: Table) -> str:
    return "names of your choice" if ANY_NAME in table else listed(table)

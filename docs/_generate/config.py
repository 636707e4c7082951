"""The reference of driftgate.toml: keys and accepted values from the parsers, defaults from the model, meaning here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from _generate import markdown
from _generate.config_meaning import MEANING, TABLES
from _generate.markdown import GENERATED, code, table

import driftgate.config
from driftgate.config import model, service
from driftgate.config.build import DEFAULT_STORE
from driftgate.config.keys import ENVIRONMENT, KEYS
from driftgate.config.load import DEFAULT_PRESET
from driftgate.config.schema import KeyPath, Table
from driftgate.config.values import Parser, RefusedValueError
from gate.policy import GatePolicy

ROWS: dict[KeyPath, type[Any]] = {
    ("suites", "*"): model.Suite,
    ("cadences", "*"): model.Cadence,
    ("requests",): model.RequestRules,
    ("requests", "scopes", "*"): model.ScopeRequest,
    ("changes",): model.ChangeRules,
    ("retry",): model.Retry,
    ("retry", "rules", "*"): model.FailureRule,
    ("write",): model.WriteRule,
    ("timeouts",): model.Timeouts,
    ("enforcement",): model.Enforcement,
    ("store",): model.StoreConfig,
    ("provenance",): model.ProvenanceConfig,
    ("service",): service.ServiceConfig,
    ("service", "oidc", "*"): service.OidcIssuer,
    ("service", "oidc", "*", "rules", "*"): service.OidcRule,
    ("gate",): GatePolicy,
    (): model.Config,
}
"""Table to the dataclass whose fields its keys fill."""
ELSEWHERE = {"preset": DEFAULT_PRESET, "project": "default", "gate.trust": "run", "store.url": DEFAULT_STORE}
"""Defaults that no field of a dataclass holds."""
INTRODUCTION = """\
`driftgate.toml` is looked for from the working folder up to the root of the repository; `[tool.driftgate]` in
`pyproject.toml` is the same table. Everything is optional. A value comes from the first of these that has it: option,
environment, file, preset, default. An unknown key is an error that names the nearest known one. `NAME` stands for a
name of your choice. Relative paths are relative to the file.\
"""


def page() -> str:
    """The whole page. Raises ValueError where a key has no meaning written down, or a meaning no key."""
    leaves = dict(_leaves(KEYS))
    undocumented = {_name(path) for path in leaves} ^ MEANING.keys()
    if undocumented:
        raise ValueError(f"config_meaning.py and the table of keys differ in: {sorted(undocumented)}")
    lines = ["# driftgate.toml", "", GENERATED, "", INTRODUCTION]
    for title, about in TABLES.items():
        rows = [_row(path, parser) for path, parser in leaves.items() if _table_of(path) == title]
        lines += ["", f"## {title}", "", about, "", *table(("key", "meaning", "value", "default"), rows)]
    return markdown.page([*lines, *_environment(), *_preset()])


def _leaves(keys: Table, above: KeyPath = ()) -> Iterator[tuple[KeyPath, Parser]]:
    for key, below in keys.items():
        if callable(below):
            yield (*above, key), below
        else:
            yield from _leaves(below, (*above, key))


def _name(path: KeyPath) -> str:
    return ".".join("NAME" if part == "*" else part for part in path)


def _table_of(path: KeyPath) -> str:
    return f"[{_name(path[:-1])}]" if len(path) > 1 else "Top level"


def _row(path: KeyPath, parser: Parser) -> tuple[str, str, str, str]:
    name = _name(path)
    return (code(_name(path[-1:])), MEANING[name], _accepted(parser), _default(path, name))


def _accepted(parser: Parser) -> str:
    """What the parser itself says it wants, when given nothing."""
    try:
        parser(None)
    except RefusedValueError as error:
        found = re.search(r"(?:expected|valid:|write) (.+)", str(error))
        if found:
            return found[1]
    raise ValueError("a parser accepts None, or does not say what it expects")


def _default(path: KeyPath, name: str) -> str:
    if name in ELSEWHERE:
        return code(ELSEWHERE[name])
    row = ROWS.get(path[:-1])
    found = {field.name: field.default for field in fields(row)} if row else {}
    return _shown(found.get(path[-1], MISSING))


def _shown(default: Any) -> str:
    """Nothing for a key without a default, and for one whose default is to be absent or empty."""
    if default is MISSING or default is None or default == ():
        return ""
    if isinstance(default, tuple):
        return code("[" + ", ".join(f'"{item}"' for item in default) + "]")
    if isinstance(default, bool):
        return code(str(default).lower())
    return code(f"{default:g}" if isinstance(default, float) else str(default))


def _environment() -> list[str]:
    rows = [(code(variable), code(key)) for variable, key in ENVIRONMENT]
    note = "Secrets come from the environment alone. Of two variables for one key the lower one wins."
    return ["", "## Environment", "", note, "", *table(("variable", "key"), rows)]


def _preset() -> list[str]:
    text = (Path(driftgate.config.__file__).parent / "presets" / "miles.toml").read_text(encoding="utf-8")
    note = 'What `preset = "miles"` means; `preset = "none"` starts from empty tables.'
    return ["", "## The preset miles", "", note, "", "```toml", text.rstrip(), "```"]

"""The reference of the command line, out of the command tree itself."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import typer.main
from _generate import markdown
from _generate.markdown import GENERATED, code, table

from driftgate.cli.app import app
from driftgate.cli.session import COMMON

COMMON_NAMES = {*COMMON, "help"}
INTRODUCTION = """\
Every command also takes the [common options](#common-options). Exit codes have a [page of their own](exit-codes.md).\
"""


def page() -> str:
    """The whole page."""
    root = typer.main.get_command(app)
    commands = list(_leaves(root, root.name))
    lines = ["# Command line", "", GENERATED, "", root.help, "", INTRODUCTION, ""]
    lines += [f"* [`{name}`](#{name.replace(' ', '-')}): {_first_sentence(command.help)}" for name, command in commands]
    for name, command in commands:
        lines += ["", *_section(name, command)]
    lines += ["", "## Common options", "", *_options(_common(commands[0][1]))]
    lines += ["", "Before the command:", "", *_options(root.params)]
    return markdown.page(lines)


def _leaves(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Each command that does something, with its full name, in the order of the tree."""
    below = getattr(command, "commands", None)
    if below is None:
        yield name, command
        return
    for key, sub in below.items():
        yield from _leaves(sub, f"{name} {key}")


def _section(name: str, command: Any) -> Iterator[str]:
    text, _, example = inspect.cleandoc(command.help).replace("\b", "").partition("Example: ")
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option" and p.name not in COMMON_NAMES]
    yield f"## {name}"
    yield ""
    yield " ".join(text.split())
    if example:
        yield from ("", "```text", example.strip(), "```")
    if arguments:
        yield from ("", *table(("argument", "meaning"), [(code(_argument(p)), p.help or "") for p in arguments]))
    if options:
        yield from ("", *_options(options))


def _options(params: list[Any]) -> list[str]:
    return table(("option", "meaning", "default"), [(_spelling(p), p.help or "", _default(p)) for p in params])


def _common(command: Any) -> list[Any]:
    return [p for p in command.params if p.name in COMMON]


def _spelling(param: Any) -> str:
    names = ", ".join([*param.opts, *param.secondary_opts])
    return code(names if param.is_flag else f"{names} {_metavar(param)}")


def _argument(param: Any) -> str:
    return _metavar(param) if param.nargs == 1 else f"{_metavar(param)}..."


def _metavar(param: Any) -> str:
    return param.metavar or param.name.upper()


def _default(param: Any) -> str:
    if param.required:
        return "required"
    is_silent = param.default is None or param.default is False or callable(param.default)
    return "" if is_silent else code(str(param.default))


def _first_sentence(text: str) -> str:
    return " ".join(text.split()).split(". ")[0].rstrip(".") + "."

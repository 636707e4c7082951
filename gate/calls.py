"""One call of a marker: its arguments bound to names, as literal values. Standard library only."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from gate.errors import Problem
from gate.literals import NotLiteralError, literal
from gate.snippets import snippet
from gate.wording import closest, listed, nearest

MOST_ARGUMENTS = 100
MOST_PROBLEMS = 200
"""In one file: whoever writes more wants to keep the reader busy."""
T = TypeVar("T")
Complain = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Signature:
    """What a marker accepts: ``parameters`` by keyword, the first ``positional`` of them also by position."""

    name: str
    parameters: tuple[str, ...]
    positional: int = 0


@dataclass(frozen=True, slots=True)
class Argument:
    value: Any
    line: int


@dataclass(frozen=True, slots=True)
class MarkerCall:
    """A top-level call of a marker. ``refused`` names the arguments that were given but could not be read;
    ``starred`` is true where ``*`` or ``**`` hides which ones were given.
    """

    filename: str
    name: str
    line: int
    arguments: Mapping[str, Argument]
    refused: frozenset[str]
    starred: bool
    problems: tuple[Problem, ...] = ()

    def lacks(self, parameter: str) -> bool:
        return not self.starred and parameter not in self.arguments and parameter not in self.refused

    def with_problem(self, parameter: str, text: str) -> MarkerCall:
        argument = self.arguments.get(parameter)
        line = argument.line if argument else self.line
        return replace(self, problems=(*self.problems, Problem(self.filename, line, self.name, parameter, text)))


class ArgumentReader:
    """Turns the arguments of one call into values; ``call.problems`` grows by every mistake found on the way."""

    def __init__(self, call: MarkerCall) -> None:
        self.call = call

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self.call.problems

    def complain(self, parameter: str, text: str) -> None:
        self.call = self.call.with_problem(parameter, text)

    def read(self, parameter: str, parse: Callable[[Any, Complain], T]) -> T | None:
        """The parsed argument, or None where it is not given or ``parse`` complained."""
        argument = self.call.arguments.get(parameter)
        if argument is None:
            return None
        before = len(self.problems)
        value = parse(argument.value, lambda text: self.complain(parameter, text))
        return value if len(self.problems) == before else None

    def require(self, parameter: str, parse: Callable[[Any, Complain], T], what_to_do: str) -> T | None:
        """As ``read``; an argument that is not given is a mistake."""
        if self.call.lacks(parameter):
            self.complain(parameter, f"missing; {what_to_do}")
        return self.read(parameter, parse)


def bind_call(filename: str, text: str, node: ast.Call, signature: Signature) -> MarkerCall:
    """The call's arguments by name, with what is wrong in how they are given. ``text`` is the file's source."""
    if len(node.args) + len(node.keywords) > MOST_ARGUMENTS:
        return _overfull(filename, node, signature)
    starred = [argument for argument in node.args if isinstance(argument, ast.Starred)]
    spread = [keyword for keyword in node.keywords if keyword.arg is None]
    binding = _Binding(filename, text, signature)
    for line in [hidden.lineno for hidden in starred] + [hidden.value.lineno for hidden in spread]:
        binding.complain(line, "", "* and ** hide what is given; write each argument out")
    if not starred:
        binding.positional(node.args)
    for keyword in node.keywords:
        if keyword.arg is not None:
            binding.keyword(keyword.arg, keyword.value)
    return MarkerCall(
        filename,
        signature.name,
        node.lineno,
        binding.arguments,
        frozenset(binding.refused),
        bool(starred or spread),
        tuple(binding.problems),
    )


def _overfull(filename: str, node: ast.Call, signature: Signature) -> MarkerCall:
    """None of the arguments is looked at, and none is missing."""
    count = len(node.args) + len(node.keywords)
    problem = Problem(filename, node.lineno, signature.name, "", f"has {count} arguments; at most {MOST_ARGUMENTS}")
    return MarkerCall(filename, signature.name, node.lineno, {}, frozenset(), starred=True, problems=(problem,))


class _Binding:
    def __init__(self, filename: str, text: str, signature: Signature) -> None:
        self.filename = filename
        self.text = text
        self.signature = signature
        self.given: set[str] = set()
        self.arguments: dict[str, Argument] = {}
        self.refused: set[str] = set()
        self.problems: list[Problem] = []

    def complain(self, line: int, parameter: str, text: str) -> None:
        self.problems.append(Problem(self.filename, line, self.signature.name, parameter, text))

    def positional(self, nodes: list[ast.expr]) -> None:
        allowed = self.signature.parameters[: self.signature.positional]
        for node, parameter in zip(nodes, allowed, strict=False):
            self._bind(parameter, node)
        for node in nodes[len(allowed) :]:
            taken = f"only {listed(allowed)}" if allowed else "no argument"
            found = snippet(self.text, node)
            self.complain(node.lineno, "", f"takes {taken} by position, found {found}; write it as name=value")

    def keyword(self, name: str, node: ast.expr) -> None:
        valid = self.signature.parameters
        if name in valid:
            self._bind(name, node)
            return
        self.refused |= {closest(name, valid) or name}  # the one meant is not missing on top
        self.complain(node.lineno, name, f"unknown argument{nearest(name, valid)}; valid: {listed(valid)}")

    def _bind(self, parameter: str, node: ast.expr) -> None:
        if parameter in self.given:
            self.complain(node.lineno, parameter, "given twice; keep one")
            return
        self.given.add(parameter)
        try:
            self.arguments[parameter] = Argument(literal(node), node.lineno)
        except NotLiteralError as error:
            self.refused.add(parameter)
            found = snippet(self.text, error.node)
            self.complain(error.node.lineno, parameter, f"`{found}` {error}")

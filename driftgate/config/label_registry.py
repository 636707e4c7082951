"""The registry of labels as a Python file may hold it: one annotated dict of literals, read as data.

``KNOWN_LABELS: dict[str, str] = {"megatron": "Megatron-LM training tests"}``. Standard library only.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from driftgate.config.label_names import LABEL_RULE, is_safe_label
from driftgate.config.model import LabelRegistry
from driftgate.config.values import RefusedValueError, text
from gate.errors import Problem, SourceError
from gate.literals import NotLiteralError, literal
from gate.snippets import snippet
from gate.source import parse_source, source_text
from gate.wording import shown

MOST_LABELS = 1000
_CHANGING = frozenset({"update", "pop", "popitem", "clear", "setdefault", "__setitem__", "__delitem__", "__ior__"})


def label_registry(value: Any) -> LabelRegistry:
    """``path/of/file.py:NAME``, the path relative to the repository root. Raises RefusedValueError."""
    path, colon, name = text(value).rpartition(":")
    parts = PurePosixPath(path).parts
    if not colon or not name.isidentifier() or not parts or ".." in parts or parts[0] == "/":
        expected = "a file below the repository root and the name in it: tests/ci/labels.py:KNOWN_LABELS"
        raise RefusedValueError(f"found {shown(value)}, expected {expected}")
    return LabelRegistry(path, name)


def labels_in(registry: LabelRegistry, content: bytes) -> dict[str, str]:
    """Label to meaning. Raises SourceError with every mistake that keeps the file from being a registry."""
    source = parse_source(registry.path, source_text(registry.path, content))
    definition = _only_definition(registry, source.tree)
    try:
        labels = literal(definition)
    except NotLiteralError as error:
        found = snippet(source.text, error.node)
        raise _refused(registry, error.node.lineno, f"`{found}` {error}") from None
    return checked_labels(labels, registry.path, definition.lineno, registry.name)


def checked_labels(labels: Mapping[Any, Any], file: str, line: int, field: str) -> dict[str, str]:
    """``labels`` where each is safe to show and has a meaning. Raises SourceError with every one that is not."""
    if len(labels) > MOST_LABELS:
        raise SourceError((Problem(file, line, "", field, f"has {len(labels)} labels; at most {MOST_LABELS}"),))
    problems = tuple(Problem(file, line, "", field, text) for text in _mistakes(labels))
    if problems:
        raise SourceError(problems)
    return dict(labels)


def _mistakes(labels: Mapping[Any, Any]) -> Iterator[str]:
    for label, meaning in labels.items():
        if not isinstance(label, str) or not is_safe_label(label):
            yield f"found the label {shown(label)}; {LABEL_RULE}"
        elif not isinstance(meaning, str) or not meaning.strip():
            yield f"{label}: found {shown(meaning)}; write what the label covers as a non-empty string"


def _only_definition(registry: LabelRegistry, tree: ast.Module) -> ast.Dict:
    places = sorted(line for node in ast.walk(tree) for line in _bound_at(node, registry.name))
    form = f"{registry.name}: dict[str, str] = {{...}}"
    found = [node for node in tree.body if isinstance(node, ast.AnnAssign) and _names(node.target, registry.name)]
    if not places:
        raise _refused(registry, 0, f"is not defined; write {form} at the top level")
    if len(found) != 1 or not isinstance(found[0].value, ast.Dict):
        raise _refused(registry, places[0], f"is no dict of literals that is annotated; write {form} at the top level")
    places.remove(found[0].lineno)
    if places:
        raise _refused(registry, places[0], f"defined or changed besides line {found[0].lineno}; keep one definition")
    return found[0].value


def _bound_at(node: ast.AST, name: str) -> Iterator[int]:
    """The line where the node gives ``name`` a value, takes it away, or changes what it holds."""
    match node:
        case ast.Name(id=bound, ctx=ast.Store() | ast.Del()) if bound == name:
            yield node.lineno
        case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()) if _names(value, name):
            yield node.lineno
        case ast.Call(func=ast.Attribute(value=value, attr=method)) if _names(value, name) and method in _CHANGING:
            yield node.lineno
        case ast.FunctionDef(name=bound) | ast.AsyncFunctionDef(name=bound) | ast.ClassDef(name=bound):
            yield from [node.lineno] if bound == name else []
        case ast.alias(name=imported, asname=bound) if (bound or imported.partition(".")[0]) in (name, "*"):
            yield node.lineno
        case ast.ExceptHandler(name=bound) | ast.MatchAs(name=bound) | ast.MatchStar(name=bound) if bound == name:
            yield node.lineno
        case ast.MatchMapping(rest=bound) if bound == name:
            yield node.lineno
        case _:
            pass


def _names(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _refused(registry: LabelRegistry, line: int, text: str) -> SourceError:
    return SourceError((Problem(registry.path, line, "", registry.name, text),))

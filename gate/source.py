"""Marker calls read from a test file's source, never by running it. Pure over text; standard library only."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from gate.calls import MOST_PROBLEMS, MarkerCall, Signature, bind_call
from gate.errors import Problem, SourceError
from gate.wording import shown

LARGEST_FILE_BYTES = 1 << 20
_LINE_END = re.compile(r"\r\n?|\n")
_COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.ASCII)
_UTF_8 = re.compile(r"utf-?8(-.*)?")
_SAME_FOR_ASCII = frozenset({"ascii", "us-ascii", "latin-1", "latin1", "iso-8859-1", "iso-8859-15", "cp1252"})


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed test file; ``filename`` is how messages name it."""

    filename: str
    text: str
    tree: ast.Module


def source_text(filename: str, content: bytes) -> str:
    """The text of a Python file. Raises SourceError where it is above 1 MiB, not UTF-8, or says that it is not."""
    if len(content) > LARGEST_FILE_BYTES:
        raise _unreadable(filename, 0, "is above 1 MiB; a test file is smaller")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _unreadable(filename, line, "not UTF-8; save the file as UTF-8") from None
    _check_cookie(filename, text)
    return text


def _check_cookie(filename: str, text: str) -> None:
    """Python reads the file in the encoding that one of its first two lines declares; so it has to say the same."""
    for line in _LINE_END.split(text, maxsplit=2)[:2]:
        cookie = _COOKIE.match(line)
        if cookie is None:
            continue
        encoding = cookie[1].lower().replace("_", "-")
        if not (_UTF_8.fullmatch(encoding) or (text.isascii() and encoding in _SAME_FOR_ASCII)):
            declared = f"declares the encoding {shown(cookie[1])}, in which it may read differently"
            raise _unreadable(filename, 0, f"{declared}; save the file as UTF-8 and remove that comment")


def parse_source(filename: str, text: str) -> Source:
    """The file's syntax tree. Raises SourceError with the one problem that keeps it from being read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a questionable escape in somebody's test file is not ours to report
            return Source(filename, text, ast.parse(text))
    except SyntaxError as error:
        raise _unreadable(filename, error.lineno or 0, f"not valid Python: {error.msg}") from None
    except (RecursionError, MemoryError):
        raise _unreadable(filename, 0, "nested too deeply to be read; simplify the file") from None
    except ValueError as error:
        raise _unreadable(filename, 0, f"not valid Python: {error}") from None


def _unreadable(filename: str, line: int, text: str) -> SourceError:
    return SourceError((Problem(filename, line, "", "", text),))


def marker_calls(
    source: Source, signatures: Mapping[str, Signature]
) -> tuple[tuple[MarkerCall, ...], tuple[Problem, ...]]:
    """The top-level calls of these markers in file order, with their own problems, and uses that would be lost."""
    calls: list[MarkerCall] = []
    problems: list[Problem] = []
    told = 0
    for statement in _mentioning_statements(source, signatures):
        if told >= MOST_PROBLEMS:
            problems.append(more_problems(source.filename, statement.lineno))
            break
        before = len(problems)
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name(id=name)) as node) if name in signatures:
                calls.append(bind_call(source.filename, source.text, node, signatures[name]))
                told += len(calls[-1].problems)
            case _:
                problems += _first(_misuses(source.filename, statement, signatures))
                told += len(problems) - before
    return tuple(calls), tuple(problems)


def more_problems(filename: str, line: int) -> Problem:
    """Stands for all that follow."""
    return Problem(filename, line, "", "", f"and more than {MOST_PROBLEMS} mistakes")


def _first(problems: Iterable[Problem]) -> list[Problem]:
    found = list(islice(problems, MOST_PROBLEMS + 1))
    if len(found) > MOST_PROBLEMS:
        found[-1] = more_problems(found[-1].file, found[-1].line)
    return found


def _mentioning_statements(source: Source, signatures: Mapping[str, Signature]) -> Iterator[ast.stmt]:
    """Top-level statements on whose lines a marker is named: walking the whole tree of every file is slow."""
    text = source.text
    if not text.isascii() or "\r" in text:  # a name in letters that Python folds to ASCII; lines that "\n" does not end
        yield from source.tree.body
        return
    lines = _naming_lines(text, signatures)
    line = next(lines, None)
    previous_end = 0
    for statement in source.tree.body:
        start = min(previous_end + 1, statement.lineno)  # decorators stand above lineno; statements may share a line
        previous_end = statement.end_lineno or statement.lineno
        while line is not None and line < start:
            line = next(lines, None)
        if line is None:
            return
        if line <= previous_end:
            yield statement


def _naming_lines(text: str, names: Iterable[str]) -> Iterator[int]:
    """The lines on which one of the names stands, in ascending order."""
    line, counted = 1, 0
    for found in re.finditer("|".join(names), text):
        line += text.count("\n", counted, found.start())
        counted = found.start()
        yield line


def _misuses(filename: str, statement: ast.stmt, signatures: Mapping[str, Signature]) -> Iterator[Problem]:
    called: set[ast.expr] = set()
    for node in ast.walk(statement):  # a call comes before what it calls
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in signatures:
                called.add(node.func)
                text = f"called where it is not seen; write {name}(...) as a statement of its own at the top level"
                yield Problem(filename, node.lineno, name, "", text)
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()) if (
                name in signatures and node not in called
            ):
                text = f"used other than by a call; write {name}(...) as a statement of its own at the top level"
                yield Problem(filename, node.lineno, name, "", text)
            case ast.ImportFrom(names=aliases) | ast.Import(names=aliases):
                yield from _import_aliases(filename, aliases, signatures)
            case _:
                pass


def _import_aliases(filename: str, aliases: list[ast.alias], signatures: Mapping[str, Signature]) -> Iterator[Problem]:
    for alias in aliases:
        if alias.name in signatures and alias.asname not in (None, alias.name):
            text = f"imported as {alias.asname!r}, where its calls are not seen; import it under its own name"
            yield Problem(filename, alias.lineno, alias.name, "", text)

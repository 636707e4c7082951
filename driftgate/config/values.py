"""What a configuration value may be: each parser returns the typed value or raises RefusedValueError."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from typing import Any

from driftgate.config.model import Scope
from gate.calls import Complain
from gate.fields import parse_constraint, parse_steps
from gate.wording import listed, nearest, shown

Parser = Callable[[Any], Any]


class RefusedValueError(Exception):
    """The message says what was found and what is expected; the caller adds where."""


def text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise RefusedValueError(f"found {shown(value)}, expected a non-empty string")
    if any(unicodedata.category(character) == "Cc" for character in value):
        raise RefusedValueError(f"found {shown(value)}, expected a string without control characters")
    return value


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise RefusedValueError(f"found {shown(value)}, expected true or false")
    return value


def choice(*valid: str) -> Parser:
    def parse(value: Any) -> str:
        if not isinstance(value, str) or value not in valid:
            raise RefusedValueError(f"found {shown(value)}{nearest(value, valid)}, expected one of {listed(valid)}")
        return value

    return parse


def integer(least: int, most: int) -> Parser:
    def parse(value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise RefusedValueError(f"found {shown(value)}, expected an integer from {least} to {most}")
        return value

    return parse


def positive(most: float) -> Parser:
    """A number above 0, NaN and infinity refused, up to and including ``most``."""

    def parse(value: Any) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or math.isnan(value) or not 0 < value <= most:
            raise RefusedValueError(f"found {shown(value)}, expected a number above 0, at most {most:g}")
        return float(value)

    return parse


def not_negative(most: float) -> Parser:
    """A number from 0, NaN and infinity refused, up to and including ``most``."""

    def parse(value: Any) -> float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or math.isnan(value) or not 0 <= value <= most:
            raise RefusedValueError(f"found {shown(value)}, expected a number from 0, at most {most:g}")
        return float(value)

    return parse


def texts(value: Any) -> tuple[str, ...]:
    """A list of distinct non-empty strings."""
    items = _strings(value)
    if len(set(items)) != len(items):
        raise RefusedValueError(f"found {shown(value)}, expected each entry once")
    return items


def patterns(value: Any) -> tuple[str, ...]:
    """A list of distinct regular expressions."""
    items = texts(value)
    for item in items:
        try:
            re.compile(item)
        except (re.error, OverflowError) as error:
            raise RefusedValueError(f"found {shown(item)} ({error}), expected regular expressions") from None
    return items


def command(value: Any) -> tuple[str, ...]:
    """Arguments of a process, its program first; they may repeat."""
    items = _strings(value)
    if not items:
        raise RefusedValueError('found an empty list, expected a command such as ["{python}", "{file}"]')
    return items


def _strings(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) and item.strip() for item in value):
        raise RefusedValueError(f"found {shown(value)}, expected a list of non-empty strings")
    return tuple(value)


def crons(value: Any) -> tuple[str, ...]:
    """Cron lines of five fields, white space made single so that they compare."""
    lines = tuple(" ".join(line.split()) for line in texts(value))
    for line in lines:
        if line.count(" ") != 4:
            raise RefusedValueError(f'found {shown(line)}, expected five cron fields such as "0 15 * * 0-5"')
    return lines


def scope(value: Any) -> Scope:
    match value:
        case "all" | "none":
            return Scope(value)
        case {"all_except": labels} if len(value) == 1:
            return Scope("all", texts(labels))
    raise RefusedValueError(f'found {shown(value)}, expected "all", "none" or {{all_except = ["label"]}}')


def url(value: Any) -> str:
    """Never quoted in a message: it may hold a password."""
    if not isinstance(value, str) or "://" not in value:
        raise RefusedValueError("expected a database URL such as sqlite:///.driftgate/history.db")
    return value


def steps(value: Any) -> Any:
    """The literal as written: it becomes a coordinate's key."""
    _held_to(parse_steps, value)
    return value


def constraint(value: Any) -> Any:
    """The literal as written: it becomes a coordinate's key."""
    _held_to(parse_constraint, value)
    return value


def _held_to(parse: Callable[[Any, Complain], Any], value: Any) -> None:
    complaints: list[str] = []
    parse(value, complaints.append)
    if complaints:
        raise RefusedValueError("; ".join(complaints))

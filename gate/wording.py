"""How messages show what was found and which name was probably meant. Standard library only."""

from __future__ import annotations

import difflib
import heapq
from collections import Counter
from collections.abc import Iterable
from typing import Any

_SHOWN_CHARS = 60
_LONGEST_NAME = 200
_COMPARED = 50


def shown(value: Any) -> str:
    """``value`` as Python writes it, on one line, cut where it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of more digits than Python prints, a literal too deep to print
        return f"a {type(value).__name__} too large to show"
    return clipped(text)


def clipped(text: str) -> str:
    """``text`` on one line of at most 60 characters, with what cannot be printed escaped."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= _SHOWN_CHARS else f"{line[: _SHOWN_CHARS - 1]}…"


def printable(text: str) -> str:
    """``text`` with what cannot be printed escaped: a name of a file may hold line breaks and bytes of no encoding, and
    ``##[``, which GitHub's runner takes for a command wherever it stands in a line.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text.replace("##[", "# #[")


def listed(names: Iterable[str]) -> str:
    """Names for a message, in the given order: ``a, b, c``."""
    return ", ".join(names)


def closest(name: Any, valid: Iterable[str]) -> str | None:
    """The valid name that was probably meant, or None where none is alike."""
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        return None
    close = difflib.get_close_matches(name, _likely(name, list(valid)), n=1)
    return close[0] if close else None


def _likely(name: str, valid: list[str]) -> list[str]:
    """Of many names those with the most characters in common: a full comparison with each would take seconds."""
    if len(valid) <= _COMPARED:
        return valid
    letters = Counter(name)
    return heapq.nlargest(_COMPARED, valid, lambda other: _likeness(letters, len(name), other))


def _likeness(letters: Counter[str], length: int, other: str) -> float:
    return 2 * (letters & Counter(other[:_LONGEST_NAME])).total() / max(length + len(other), 1)


def nearest(name: Any, valid: Iterable[str]) -> str:
    """`` (did you mean 'x'?)`` for the name that was probably meant, or ``""`` where none is alike."""
    meant = closest(name, valid)
    return f" (did you mean {meant!r}?)" if meant else ""

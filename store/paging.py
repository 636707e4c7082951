"""Pages of long listings. A page continues after the place of the last item, so that what is written meanwhile moves
nothing: no item comes twice, and none is lost that was there at the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from store.checks import MAX_INTEGER

T = TypeVar("T")

Place = tuple[str | int, ...]
"""Where an item stands in the order of its listing, in values that JSON has; times in ISO 8601."""


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """``next``: what to give as ``after`` for the following page; None on the last one."""

    items: tuple[T, ...]
    next: Place | None = None


def page_of(
    rows: Sequence[Any],
    limit: int,
    item: Callable[[Any], T],
    place: Callable[[Any], tuple[Any, ...]],
    found: int | None = None,
) -> Page[T]:
    """Of ``rows``, read one beyond ``limit`` if there are so many, or of which ``found`` were there to read."""
    shown = rows[:limit]
    more = (len(rows) if found is None else found) > len(shown)
    return Page(tuple(map(item, shown)), tuple(map(_plain, place(shown[-1]))) if more else None)


def read_place(place: Place, *kinds: type) -> tuple[Any, ...]:
    """The place as its listing means it: each part a ``datetime``, an ``int`` or a ``str``.

    Raises ValueError for anything that no listing has given out.
    """
    if len(place) != len(kinds):
        raise ValueError("the cursor is of another listing")
    return tuple(_READERS[kind](part) for part, kind in zip(place, kinds, strict=True))


def _plain(part: Any) -> str | int:
    plain: str | int = part.isoformat() if isinstance(part, datetime) else part
    return plain


def _moment(part: str | int) -> datetime:
    at = datetime.fromisoformat(_text(part))
    if at.utcoffset() != timedelta(0):
        raise ValueError("the cursor holds no time in UTC")
    return at


def _number(part: str | int) -> int:
    if type(part) is not int or abs(part) > MAX_INTEGER:
        raise ValueError("the cursor holds no row")
    return part


def _text(part: str | int) -> str:
    if not isinstance(part, str) or "\0" in part:
        raise ValueError("the cursor holds no name")
    return part


_READERS: dict[type, Callable[[str | int], Any]] = {datetime: _moment, int: _number, str: _text}

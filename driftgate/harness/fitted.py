"""Text of a largest size, cut between lines, and what was opened is closed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

CUT = "The rest is cut to keep this within its size; the JSON reports have everything."


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together. Where there is no room for all, ``body`` is cut, ``head`` and ``tail`` never."""

    head: tuple[str, ...] = ()
    body: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()


def fitted(blocks: Iterable[Block], max_bytes: int) -> str:
    """The blocks in their order, as far as they fit, in at most ``max_bytes`` of UTF-8; a cut is told at the end."""
    lines: list[str] = []
    room = max_bytes - _size((CUT,))
    cut = False
    for block in blocks:
        frame = _size((*block.head, *block.tail))
        if frame > room:
            cut = True
            continue
        body = _first(block.body, room - frame)
        cut = cut or len(body) < len(block.body)
        lines += [*block.head, *body, *block.tail]
        room -= frame + _size(body)
    return "".join(f"{line}\n" for line in (*lines, *((CUT,) if cut else ())))


def _first(lines: tuple[str, ...], room: int) -> tuple[str, ...]:
    for number, line in enumerate(lines):
        room -= _size((line,))
        if room < 0:
            return lines[:number]
    return lines


def _size(lines: Iterable[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)

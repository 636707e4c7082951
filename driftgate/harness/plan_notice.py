"""Something to look at that fails no plan. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlanNotice:
    """``kind`` is a word for machines, ``text`` says what and what to do."""

    kind: str
    text: str

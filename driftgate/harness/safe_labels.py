"""Labels reduced to a safe character set before any use. Pure; standard library only.

Whoever may label a pull request chooses these strings: they reach logs, shells, Markdown and workflow outputs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from driftgate.harness.plan_notice import PlanNotice
from gate.wording import listed, shown

LONGEST_LABEL = 100
"""Characters. GitHub allows 50."""
_NAMED = 5
_SAFE = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._:/+-]{{0,{LONGEST_LABEL - 1}}}")
_HOSTILE = frozenset("`$<>|\\*[]{}\"';!~^&")


@dataclass(frozen=True, slots=True)
class SafeLabels:
    """``labels``: each once, in the given order."""

    labels: tuple[str, ...]
    warnings: tuple[PlanNotice, ...]


def safe_labels(labels: Iterable[str], is_request: Callable[[str], bool]) -> SafeLabels:
    """Labels of letters, digits and ``. _ : / + -``, of at most 100 characters, that begin with a letter or digit.

    All others are dropped. One warning names those that look like an attack or, by ``is_request``, like something
    that driftgate was asked for; a plain ``good first issue`` is none of its business.
    """
    given = dict.fromkeys(labels)
    kept = tuple(label for label in given if _SAFE.fullmatch(label))
    told = [label for label in given if not _SAFE.fullmatch(label) and (_is_odd(label) or is_request(label))]
    return SafeLabels(kept, (_dropped(told),) if told else ())


def _is_odd(label: str) -> bool:
    return len(label) > LONGEST_LABEL or not label.isprintable() or not _HOSTILE.isdisjoint(label)


def _dropped(labels: list[str]) -> PlanNotice:
    more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
    rule = f"a label has letters, digits and . _ : / + -, at most {LONGEST_LABEL}"
    return PlanNotice("unsafe_label", f"ignored {listed(map(_ascii, labels[:_NAMED]))}{more}: {rule}")


def _ascii(label: str) -> str:
    """Escaped, so that no character of it reaches a terminal or a log as itself."""
    return shown(label[:LONGEST_LABEL]).encode("ascii", "backslashreplace").decode()

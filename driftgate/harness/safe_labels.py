"""Labels reduced to a safe character set before any use. Pure; standard library only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from driftgate.config.label_names import LABEL_RULE, LONGEST_LABEL, is_safe_label
from driftgate.harness.plan_notice import PlanNotice
from gate.wording import listed, shown

_NAMED = 5
_HOSTILE = frozenset("`$<>|\\*[]{}\"';!~^&")


@dataclass(frozen=True, slots=True)
class SafeLabels:
    """``labels``: each once, in the given order."""

    labels: tuple[str, ...]
    warnings: tuple[PlanNotice, ...]


def safe_labels(labels: Iterable[str], is_request: Callable[[str], bool]) -> SafeLabels:
    """Those of ``labels`` that ``is_safe_label``; all others are dropped.

    One warning names those that look like an attack or, by ``is_request``, like something
    that driftgate was asked for; a plain ``good first issue`` is none of its business.
    """
    given = dict.fromkeys(labels)
    kept = tuple(label for label in given if is_safe_label(label))
    told = [label for label in given if not is_safe_label(label) and (_is_odd(label) or is_request(label))]
    return SafeLabels(kept, (_dropped(told),) if told else ())


def _is_odd(label: str) -> bool:
    return len(label) > LONGEST_LABEL or not label.isprintable() or not _HOSTILE.isdisjoint(label)


def _dropped(labels: list[str]) -> PlanNotice:
    more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
    return PlanNotice("unsafe_label", f"ignored {listed(map(_ascii, labels[:_NAMED]))}{more}: {LABEL_RULE}")


def _ascii(label: str) -> str:
    """Escaped, so that no character of it reaches a terminal or a log as itself."""
    return shown(label[:LONGEST_LABEL]).encode("ascii", "backslashreplace").decode()

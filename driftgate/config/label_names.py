"""Labels that mean something, and what a label may be called. Standard library only.

Whoever may label a pull request chooses such strings: they reach logs, shells, Markdown and workflow outputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from driftgate.config.model import Config

LONGEST_LABEL = 100
"""Characters. GitHub allows 50."""
LABEL_RULE = f"a label has letters, digits and . _ : / + -, a letter or digit first, at most {LONGEST_LABEL}"
_SAFE = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._:/+-]{{0,{LONGEST_LABEL - 1}}}")


def is_safe_label(text: str) -> bool:
    """Whether it may be used: it has no meaning to a shell, to Markdown or to a workflow log."""
    return _SAFE.fullmatch(text) is not None


def request_labels(config: Config) -> Iterator[str]:
    """Every label of a pull request that means something; one that has two meanings comes twice."""
    rules = config.requests
    yield from (rules.prefix + label for label in config.labels)
    yield from rules.scopes
    yield from rules.generations
    yield from rules.bypass_fast_fail
    yield from {label: None for cadence in config.cadences.values() for label in cadence.pr_labels}

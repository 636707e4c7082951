"""Canonical JSON: the form in which a declaration's literals become a coordinate's keys. Standard library only."""

from __future__ import annotations

import json
from typing import Any

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_json(literal: Any) -> str:
    """One text for equal literals: no white space, keys sorted, list order kept, numbers as Python's json writes them.

    ``1`` and ``1.0`` stay different, as they were written. Raises ValueError for NaN and infinities.
    """
    return _ENCODER.encode(literal)

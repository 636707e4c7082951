"""Judged runs as a store would hold them, one a night."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gate.past import PastRun, PastValues
from gate.verdict import SpecVerdict, Verdict

START = datetime(2026, 1, 1, tzinfo=UTC)


def as_stored(night: int, verdict: Verdict) -> PastRun:
    """The run of that night, counted from 0, with the trust that the verdict gave it and no operator's decision."""
    return PastRun(
        run_id=f"{night:032x}",
        created_at=START + timedelta(days=night),
        seq=night,
        trusted=verdict.trusted,
        gate_trusted=verdict.trusted,
        has_error=verdict.has_error,
        values=tuple(_values(judged) for judged in verdict.specs if np.any(np.isfinite(judged.values))),
    )


def _values(judged: SpecVerdict) -> PastValues:
    finite = np.isfinite(judged.values)
    steps = _one_array(judged.steps[finite].tobytes())
    return PastValues(judged.spec.key, steps, judged.values[finite], judged.trusted, judged.points)


@lru_cache
def _one_array(steps: bytes) -> NDArray[np.int64]:
    """Equal steps are one array, as they are when a store reads them."""
    return np.frombuffer(steps, np.int64)

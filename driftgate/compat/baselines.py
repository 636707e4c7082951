"""The history that a judgement needs: one read of driftgate's stores, one call a coordinate of any other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from driftgate.compat.storage import BaselineReader, RunIdentity
from driftgate.compat.stores import OwnStore
from gate.history import History, RunRef, SpecHistory, StoredSeries
from gate.identity import SpecKey

Wanted = Mapping[SpecKey, NDArray[np.int64]]
"""The steps of each gate spec."""


def read_baselines(store: BaselineReader, identity: RunIdentity, wanted: Wanted, history_limit: int) -> History:
    """The newest trusted values at the wanted steps, at least ``history_limit`` of each that has so many."""
    if not wanted:
        return History()
    if isinstance(store, OwnStore):
        return store.read_history(identity, list(wanted), history_limit)
    return History({key: _asked(store, identity, key, steps.tolist(), history_limit) for key, steps in wanted.items()})


def _asked(store: BaselineReader, identity: RunIdentity, key: SpecKey, steps: list[int], limit: int) -> SpecHistory:
    series = (identity.test_path, identity.backend, identity.suite)
    address = (*series, key.metric_key, key.steps_key, key.constraint_key)
    found = {step: store.recent_trusted_values(*address, step, limit) for step in steps}
    return SpecHistory(tuple(_rows(found)))


def _rows(found: Mapping[int, list[float]]) -> Iterator[StoredSeries]:
    """Row k holds the k-th newest value of each step that has so many: to a mean it is the same as the runs' own."""
    for k in range(max(map(len, found.values()), default=0)):
        row = {step: values[k] for step, values in found.items() if k < len(values)}
        run = RunRef(f"value {k}", datetime.min.replace(tzinfo=UTC), trusted=True, counting=True, valid=True)
        yield StoredSeries(run, np.array(list(row), np.int64), np.array(list(row.values()), np.float64), len(row))

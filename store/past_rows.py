"""A whole series at once, oldest first, for those who replay it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, select

from gate.identity import SeriesIdentity, SpecKey
from gate.past import PastEpoch, PastRun, PastValues, SeriesPast
from store.addressing import address, this_series
from store.schema import epochs, gate_specs, packed_series, runs, step_sets

RUN_FACTS = (
    "run_id",
    "created_at",
    "seq",
    "trusted",
    "gate_trusted",
    "has_error",
    "marked",
    "untrusted_reason",
    "superseded_by",
    "ci_run_id",
    "commit_sha",
    "verdict",
)


def read_past(connection: Connection, identity: SeriesIdentity) -> SeriesPast:
    """Runs first: values are stored with their run and never change, so each run found has all of its own."""
    at = address(identity)
    found = connection.execute(_select_runs(), at).all()
    values = _values_by_run(connection, at)
    starts = connection.execute(_select_epochs(), at).all()
    return SeriesPast(
        identity,
        tuple(
            PastRun(**{fact: getattr(row, fact) for fact in RUN_FACTS}, values=tuple(values[row.seq])) for row in found
        ),
        tuple(
            PastEpoch(row.position, row.epoch_id, row.metric_key, (row.start_created_at, row.start_seq))
            for row in starts
        ),
    )


def _values_by_run(connection: Connection, at: Mapping[str, Any]) -> defaultdict[int, list[PastValues]]:
    """Steps travel once for each step set, keys once for each gate spec: rows of values name both by id."""
    rows = connection.execute(_select_values(), at).all()
    keys = {
        row.id: SpecKey(row.metric_key, row.steps_key, row.constraint_key)
        for row in connection.execute(_select_specs(), at)
    }
    steps = {row.id: np.array(row.steps, np.int64) for row in connection.execute(_select_step_sets(), at)}
    values: defaultdict[int, list[PastValues]] = defaultdict(list)
    for row in rows:
        key, numbers = keys[row.gate_spec_id], np.array(row.values, np.float64)
        values[row.run_seq].append(
            PastValues(key, steps[row.step_set_id], numbers, row.trusted, row.points, row.at_step)
        )
    return values


def _select_runs() -> Select[Any]:
    return (
        select(*(runs.c[fact] for fact in RUN_FACTS))
        .where(runs.c.series_id == this_series())
        .order_by(runs.c.created_at, runs.c.seq)
    )


def _select_values() -> Select[Any]:
    return (
        select(packed_series)
        .join(gate_specs, gate_specs.c.id == packed_series.c.gate_spec_id)
        .where(gate_specs.c.series_id == this_series())
        .order_by(packed_series.c.run_seq, packed_series.c.gate_spec_id)
    )


def _select_specs() -> Select[Any]:
    return select(gate_specs).where(gate_specs.c.series_id == this_series())


def _select_step_sets() -> Select[Any]:
    used = (
        select(packed_series.c.step_set_id)
        .join(gate_specs, gate_specs.c.id == packed_series.c.gate_spec_id)
        .where(gate_specs.c.series_id == this_series())
    )
    return select(step_sets).where(step_sets.c.id.in_(used))


def _select_epochs() -> Select[Any]:
    return (
        select(epochs)
        .where(epochs.c.series_id == this_series(), epochs.c.undone_at.is_(None))
        .order_by(epochs.c.position)
    )

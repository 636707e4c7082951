"""The rows of `packed_series`: one per run and gate spec, its steps shared with every row that has the same."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Connection, Insert, bindparam, select

from store.addressing import address, this_series
from store.connections import queue
from store.contract import NewRun, SeriesValues
from store.hashing import spec_hash, steps_hash
from store.schema import gate_specs, packed_series, runs, step_sets
from store.series_row import insert_new


def insert_values(connection: Connection, run_id: str, run: NewRun) -> None:
    """Rows refer to each other by content, so that no id has to be fetched before the next row is sent."""
    if not run.series:
        return
    at = address(run.identity)
    specs = [at | _spec_row(one) for one in run.series]
    queue(connection, insert_new(connection, gate_specs).values(series_id=this_series()), specs)
    queue(connection, insert_new(connection, step_sets), _step_set_rows(run))
    queue(connection, _insert_packed_series(), [at | _values_row(run_id, run, one) for one in run.series])


def _spec_row(one: SeriesValues) -> dict[str, Any]:
    return {
        "key_hash": spec_hash(one.key),
        "metric_key": one.key.metric_key,
        "steps_key": one.key.steps_key,
        "constraint_key": one.key.constraint_key,
    }


def _step_set_rows(run: NewRun) -> list[dict[str, Any]]:
    """In one order for every writer: two that insert the same new rows then wait for each other instead of dying."""
    by_hash = {steps_hash(one.steps): list(map(int, one.steps)) for one in run.series}
    return [{"content_hash": key, "steps": by_hash[key]} for key in sorted(by_hash)]


@cache
def _insert_packed_series() -> Insert:
    spec = select(gate_specs.c.id).where(
        gate_specs.c.series_id == this_series(), gate_specs.c.key_hash == bindparam("key_hash")
    )
    step_set = select(step_sets.c.id).where(step_sets.c.content_hash == bindparam("steps_hash"))
    run = select(runs.c.seq).where(runs.c.run_id == bindparam("run_id"))
    return (
        packed_series.insert()
        .values(
            run_seq=run.scalar_subquery(),
            gate_spec_id=spec.scalar_subquery(),
            step_set_id=step_set.scalar_subquery(),
        )
        .inline()
    )


def _values_row(run_id: str, run: NewRun, one: SeriesValues) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "key_hash": spec_hash(one.key),
        "steps_hash": steps_hash(one.steps),
        "created_at": run.created_at,
        "trusted": one.trusted,
        "points": one.points,
        "at_step": one.at_step,
        "values": list(map(float, one.values)),
    }

"""Has anything changed that a baseline is made of? Told without reading it.

Runs, lines of the trust log and epochs are only ever added, and nothing else of a run changes without one of them: a
higher attempt takes the place of others as it is added, a mark and an epoch write their lines, an undone epoch stays.
So equal numbers mean equal baselines. Where old runs are deleted, no later one has their numbers.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, Text, bindparam, func, select

from gate.identity import SeriesIdentity
from store.addressing import address, this_series
from store.schema import epochs, runs, trust_events

Marker = tuple[int, ...]


def change_marker(connection: Connection, identity: SeriesIdentity) -> Marker:
    """Read in one statement, so it is of one moment; what is read after it is at least as new."""
    return tuple(connection.execute(_select_marker(), address(identity)).one())


@cache
def _select_marker() -> Select[Any]:
    lines = select(func.count()).where(trust_events.c.project == bindparam("at_project", type_=Text))
    starts = select(func.count()).where(epochs.c.series_id == this_series())
    undone = select(func.count(epochs.c.undone_at)).where(epochs.c.series_id == this_series())
    return select(
        func.count(),
        func.coalesce(func.max(runs.c.seq), 0),
        lines.scalar_subquery(),
        starts.scalar_subquery(),
        undone.scalar_subquery(),
    ).where(runs.c.series_id == this_series())

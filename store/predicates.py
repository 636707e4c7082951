"""The glossary's words *counting* and *valid* as conditions on rows."""

from __future__ import annotations

from sqlalchemy import ColumnElement, and_, bindparam, exists, or_

from store.column_types import RowId
from store.contract import TrustGrain
from store.schema import packed_series, runs

NO_CI_RUN = -1
"""Bound where no CI run is to be left out; CI run ids are positive."""

not_excluded = or_(runs.c.ci_run_id.is_(None), runs.c.ci_run_id != bindparam("exclude_ci_run_id", type_=RowId))
is_valid = and_(~runs.c.has_error, runs.c.marked.is_(None), runs.c.superseded_by.is_(None))


def counting_run(grain: TrustGrain) -> ColumnElement[bool]:
    """Whether a run may serve at all. At grain ``metric`` one trusted gate spec makes it so, unless it is held back."""
    if grain == "run":
        return and_(runs.c.trusted, runs.c.superseded_by.is_(None))
    some = exists().where(packed_series.c.run_seq == runs.c.seq, packed_series.c.trusted)
    return and_(runs.c.superseded_by.is_(None), or_(runs.c.marked.is_(True), and_(_not_held_back, some)))


def counting_spec(grain: TrustGrain) -> ColumnElement[bool]:
    """Whether one gate spec of a run may serve. An operator's decision on the run decides for all its specs."""
    if grain == "run":
        return counting_run("run")
    return and_(
        runs.c.superseded_by.is_(None), or_(runs.c.marked.is_(True), and_(_not_held_back, packed_series.c.trusted))
    )


def once_counting_spec(grain: TrustGrain) -> ColumnElement[bool]:
    """Whether one gate spec of a run may serve, or the gate had let it serve before an operator or a higher attempt
    took its place. A run that the store has held back since it was written never did.
    """
    by_gate = runs.c.gate_trusted if grain == "run" else packed_series.c.trusted
    once_served = or_(runs.c.marked.is_not(None), runs.c.untrusted_reason.is_(None))
    return or_(counting_spec(grain), and_(by_gate, once_served))


_not_held_back = and_(runs.c.marked.is_(None), runs.c.untrusted_reason.is_(None))

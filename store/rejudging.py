"""Runs judged again under another epoch: what that changes in the store, and how exactly that is taken back.

The stored verdict of a run is never rewritten. The verdict that it has now, and what was there before, stand in the
detail of the log's line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, select

from gate.identity import SeriesIdentity, SpecKey
from gate.new_epoch import JudgedAgain
from gate.past import PastRun
from gate.verdict_json import to_stored
from store.addressing import address, this_series
from store.connections import queue
from store.schema import gate_specs, packed_series, runs
from store.trust import Action, Change, Trust
from store.trust_log import apply_changes


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the gate's word on a run is, beside its trust. ``specs``: gate spec id to whether it is trusted."""

    has_error: bool
    specs: Mapping[int, bool]


@dataclass(frozen=True, slots=True)
class Rejudged:
    """A run whose judgement changes to ``judgement``, and with it, where the gate decides, its trust."""

    change: Change
    judgement: Judgement


def rejudged(connection: Connection, identity: SeriesIdentity, judged: Iterable[JudgedAgain]) -> dict[int, Rejudged]:
    """By seq, those that come out otherwise than they are stored."""
    changed = [one for one in judged if _differs(one.before, one.after)]
    ids = spec_ids(connection, identity) if changed else {}
    return {one.before.seq: _rejudged(one, ids) for one in changed}


def _differs(before: PastRun, after: PastRun) -> bool:
    specs = (before.values, after.values)
    trusts = [{values.key: values.trusted for values in each} for each in specs]
    return (before.trusted, before.has_error, trusts[0]) != (after.trusted, after.has_error, trusts[1])


def spec_ids(connection: Connection, identity: SeriesIdentity) -> dict[SpecKey, int]:
    rows = connection.execute(select(gate_specs).where(gate_specs.c.series_id == this_series()), address(identity))
    return {SpecKey(row.metric_key, row.steps_key, row.constraint_key): row.id for row in rows}


def _rejudged(one: JudgedAgain, ids: Mapping[SpecKey, int]) -> Rejudged:
    before, after = (
        Judgement(run.has_error, {ids[values.key]: values.trusted for values in run.values})
        for run in (one.before, one.after)
    )
    detail = {
        "has_error_before": before.has_error,
        "specs_before": {str(spec): trusted for spec, trusted in before.specs.items()},
        "verdict": to_stored(one.verdict),
    }
    change = Change(
        one.before.run_id, Trust(one.before.trusted, None, None), Trust(one.after.trusted, None, None), detail
    )
    return Rejudged(change, after)


def judgement_before(line: Any) -> Judgement:
    """What a line of the log says was there before it."""
    specs = {int(spec): trusted for spec, trusted in line.detail["specs_before"].items()}
    return Judgement(line.detail["has_error_before"], specs)


def apply_rejudged(connection: Connection, action: Action, by_seq: Mapping[int, Rejudged]) -> list[str]:
    """Returns the ids of the runs whose trust flipped, in order of arrival."""
    if not by_seq:
        return []
    flipped = apply_changes(connection, action, {seq: one.change for seq, one in by_seq.items()})
    queue(
        connection,
        runs.update().where(runs.c.seq == bindparam("of_run")).values(has_error=bindparam("error")),
        [{"of_run": seq, "error": one.judgement.has_error} for seq, one in by_seq.items()],
    )
    specs = [
        {"of_run": seq, "of_spec": spec, "good": trusted}
        for seq, one in by_seq.items()
        for spec, trusted in one.judgement.specs.items()
    ]
    here = (packed_series.c.run_seq == bindparam("of_run"), packed_series.c.gate_spec_id == bindparam("of_spec"))
    if specs:
        queue(connection, packed_series.update().where(*here).values(trusted=bindparam("good")), specs)
    return flipped

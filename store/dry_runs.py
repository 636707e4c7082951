"""What a mark, an epoch or an undo would do, told from what is stored. Nothing is written."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from sqlalchemy import Connection, select

from gate.effects import epoch_effects, mark_effects
from gate.identity import SeriesIdentity, SpecKey
from gate.past import PastRun, SeriesPast
from gate.policy import GatePolicy
from store.addressing import among, bound_list
from store.contract import ActionResult, SeriesEffects, TrustGrain
from store.epoch_rows import SERIES_COLUMNS, NewEpoch, find_epoch, find_start, identity_of
from store.epochs import plan_undo, to_come
from store.marks import plan_mark
from store.past_rows import read_past
from store.rejudging import Rejudged, spec_ids
from store.schema import runs, series
from store.selectors import Selector
from store.trust import Action, Trust
from store.trust_log import flipped


@dataclass(frozen=True, slots=True)
class Lens:
    """By what policy means are taken, and what counts."""

    policy: GatePolicy
    grain: TrustGrain


def of_mark(connection: Connection, action: Action, selector: Selector, lens: Lens) -> ActionResult:
    changes = plan_mark(connection, action, selector).changes
    trusts = {change.run_id: change.after for change in changes.values()}
    effects = []
    for identity in _series_of(connection, trusts):
        before = read_past(connection, identity)
        after = replace(before, runs=tuple(_with_trust(run, trusts) for run in before.runs))
        effects.append(SeriesEffects(identity, mark_effects(before, after, lens.policy, lens.grain)))
    return ActionResult(tuple(flipped(changes)), effects=tuple(effects))


def of_start(connection: Connection, new: NewEpoch, lens: Lens) -> ActionResult:
    start = find_start(connection, new)
    before = read_past(connection, new.identity)
    effects = epoch_effects(before, to_come(before, new, start), lens.policy, lens.grain)
    flipping = {change.run_id for change in effects.trust}
    arrived = sorted((run for run in before.runs if run.run_id in flipping), key=lambda run: run.seq)
    return ActionResult(tuple(run.run_id for run in arrived), effects=(SeriesEffects(new.identity, effects),))


def of_undo(connection: Connection, action: Action, epoch_id: str, lens: Lens) -> ActionResult:
    epoch = find_epoch(connection, action.project, epoch_id)
    changes = plan_undo(connection, action, epoch).changes
    identity = identity_of(epoch)
    before = read_past(connection, identity)
    keys = {spec: key for key, spec in spec_ids(connection, identity).items()}
    after = SeriesPast(
        identity,
        tuple(_gone_back(run, changes.get(run.seq), keys) for run in before.runs),
        tuple(one for one in before.epochs if one.epoch_id != epoch_id),
    )
    effects = mark_effects(before, after, lens.policy, lens.grain)
    flips = flipped({seq: one.change for seq, one in changes.items()})
    return ActionResult(tuple(flips), epoch_id, (SeriesEffects(identity, effects),))


def _series_of(connection: Connection, run_ids: Collection[str]) -> list[SeriesIdentity]:
    """In the order of their names."""
    rows = connection.execute(
        select(*SERIES_COLUMNS)
        .join(runs, runs.c.series_id == series.c.id)
        .where(among(connection.dialect.name, runs.c.run_id, "run_ids"))
        .distinct(),
        {"run_ids": bound_list(connection, list(run_ids))},
    )
    return sorted(identity_of(row) for row in rows)


def _with_trust(run: PastRun, trusts: Mapping[str, Trust]) -> PastRun:
    """The very run where nothing changes."""
    trust = trusts.get(run.run_id)
    if trust is None:
        return run
    return replace(run, trusted=trust.trusted, marked=trust.marked, untrusted_reason=trust.reason)


def _gone_back(run: PastRun, back: Rejudged | None, keys: Mapping[int, SpecKey]) -> PastRun:
    if back is None:
        return run
    trusted = {keys[spec]: trusted for spec, trusted in back.judgement.specs.items()}
    values = tuple(replace(one, trusted=trusted[one.key]) for one in run.values)
    changed = _with_trust(run, {run.run_id: back.change.after})
    return replace(changed, has_error=back.judgement.has_error, values=values)

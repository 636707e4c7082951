"""A dry run tells what the call would do, and writes nothing."""

from __future__ import annotations

import re

import pytest

from store.contract import MarkRequest, RunFilter
from store.errors import NotFound, StoreConflict


def mark(store, *, trusted: bool, dry_run: bool = False, **selector):
    return store.mark(MarkRequest("default", trusted, "said so", "on duty", **selector, dry_run=dry_run))


def start(store, judging, run_id: str | None = None, *, dry_run: bool = False):
    return store.start_epoch(judging.IDENTITY, from_run=run_id, reason="new data", actor="me", dry_run=dry_run)


def undo(store, epoch_id: str, *, dry_run: bool = False):
    return store.undo_epoch(project="default", epoch_id=epoch_id, reason="r", actor="a", dry_run=dry_run)


def stored(store):
    runs = [store.get_run("default", run.run_id) for run in store.list_runs("default", RunFilter(limit=1000))]
    return runs, store.list_epochs("default"), store.trust_events("default")


def told_and_done(store, call):
    """The answer of the dry run, after which nothing has changed; the call itself changes the same runs."""
    before = stored(store)
    told = call(dry_run=True)
    assert stored(store) == before
    assert call(dry_run=False).runs == told.runs
    return told


def means(result) -> list[tuple]:
    return [
        (moved["metric_key"], moved["reference"], moved["steps"], moved["old"], moved["new"])
        for moved in result.to_json()["effects"]["means"]
    ]


def verdicts(result) -> list[tuple]:
    return [(flip["run_id"], flip["stored"], flip["rejudged"]) for flip in result.to_json()["effects"]["verdicts"]]


def test_of_a_mark(store, judging):
    """The mean that it moves, and the verdict that hung on the run: others as stored."""
    ids = judging.nights(store, [1.0, 1.0, 1.0625, 1.09375])
    told = told_and_done(store, lambda **how: mark(store, trusted=False, run_id=ids[3], **how))
    assert told.runs == (ids[3],)
    assert means(told) == [("loss", "baseline", [0, 1, 2], [1.0390625] * 3, [3.0625 / 3] * 3)]
    assert verdicts(told) == []


def test_verdicts_that_flip(store, judging):
    """A poisoned seed made the next nights red; without it they would be trusted, with it they are not."""
    ids = judging.nights(store, [2.0, 1.0, 1.0])
    told = told_and_done(store, lambda **how: mark(store, trusted=False, run_id=ids[0], **how))
    assert verdicts(told) == [(ids[1], "not_trusted", "trusted"), (ids[2], "not_trusted", "trusted")]
    told = told_and_done(store, lambda **how: mark(store, trusted=True, run_id=ids[0], **how))
    assert verdicts(told) == []


@pytest.mark.parametrize("selector", [{"ci_run_id": 2}, {"commit_sha": "c" * 40}])
def test_of_a_standing_mark_and_of_lifting_it(store, judging, selector):
    """The rule is neither set nor lifted by trying."""
    judging.night(store, 1, 1.0)
    judging.night(store, 2, 1.0625, tested_sha="c" * 40)
    taken = told_and_done(store, lambda **how: mark(store, trusted=False, **selector, **how))
    freed = told_and_done(store, lambda **how: mark(store, trusted=True, **selector, **how))
    assert taken.runs == freed.runs
    assert means(taken)[0][3:] == means(freed)[0][:2:-1]


def test_of_a_mark_on_two_series(store, judging):
    """Each entry names its series."""
    for suite in ("b", "a"):
        judging.night(store, 1, 1.0, suite=suite)
    told = mark(store, trusted=False, ci_run_id=1, dry_run=True)
    assert [moved["series"]["suite"] for moved in told.to_json()["effects"]["means"]] == ["a", "b"]
    assert len(told.runs) == 2


def test_of_an_epoch_that_begins_in_the_past(store, judging):
    """The runs that change, the verdicts that they would have, and the new level."""
    ids = judging.nights(store, [1.0, 1.0, 2.0, 1.0, 2.0])
    told = told_and_done(store, lambda **how: start(store, judging, ids[2], **how))
    assert told.epoch_id is None
    assert told.runs == tuple(ids[2:])
    assert means(told) == [("loss", "baseline", [0, 1, 2], [1.0] * 3, [2.0] * 3)]
    assert verdicts(told) == [
        (ids[2], "not_trusted", "trusted"),
        (ids[3], "trusted", "not_trusted"),
        (ids[4], "not_trusted", "trusted"),
    ]
    red, green = (told.to_json()["effects"]["verdicts"][index]["reasons"] for index in (1, 0))
    assert (bool(red), green) == (True, [])


def test_of_an_epoch_after_the_newest_run(store, judging):
    """No run changes, every mean goes."""
    judging.nights(store, [1.0, 1.0])
    told = told_and_done(store, lambda **how: start(store, judging, **how))
    assert (told.runs, verdicts(told)) == ((), [])
    assert means(told) == [("loss", "baseline", [0, 1, 2], [1.0] * 3, [None] * 3)]


def test_of_an_undo(store, judging):
    """The old level comes back, what the start changed goes, and runs since then would be red."""
    ids = judging.nights(store, [1.0, 1.0, 2.0])
    epoch_id = start(store, judging, ids[2]).epoch_id
    later = judging.night(store, 4, 2.0)
    told = told_and_done(store, lambda **how: undo(store, epoch_id, **how))
    assert told.runs == (ids[2],)
    assert verdicts(told) == [(later.run_id, "trusted", "not_trusted")]
    assert [change["run_id"] for change in told.to_json()["effects"]["trust"]] == [ids[2]]


def test_of_one_metric_where_metrics_count(metric_store, judging):
    """Grain `metric`: no run changes, but the means of the metric that is accepted."""
    ids = judging.nights(metric_store, [{"kl": 1.0, "loss": 1.0}, {"kl": 2.0, "loss": 2.0}])
    how = {"metric": "kl", "from_run": ids[1], "reason": "r", "actor": "a"}
    told = metric_store.start_epoch(judging.IDENTITY, **how, dry_run=True)
    assert [moved[0] for moved in means(told)] == ["kl"]
    epoch_id = metric_store.start_epoch(judging.IDENTITY, **how).epoch_id
    back = undo(metric_store, epoch_id, dry_run=True)
    assert [(moved[0], moved[3:]) for moved in means(back)] == [(means(told)[0][0], means(told)[0][:2:-1])]


def test_what_the_call_would_refuse(store, judging):
    """Trying is refused with the same words."""
    ids = judging.nights(store, [1.0, 2.0, 2.0])
    first, second = start(store, judging, ids[1]), start(store, judging, ids[2])
    for call, error in (
        (lambda **how: mark(store, trusted=False, run_id="typo", **how), NotFound),
        (lambda **how: start(store, judging, "typo", **how), NotFound),
        (lambda **how: undo(store, "typo", **how), NotFound),
        (lambda **how: undo(store, first.epoch_id, **how), StoreConflict),
    ):
        with pytest.raises(error) as told:
            call(dry_run=True)
        with pytest.raises(error, match=re.escape(str(told.value))):
            call(dry_run=False)
    assert undo(store, second.epoch_id, dry_run=True).runs == ()

"""The marker of a series: other numbers whenever a baseline could have moved, the same where nothing happened."""

from __future__ import annotations

import pytest

from gate.policy import GatePolicy
from store.baselines import baseline_summaries, baselines_json
from store.errors import StoreConflict
from store.opening import open_store


@pytest.fixture
def store(url):
    """A database: pages and markers are what a service has of it, beside the contract."""
    with open_store(url, one_shot=False) as opened:
        yield opened


@pytest.fixture
def nights(store, build):
    return [store.write_run(build.run(number)) for number in range(1, 6)]


def acts(store, build, nights):
    """Each way in which a baseline may move, to be done in this order."""
    yield "a run", lambda: store.write_run(build.run(9))
    yield "a rerun", lambda: store.write_run(build.run(3, facts={"ci_run_attempt": 2}, hours=9))
    yield "a mark", lambda: store.mark_untrusted(**build.BY, run_id=nights[1].run_id)
    yield "a mark taken back", lambda: store.mark_trusted(**build.BY, run_id=nights[1].run_id)
    yield "a rule", lambda: store.mark_untrusted(**build.BY, ci_run_id=2)
    yield "an epoch", lambda: store.start_epoch(build.IDENTITY, reason="new", actor="me")
    last = store.list_epochs("default")[0].epoch_id
    yield "an epoch undone", lambda: store.undo_epoch(project="default", epoch_id=last, reason="no", actor="me")
    begin = {"from_run": nights[3].run_id, "reason": "new", "actor": "me"}
    yield "an epoch from a run", lambda: store.start_epoch(build.IDENTITY, **begin)


def test_every_change_shows(store, build, nights):
    """One after the other, each gives a marker that was not there before."""
    seen = [store.change_marker(build.IDENTITY)]
    for name, act in acts(store, build, nights):
        act()
        seen.append(store.change_marker(build.IDENTITY))
        assert seen[-1] not in seen[:-1], name


def test_nothing_shows_where_nothing_changed(store, build, nights):
    """Reads, dry runs, repeats, refusals, and what is written to another series."""
    before = store.change_marker(build.IDENTITY)
    baselines_json(build.IDENTITY, baseline_summaries(store, build.IDENTITY, GatePolicy()))
    assert store.write_run(build.run(1)).repeat
    store.start_epoch(build.IDENTITY, reason="new", actor="me", dry_run=True)
    with pytest.raises(StoreConflict):
        store.write_run(build.run(1, build.values({0: 7.0})))
    other = build.IDENTITY.__class__("default", "tests/other.py", "cuda", "nightly-8-gpu")
    store.write_run(build.run(1, identity=other))
    assert store.change_marker(build.IDENTITY) == before


def test_an_unknown_series(store, build):
    """Has a marker, too, which its first run changes."""
    before = store.change_marker(build.IDENTITY)
    store.write_run(build.run(1))
    assert store.change_marker(build.IDENTITY) != before

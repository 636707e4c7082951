"""The reference's stores: every write counts, marks without a reason, any text for a commit."""

import math
from dataclasses import replace

import compat_builders as build
import pytest

from driftgate.compat import (
    NEON_DATABASE_URL_ENV,
    MetricHistoryStore,
    NeonMetricHistoryStore,
    RunIdentity,
    RunProvenance,
    SQLiteMetricHistoryStore,
)
from store.errors import StoreUnavailable


def test_newest_values_come_first(store):
    """By time, not by arrival; at most as many as asked for."""
    for night in (2, 1, 3):
        build.write(store, float(night), night)
    assert build.recent(store) == [3.0, 2.0, 1.0]
    assert build.recent(store, limit=2) == [3.0, 2.0]


def test_every_write_is_a_run_that_counts(store):
    """The same run again, and other attempts of its CI run: no key, no superseding."""
    first, again = build.write(store, 1.0), build.write(store, 1.0)
    later = build.write(store, 2.0, provenance=replace(build.PROVENANCE, github_run_attempt=2))
    build.write(store, 3.0, provenance=RunProvenance("", None, None, None, None, None))
    assert len({first, again, later}) == 3
    assert build.recent(store) == [3.0, 2.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "identity",
    [
        replace(build.IDENTITY, backend="megatron"),
        replace(build.IDENTITY, suite="other"),
        replace(build.IDENTITY, test_path="other"),
    ],
)
def test_another_identity_has_another_history(store, identity):
    """Each of the three fields tells runs apart."""
    build.write(store, 1.0)
    build.write(store, 9.0, identity=identity)
    assert build.recent(store) == [1.0]
    assert build.recent(store, identity=identity) == [9.0]


def test_another_coordinate_has_another_history(store):
    """Each of the four fields tells values apart, also within one run."""
    samples = [
        build.sample(1.0),
        build.sample(2.0, metric="n"),
        build.sample(3.0, steps="[0,1]", step=0),
        build.sample(4.0, band="{}"),
        build.sample(5.0, step=0),
    ]
    build.write(store, 0.0, values=samples)
    assert [build.recent(store, one) for one in samples] == [[one.value] for one in samples]
    assert build.recent(store, build.sample(0.0, step=7)) == []


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_refused(store, bad):
    """And nothing of its run is stored."""
    with pytest.raises(ValueError, match="not a finite number"):
        build.write(store, 0.0, values=[build.sample(0.5), build.sample(bad, metric="n")])
    assert build.recent(store) == []


def test_a_coordinate_has_one_value_in_a_run(memory):
    """Equal ones count once, so that no run weighs twice; different ones contradict each other."""
    build.write(memory, 0.0, values=[build.sample(0.5), build.sample(0.5)])
    assert build.recent(memory) == [0.5]
    with pytest.raises(ValueError, match="m step -1 has two values"):
        build.write(memory, 0.0, values=[build.sample(0.5), build.sample(0.6)])


def test_a_run_may_be_empty(memory):
    """It has an id like any other."""
    assert memory.mark_untrusted(run_id=build.write(memory, 0.0, values=[])) == 1


def test_a_time_may_be_written_as_iso_allows(store):
    """With Z, with another offset, without a zone (UTC): they sort as times."""
    times = ["2024-06-01T12:00:00Z", "2024-06-01T15:00:00+05:00", "2024-06-01 11:00:00"]
    for value, created_at in enumerate(times):
        build.write(store, float(value), created_at=created_at)
    assert build.recent(store) == [0.0, 2.0, 1.0]


@pytest.mark.parametrize("created_at", ["yesterday", "", "9999-01-01T00:00:00Z"])
def test_a_time_that_is_none_is_refused(memory, created_at):
    """No ISO time, or one in the future."""
    with pytest.raises(ValueError, match=r"isoformat|ahead"):
        build.write(memory, 1.0, created_at=created_at)


def test_untrusted_runs_never_count(store):
    """Whatever made them so."""
    build.write(store, 1.0, trusted=False)
    assert build.recent(store) == []


def test_a_mark_by_run_id(store):
    """Takes out that run at once; a second time it changes nothing; an unknown run is no run."""
    build.write(store, 1.0)
    bad = build.write(store, 2.0)
    assert store.mark_untrusted(run_id=bad) == 1
    assert build.recent(store) == [1.0]
    assert store.mark_untrusted(run_id=bad) == 0
    assert store.mark_untrusted(run_id="unknown") == 0


@pytest.mark.parametrize("selector", [{"github_run_id": 1001}, {"commit_sha": "deadbeef"}])
def test_a_mark_by_run_of_ci_or_commit(store, selector):
    """Takes out the trusted runs that are stored, and, as there, none that comes later."""
    other = RunProvenance("badc0de", None, 7, 1, None, None)
    for trusted in (True, False, True):
        build.write(store, 1.0, trusted=trusted)
    build.write(store, 5.0, provenance=other)
    assert store.mark_untrusted(**selector) == 2
    assert build.recent(store) == [5.0]
    assert store.mark_untrusted(**selector) == 0
    build.write(store, 6.0)
    assert build.recent(store) == [6.0, 5.0]


@pytest.mark.parametrize("selector", [{}, {"run_id": "x", "commit_sha": "y"}, {"commit_sha": ""}, {"run_id": ""}])
def test_a_mark_needs_exactly_one_selector(memory, selector):
    """An empty one would name every run without a commit."""
    with pytest.raises(ValueError, match="exactly one"):
        memory.mark_untrusted(**selector)


@pytest.mark.parametrize("commit", ["", "abc", "HEAD~1", "v1.0 (dirty)", "é" * 200, "a" * 40])
def test_any_text_names_a_commit(store, commit):
    """A short one, a name, an empty one."""
    build.write(store, 1.0, provenance=replace(build.PROVENANCE, commit_sha=commit))
    assert build.recent(store) == [1.0]
    assert commit == "" or store.mark_untrusted(commit_sha=commit) == 1


@pytest.mark.parametrize("field", ["commit_sha", "event_name", "ref"])
def test_text_that_no_database_holds_is_refused(store, field):
    """By name, before the database is asked."""
    with pytest.raises(ValueError, match=f"{field} holds a NUL"):
        build.write(store, 1.0, provenance=replace(build.PROVENANCE, **{field: "a\0b"}))


@pytest.mark.parametrize("name", ["plain.db", "a b?c#d%20é.db", "new/folder/history.db"])
def test_a_file_has_the_name_it_was_given(tmp_path, name):
    """No character of a path means something else; the folder is made."""
    path = tmp_path / name
    with SQLiteMetricHistoryStore(path) as store:
        build.write(store, 1.0)
    with SQLiteMetricHistoryStore(str(path)) as store:
        assert build.recent(store) == [1.0]
    assert path.is_file()


def test_a_file_of_something_else_is_left_alone(tmp_path):
    """It is refused in one line."""
    path = tmp_path / "notes.txt"
    path.write_text("my notes" * 100)
    with pytest.raises(StoreUnavailable):
        SQLiteMetricHistoryStore(path)
    assert path.read_text() == "my notes" * 100


def test_projects_are_apart(tmp_path):
    """The reference knows none; ours is called default."""
    with SQLiteMetricHistoryStore(tmp_path / "h.db") as one:
        build.write(one, 1.0)
    with SQLiteMetricHistoryStore(tmp_path / "h.db", project="mine") as other:
        assert build.recent(other) == []


def test_neon_takes_its_url_from_the_environment(monkeypatch, postgres_url):
    """Unless one is given; without any it says what to set."""
    monkeypatch.setenv(NEON_DATABASE_URL_ENV, postgres_url)
    with NeonMetricHistoryStore() as store:
        build.write(store, 1.0)
        assert build.recent(store) == [1.0]
    monkeypatch.delenv(NEON_DATABASE_URL_ENV)
    with pytest.raises(RuntimeError, match="NEON_DATABASE_URL"):
        NeonMetricHistoryStore()


def test_making_a_neon_store_reaches_for_no_server():
    """As there: a suite of hours holds no connection; the first call is the first that can fail."""
    NeonMetricHistoryStore("postgresql://nobody@127.0.0.1:9/none").close()


def test_the_contract_is_abstract():
    """A store of one's own has to implement all of it."""
    with pytest.raises(TypeError):
        MetricHistoryStore()
    assert isinstance(build.OwnStore(), MetricHistoryStore)
    assert build.recent(build.OwnStore(), identity=RunIdentity("a", "b", "c")) == []

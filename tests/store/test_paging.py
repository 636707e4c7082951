"""Pages of long listings: together they are the listing, whatever is written between them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import event

from store import metric_rows
from store.contract import Attempt, AttemptFilter, RunFilter
from store.metric_rows import MetricQuery, value_records
from store.opening import open_store
from store.paging import Page, page_of, read_place
from store.stored import SeriesFilter


@pytest.fixture
def store(url):
    """A database: pages and markers are what a service has of it, beside the contract."""
    with open_store(url, one_shot=False) as opened:
        yield opened


@pytest.fixture
def filled(store, build):
    """Seven runs (two at the same moment), three series, epochs, marks and attempts."""
    for number in range(1, 8):
        store.write_run(build.run(number, hours=min(number, 6)))
    for suite in ("a", "b"):
        store.write_run(build.run(20, identity=replace(build.IDENTITY, suite=suite)))
    for metric in (None, "loss", None):
        store.start_epoch(build.IDENTITY, metric=metric, reason="new", actor="me")
    for number in (1, 2, 3):
        store.mark_untrusted(**build.BY, ci_run_id=number)
    store.record_attempts([attempt(build, number) for number in range(1, 6)])
    return store


def attempt(build, number, suite=None):
    identity = build.IDENTITY if suite is None else replace(build.IDENTITY, suite=suite)
    return Attempt(identity, number, 1, 1, "pass", 1.0, build.START + timedelta(hours=min(number, 4)))


def listings(store, build):
    """Each as a function of (limit, after)."""
    pages = store.pages
    return {
        "runs": lambda *rest: pages.runs("default", RunFilter(), *rest),
        "series": lambda *rest: pages.series("default", SeriesFilter(), *rest),
        "epochs": lambda *rest: pages.epochs("default", SeriesFilter(), *rest),
        "attempts": lambda *rest: pages.attempts("default", AttemptFilter(), *rest),
        "trust events": lambda *rest: pages.trust_events("default", None, *rest),
        "metric": lambda *rest: pages.metric(MetricQuery(build.IDENTITY, "loss"), *rest),
    }


def walked(listing, limit, between=lambda: None):
    """The pages, each asked for after ``between``."""
    page = listing(limit)
    pages = [page.items]
    while page.next is not None:
        between()
        page = listing(limit, page.next)
        pages.append(page.items)
    return pages


NAMES = ["runs", "series", "epochs", "attempts", "trust events", "metric"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("limit", [1, 3])
def test_the_pages_are_the_listing(filled, build, name, limit):
    """Of every page size: all full but the last one, nothing twice, nothing missing, and no empty last page."""
    listing = listings(filled, build)[name]
    (whole,) = walked(listing, 1000)
    pages = walked(listing, limit)
    assert [item for page in pages for item in page] == list(whole)
    assert {len(page) for page in pages[:-1]} <= {limit}
    assert len(whole) >= 3
    assert pages[-1]


def test_the_order_is_the_contract(filled, build):
    """Page by page the same as in one list."""
    assert list(filled.pages.runs("default", RunFilter(), 99).items) == filled.list_runs("default", RunFilter(limit=99))
    assert list(filled.pages.series("default", SeriesFilter(), 99).items) == filled.list_series("default")
    assert list(filled.pages.epochs("default", SeriesFilter(), 99).items) == filled.list_epochs("default")
    assert list(filled.pages.trust_events("default", None, 99).items) == filled.trust_events("default", 99)
    attempts = filled.list_attempts("default", AttemptFilter())
    assert list(filled.pages.attempts("default", AttemptFilter(), 99).items) == attempts


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_meanwhile_moves_nothing(filled, build, name):
    """Newer, older and in between: what was there at the start comes once, in its order."""
    numbers = iter(range(100, 200))

    def write():
        number = next(numbers)
        for hours in (0.5, 3, number):
            night = next(numbers)
            filled.write_run(build.run(night, hours=hours))
            filled.write_run(build.run(night, hours=hours, identity=replace(build.IDENTITY, suite=f"aa{night}")))
            filled.record_attempts([replace(attempt(build, night), started_at=build.START + timedelta(hours=hours))])
        filled.start_epoch(build.IDENTITY, reason="again", actor="me")
        filled.mark_untrusted(**build.BY, ci_run_id=number)

    listing = listings(filled, build)[name]
    before = [_key(item) for item in listing(1000).items]
    seen = [_key(item) for page in walked(listing, 2, write if len(before) < 12 else lambda: None) for item in page]
    assert len(seen) == len(set(seen))
    assert [key for key in seen if key in before] == before


def _key(item):
    """What an item is known by, whatever becomes of it."""
    for name in ("run_id", "epoch_id"):
        if hasattr(item, name) and not hasattr(item, "action"):
            return getattr(item, name)
    return (item.at, item.run_id) if hasattr(item, "action") else (item.identity, getattr(item, "ci_run_id", None))


def test_another_project_has_no_pages(filled, build):
    """Its rows do not exist."""
    assert filled.pages.runs("other", RunFilter(), 10) == Page(())
    assert filled.pages.series("other", SeriesFilter(), 10) == Page(())
    assert filled.pages.epochs("other", SeriesFilter(), 10) == Page(())
    assert filled.pages.attempts("other", AttemptFilter(), 10) == Page(())
    assert filled.pages.trust_events("other", None, 10) == Page(())
    identity = replace(build.IDENTITY, project="other")
    assert filled.pages.metric(MetricQuery(identity, "loss"), 10) == Page(())


@pytest.mark.parametrize(
    ("where", "suites"),
    [
        (SeriesFilter(), ["a", "b", "nightly-8-gpu"]),
        (SeriesFilter(suite="b"), ["b"]),
        (SeriesFilter(search="PPO"), ["a", "b", "nightly-8-gpu"]),
        (SeriesFilter(search="%"), []),
        (SeriesFilter(search="test_"), ["a", "b", "nightly-8-gpu"]),
        (SeriesFilter(search="t_p"), ["a", "b", "nightly-8-gpu"]),
        (SeriesFilter(search="t-p"), []),
        (SeriesFilter(test_path="tests/test_ppo.py", backend="cuda", suite="a"), ["a"]),
        (SeriesFilter(backend="rocm"), []),
    ],
)
def test_series_by_filter(filled, where, suites):
    """A part of the path is taken as it is written, in upper or lower case."""
    assert [one.identity.suite for one in filled.pages.series("default", where, 10).items] == suites


@pytest.mark.parametrize(
    ("where", "numbers"),
    [
        (AttemptFilter(newest=2), [5, 4]),
        (AttemptFilter(ci_run_id=3), [3]),
        (AttemptFilter(test_path="tests/other.py"), []),
        (AttemptFilter(attempt_class="timeout"), []),
    ],
)
def test_attempts_by_filter(filled, where, numbers):
    """Filters as in one list."""
    assert [one.ci_run_id for one in filled.pages.attempts("default", where, 10).items] == numbers
    assert [one.ci_run_id for one in filled.list_attempts("default", where)] == numbers


class TestMetric:
    @pytest.fixture
    def steps(self, store, build):
        """Three runs of two gate specs; step 2 only in the last run."""
        other = build.key("loss", "[0]", 0.25)
        for number in (1, 2, 3):
            by_step = {0: 1.0 * number, 1: 2.0} | ({2: 3.0} if number == 3 else {})
            store.write_run(build.run(number, build.values(by_step), build.values({0: 9.0}, other)))
        return store

    def records(self, store, build, limit=1000, **query):
        asked = MetricQuery(build.IDENTITY, "loss", **query)
        pages = walked(lambda *rest: store.pages.metric(asked, *rest), limit)
        return [record for page in pages for record in value_records(page, asked.step)]

    def test_the_values_of_a_frame(self, steps, build):
        """The same rows in the same order as `metric_history`, at every step and at one."""
        for step in (None, 0, 1, 2, 5):
            frame = steps.metric_history(build.IDENTITY, "loss", step)
            found = self.records(steps, build, 2, step=step)
            assert [(row["run_id"], row["step"], row["value"]) for row in found] == list(
                zip(frame["run_id"], frame["step"], frame["value"], strict=True)
            )

    def test_no_page_is_empty_for_a_rare_step(self, steps, build):
        """Rows without the step are not looked at."""
        page = steps.pages.metric(MetricQuery(build.IDENTITY, "loss", step=2), 1)
        assert (len(page.items), page.next) == (1, None)

    def test_since_is_inclusive(self, steps, build):
        """Runs created at that moment or later."""
        found = self.records(steps, build, since=build.START + timedelta(hours=2), step=1)
        assert len(found) == 2
        assert self.records(steps, build, since=build.START + timedelta(hours=4)) == []

    @pytest.mark.parametrize(("most", "pages"), [(1, 6), (3, 4), (4, 3), (10, 1)])
    def test_a_page_ends_with_many_values(self, steps, build, monkeypatch, most, pages):
        """At the row that reaches the bound, never inside one; every value is on some page."""
        monkeypatch.setattr(metric_rows, "MAX_PAGE_VALUES", most)
        asked = MetricQuery(build.IDENTITY, "loss")
        found = walked(lambda *rest: steps.pages.metric(asked, *rest), 1000)
        assert len(found) == pages
        assert sum(len(row.values) for page in found for row in page) == 10


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("runs", ()),
        ("runs", ("2024-01-01T00:00:00+00:00",)),
        ("runs", ("2024-01-01T00:00:00", 1)),
        ("runs", ("2024-01-01T00:00:00+02:00", 1)),
        ("runs", ("tomorrow", 1)),
        ("runs", (1, 1)),
        ("runs", ("2024-01-01T00:00:00+00:00", "1")),
        ("runs", ("2024-01-01T00:00:00+00:00", True)),
        ("runs", ("2024-01-01T00:00:00+00:00", 2**63)),
        ("series", ("a", "b", 1)),
        ("series", ("a", "b\0", "c")),
        ("epochs", ("1",)),
        ("metric", ("2024-01-01T00:00:00+00:00", 1)),
    ],
)
def test_a_place_that_no_page_gave_out(store, build, name, place):
    """Refused before the database is asked."""
    with pytest.raises(ValueError, match=r"cursor|isoformat"):
        listings(store, build)[name](10, place)


def test_a_limit_below_one(store, build):
    """Refused."""
    for listing in listings(store, build).values():
        with pytest.raises(ValueError, match="limit 0"):
            listing(0)


def test_a_page_by_itself():
    """Its end is the place of the last item shown, told only where more follows."""
    assert page_of([3, 2, 1], 2, str, lambda row: (row,)) == Page(("3", "2"), (2,))
    assert page_of([3, 2], 2, str, lambda row: (row,)) == Page(("3", "2"))
    assert page_of([], 2, str, lambda row: (row,)) == Page(())
    assert page_of([3], 2, str, lambda row: (row,), 2) == Page(("3",), (3,))
    assert read_place(("a", 1), str, int) == ("a", 1)


@pytest.mark.parametrize(
    ("name", "index", "sorted_by_hand"),
    [
        ("runs", "ix_runs_project_created_at_seq", False),
        ("trust events", "trust_events", False),
        ("metric", "ix_packed_series_history", True),
    ],
)
def test_a_page_costs_its_own_rows(tmp_path, build, name, index, sorted_by_hand):
    """SQLite walks an index from the cursor on; only a metric of several gate specs has to be put in order."""
    asked = []
    with open_store(f"sqlite:///{tmp_path / 'plans.db'}", one_shot=False) as store:
        for number in range(1, 6):
            store.write_run(build.run(number))
            store.mark_untrusted(**build.BY, ci_run_id=number)
        listing = listings(store, build)[name]
        place = listing(1).next
        engine = store._connections._engine
        event.listen(engine, "before_cursor_execute", lambda *call: asked.append(call[2:4]))
        listing(1, place)
        with engine.connect() as connection:
            statement, values = next(call for call in asked if call[0].lstrip().startswith(("SELECT", "WITH")))
            plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)]
    assert any(index in line for line in plan)
    assert any("TEMP B-TREE FOR ORDER BY" in line for line in plan) == sorted_by_hand, plan

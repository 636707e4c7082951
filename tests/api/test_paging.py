"""Cursors by themselves: what goes in comes out, for its own query alone."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import URL

from api.paging import MAX_CURSOR_CHARACTERS, Paging
from api.problems import Refused
from store.checks import MAX_IDENTITY_BYTES
from store.stored import SeriesFilter

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)
PLACES = st.lists(st.integers(-(2**63), 2**63 - 1) | TEXTS).map(tuple)
QUERIES = st.builds(SeriesFilter, *[st.none() | TEXTS] * 4)


def paging(query, project="default", path="/v1/series"):
    request = SimpleNamespace(
        url=URL(f"http://localhost{path}?limit=1&a=b"), scope={"route": SimpleNamespace(path=path)}
    )
    return Paging(request, project, query)


@given(QUERIES, PLACES)
def test_a_place_survives(query, place):
    """Whatever stands in it; no cursor, no place."""
    pages = paging(query)
    assert pages.place(pages.cursor(place)) == place
    assert pages.place(pages.cursor(None)) is None


@given(QUERIES, QUERIES, PLACES)
def test_a_cursor_fits_its_own_query_alone(query, other, place):
    """Another filter, project or listing refuses it."""
    cursor = paging(query).cursor(place)
    others = [paging(query, "other"), paging(query, path="/v1/runs")]
    for pages in others + ([paging(other)] if other != query else []):
        with pytest.raises(Refused, match="of another query"):
            pages.place(cursor)


@given(st.text())
def test_any_text_is_refused(text):
    """With 422, whatever it holds."""
    with pytest.raises(Refused) as refusal:
        paging(SeriesFilter()).place(text)
    assert refusal.value.status == 422


def test_the_longest_name_fits_into_a_cursor():
    """The cursor of every series that can be stored is one that is taken."""
    cursor = paging(SeriesFilter()).cursor(("\x01" * (MAX_IDENTITY_BYTES - 20), "cuda", "suite"))
    assert len(cursor) > MAX_CURSOR_CHARACTERS / 2
    assert len(cursor) <= MAX_CURSOR_CHARACTERS


def test_the_link_to_the_following_page():
    """The same query with the cursor in place of another; none after the last page."""
    pages = paging(SeriesFilter())
    assert pages.link("abc") == {"Link": '</v1/series?limit=1&a=b&cursor=abc>; rel="next"'}
    assert pages.link(None) == {}

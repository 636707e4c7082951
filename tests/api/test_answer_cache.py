"""Answers from memory: the one made under the same marker, and never too many."""

from itertools import count

import pytest

from api.answer_cache import AnswerCache


@pytest.fixture
def number():
    """Makes another answer each time, ten bytes long."""
    numbers = count()
    return lambda: b"%010d" % next(numbers)


def test_the_same_marker_the_same_answer(number):
    """Another marker or another question is answered anew, and the old marker is forgotten."""
    cache = AnswerCache()
    assert [cache.answer("q", marker, number) for marker in (1, 1, 2, 2, 1)] == [
        b"0000000000",
        b"0000000000",
        b"0000000001",
        b"0000000001",
        b"0000000002",
    ]
    assert cache.answer("other", 1, number) == b"0000000003"


def test_what_was_asked_for_longest_ago_goes_first(number):
    """By bytes of all answers together; a replaced answer counts no more."""
    cache = AnswerCache(max_bytes=30)
    for question in ("a", "b", "c"):
        cache.answer(question, 1, number)
    cache.answer("b", 2, number)
    kept = cache.answer("a", 1, number)
    cache.answer("d", 1, number)
    assert cache.answer("a", 1, number) == kept == b"0000000000"
    assert cache.answer("c", 1, number) == b"0000000005"


def test_an_answer_that_is_too_large_is_given_and_not_kept(number):
    """It alone would exceed the bound."""
    cache = AnswerCache(max_bytes=9)
    assert cache.answer("q", 1, number) != cache.answer("q", 1, number)


def test_an_error_is_not_kept(number):
    """The next one asks again."""
    cache = AnswerCache()
    with pytest.raises(ZeroDivisionError):
        cache.answer("q", 1, lambda: bytes(1 // 0))
    assert cache.answer("q", 1, number) == b"0000000000"

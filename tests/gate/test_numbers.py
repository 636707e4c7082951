"""Numbers in sentences say what is true, with few digits."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.numbers import written

NUMBERS = st.floats(allow_nan=False)


@given(st.lists(NUMBERS, min_size=1, max_size=5))
def test_written_numbers_keep_their_order(numbers):
    """Every comparison between the numbers is visible in the texts."""
    texts = [float(text) for text in written(*numbers)]
    for number, text in zip(numbers, texts, strict=True):
        for other, other_text in zip(numbers, texts, strict=True):
            assert (number < other, number == other) == (text < other_text, text == other_text)


@given(NUMBERS, st.integers(1, 4))
def test_neighbouring_doubles_are_told_apart(number, ulps):
    """The hardest case: a value one step of a double above its bound."""
    bound, value = number, number
    for _ in range(ulps):
        value = math.nextafter(value, math.inf)
    texts = written(value, bound)
    assert (float(texts[0]) > float(texts[1])) == (value > bound)


@pytest.mark.parametrize(
    ("numbers", "texts"),
    [
        ((0.0414, 0.0202), ("0.0414", "0.0202")),
        ((1234.5, 12.0), ("1234", "12")),
        ((0.10004, 0.1), ("0.10004", "0.1")),
        ((123456789.0, 1.0), ("1.23e+08", "1")),
        ((-0.5, 0.0), ("-0.5", "0")),
    ],
)
def test_no_more_digits_than_needed(numbers, texts):
    """A reader is spared digits that say nothing."""
    assert written(*numbers) == texts

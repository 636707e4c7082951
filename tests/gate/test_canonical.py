"""Canonical JSON: the law of coordinate keys."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.canonical import canonical_json

scalars = st.one_of(
    st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(), st.booleans(), st.none()
)
literals = st.recursive(scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


@given(literals)
def test_a_key_reads_back_as_the_literal_it_was_made_of(literal):
    """Nothing of a literal is lost, its ints stay ints and its floats floats."""
    assert repr(_sorted(json.loads(canonical_json(literal)))) == repr(_sorted(literal))


@given(st.dictionaries(st.text(), scalars))
def test_the_order_of_a_dict_does_not_enter_its_key(literal):
    """Two spellings of one dict are one address."""
    assert canonical_json(dict(reversed(literal.items()))) == canonical_json(literal)


@given(st.lists(st.integers(), min_size=2, unique=True))
def test_the_order_of_a_list_enters_its_key(literal):
    """A list is kept as it was written."""
    assert canonical_json(literal[::-1]) != canonical_json(literal)


@pytest.mark.parametrize(
    ("literal", "key"),
    [
        ("all", '"all"'),
        ([0, 1, 9], "[0,1,9]"),
        ({"reduce": "mean", "last": 20}, '{"last":20,"reduce":"mean"}'),
        ({"rel_up": 0.5, "abs_floor_up": 0.02, "rel_down": 0.8}, '{"abs_floor_up":0.02,"rel_down":0.8,"rel_up":0.5}'),
        ({"rel_up": 1, "rel_down": 1.0}, '{"rel_down":1.0,"rel_up":1}'),
        ([1e-07, 1e22, 100.0, 1e16, -0.0], "[1e-07,1e+22,100.0,1e+16,-0.0]"),
    ],
)
def test_keys_are_written_exactly(literal, key):
    """The stored form never changes: a change would orphan every history."""
    assert canonical_json(literal) == key


@pytest.mark.parametrize("literal", [float("nan"), float("inf"), [float("-inf")]])
def test_what_json_cannot_hold_is_refused(literal):
    """NaN and infinity have no JSON form."""
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(literal)


def _sorted(value):
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value

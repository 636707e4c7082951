"""Shards: every test exactly once, the same on every machine, and close to the best possible balance."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.harness.sharding import Shard, parse_shard, shard_of_each
from gate.errors import ConfigError

COSTS = st.dictionaries(st.text(max_size=4), st.floats(0, 1e6) | st.sampled_from([0.0, 1.0, 300.0]), max_size=40)


def loads(costs, shards, count):
    """What each shard costs, where a cost that is not above 0 counts 1 s."""
    sums = [0.0] * count
    for name, shard in shards.items():
        sums[shard] += costs[name] if costs[name] > 0 else 1.0
    return sums


@given(COSTS, st.integers(1, 12))
def test_every_test_is_in_exactly_one_shard(costs, count):
    """Nothing is lost, nothing runs twice, no shard lies outside of the range."""
    shards = shard_of_each(costs, count)
    assert shards.keys() == costs.keys()
    assert set(shards.values()) <= set(range(count))


@given(COSTS, st.integers(1, 6), st.randoms())
def test_the_order_of_the_input_does_not_matter(costs, count, random):
    """Two jobs that list the files differently cut the same shards."""
    items = list(costs.items())
    random.shuffle(items)
    assert shard_of_each(dict(items), count) == shard_of_each(costs, count)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=7), st.integers(1, 3))
def test_the_largest_shard_is_near_the_optimum(costs, count):
    """At most 4/3 - 1/(3n) of the best of all assignments, which is found by trying every one."""
    named = {str(index): float(cost) for index, cost in enumerate(costs)}
    ways = product(range(count), repeat=len(costs))
    best = min(max(loads(named, dict(zip(named, way, strict=True)), count)) for way in ways)
    largest = max(loads(named, shard_of_each(named, count), count))
    assert largest <= best * (4 / 3 - 1 / (3 * count)) + 1e-9


@pytest.mark.parametrize(
    ("costs", "count", "expected"),
    [
        ({}, 2, {}),
        ({"a": 5.0}, 3, {"a": 0}),
        ({"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0}, 2, {"a": 0, "b": 1, "c": 0, "d": 1}),
        ({"a": 1.0, "b": 2.0, "c": 3.0}, 2, {"c": 0, "b": 1, "a": 1}),
        ({"b": 7.0, "a": 7.0}, 2, {"a": 0, "b": 1}),
        ({"a": 10.0, "b": 0.0, "c": 0.0}, 2, {"a": 0, "b": 1, "c": 1}),
        ({"a": 0.0, "b": 0.5, "c": 0.5}, 2, {"a": 0, "b": 1, "c": 1}),
    ],
)
def test_longest_first_to_the_least_loaded(costs, count, expected):
    """Ties go by name, then to the lower shard; tests without a cost spread."""
    assert shard_of_each(costs, count) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("0/1", Shard(0, 1)), ("1/2", Shard(1, 2)), ("255/256", Shard(255, 256))]
)
def test_shards_count_from_0(text, expected):
    """``i/n`` names the shard with index i of n."""
    assert parse_shard(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2/2",
        "1",
        "1/0",
        "0/0",
        "-1/2",
        "0/257",
        "a/b",
        "0/2/3",
        " 0/2",
        "0/2\n",
        "\u0660/\u0662",
        "1.0/2",
        "9" * 5000 + "/2",
    ],
)
def test_what_names_no_shard_is_refused(text):
    """One line that names the option and shows a right one."""
    with pytest.raises(ConfigError, match=r"^--shard: found .*expected i/n such as 0/2") as caught:
        parse_shard(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 250

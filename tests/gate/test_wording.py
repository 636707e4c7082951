"""Names that were probably meant, and what stands in a source, for messages."""

import ast
import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.snippets import snippet
from gate.wording import clipped, closest

NAMES = st.text("abc-1", max_size=12)
SOURCES = (
    "f(x)",
    "ä + f('größe', [1,\n 2])",
    "x = [\r\n  'ü',\r\n  f(1),\r]\ny = f(2)",
    'x = """a\n\n\x0cb\x1c"""; y = 1',
    "x = 'é' * 3 + '" + "ö" * 500 + "'",
    "x = [\n" + "1,\n" * 300 + "]",
)


@given(NAMES, st.lists(NAMES, max_size=50))
def test_of_a_few_names_the_most_alike(name, valid):
    """As difflib has it."""
    assert closest(name, valid) == next(iter(difflib.get_close_matches(name, valid, n=1)), None)


@pytest.mark.parametrize("number", [0, 77, 9998])
def test_of_many_names_one_that_lacks_a_letter(number):
    """The comparison of all of them is a rough one, and still finds it."""
    valid = [f"label-number-{n}" for n in range(10_000)]
    found = closest(f"label-numbr-{number}", valid)
    assert found is not None
    assert sorted(found) == sorted(f"label-number-{number}")


@pytest.mark.parametrize("name", [None, 3, "a" * 201])
def test_what_is_no_name_is_like_none(name):
    """Neither another type nor a text too long to be one."""
    assert closest(name, ["a" * 200]) is None


@pytest.mark.parametrize("source", SOURCES)
def test_a_snippet_is_what_stands_there(source):
    """As Python's own, which reads the whole source each time, cut for a message."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.expr):
            assert snippet(source, node) == clipped(ast.get_source_segment(source, node) or "")

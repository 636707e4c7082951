"""Marker calls out of source text: what is seen, what is refused, what is no mistake."""

import ast
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.calls import Signature
from gate.errors import SourceError
from gate.source import Source, marker_calls, parse_source

SIGNATURES = {"register": Signature("register", ("time", "suite", "label"), positional=2)}


def read(text):
    return marker_calls(parse_source("test_a.py", text), SIGNATURES)


def values(call):
    return {name: argument.value for name, argument in call.arguments.items()}


def complaints(text):
    calls, misuses = read(text)
    return [str(problem) for problem in (*misuses, *(problem for call in calls for problem in call.problems))]


def test_positional_and_keyword_arguments_are_bound_to_names():
    """A call is one mapping of names to values, whichever way they are given."""
    calls, misuses = read("register(3, 'a', label=None)")
    assert not misuses
    assert [values(call) for call in calls] == [{"time": 3, "suite": "a", "label": None}]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("-1", -1),
        ("+2.5", 2.5),
        ("'a' 'b'", "ab"),
        ("[1, (2, -3)]", [1, (2, -3)]),
        ("{'a': {'b': [True]}}", {"a": {"b": [True]}}),
        ("1e999", float("inf")),
    ],
)
def test_literals_are_read(source, value):
    """Constants, signed numbers and lists, tuples and dicts of them are literals."""
    (call,), _ = read(f"register({source})")
    assert values(call) == {"time": value}


@pytest.mark.parametrize(
    "source",
    ["f'{x}'", "NAME", "2 * 3", "[x for x in y]", "f()", "not True", "-True", "--1", "{1, 2}", "[NAME]", "{**x}",
     "{NAME: 1}", "lambda: 1", "a.b", "a[0]", "1 if a else 2", "(x := 1)", "[*x]"],
)  # fmt: skip
def test_anything_else_is_refused_naming_the_parameter(source):
    """A file never runs to be read, so what is no literal has no value."""
    (call,), _ = read(f"register(1, suite={source})")
    assert "suite" in call.refused
    assert [problem.field for problem in call.problems] == ["suite"]
    assert not call.lacks("suite")


def test_a_key_given_twice_in_a_dict_is_refused():
    """Python would silently keep the last one."""
    assert complaints("register({'a': 1, 'a': 2})") == [
        "test_a.py:1: register time: `'a'` is given twice in one dict; keep one"
    ]


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("register(1, 'a', 'b')", "takes only time, suite by position, found 'b'; write it as name=value"),
        ("register(*x)", "* and ** hide what is given; write each argument out"),
        ("register(**x)", "* and ** hide what is given; write each argument out"),
        ("register(1, time=2)", "time: given twice; keep one"),
        ("register(suite='a', suite='b')", "suite: given twice; keep one"),
        ("register(labell=1)", "labell: unknown argument (did you mean 'label'?); valid: time, suite, label"),
    ],
)
def test_wrong_ways_to_give_arguments(source, complaint):
    """Each names the parameter and what to write instead."""
    (found,) = complaints(source)
    assert found.startswith("test_a.py:1: register")
    assert found.endswith(complaint)


def test_a_mistake_is_named_by_the_line_it_stands_in():
    """A call may span lines; the argument's own line is named."""
    (call,), _ = read("register(\n    1,\n    suite=NAME,\n)")
    assert [problem.line for problem in call.problems] == [3]


def test_what_is_shown_of_a_file_is_printable():
    """A file may hold whatever a terminal obeys; the message says what stands there."""
    (complaint,) = complaints("register(f'\x1b[31m\u202e')")
    assert complaint.endswith("`f'\\x1b[31m\\u202e'` is not a literal; write the value itself")


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("if True:\n    register(1)", 2),
        ("def test():\n    register(1)", 2),
        ("class A:\n    register(1)", 2),
        ("try:\n    register(1)\nexcept E:\n    pass", 2),
        ("with a:\n    register(1)", 2),
        ("driftgate.register(1)", 1),
        ("x = register(1)", 1),
        ("print(register(1))", 1),
        ("register(1)(2)", 1),
        ("@register(1)\ndef f(): pass", 1),
        ("import a\nfrom driftgate import register as r", 2),
        ("pass; x = [register(1)]", 1),
        ("pass\n\x0cif 1: register(1)", 2),
        ("pass\rif 1: register(1)", 2),
        ("pass\r\nif 1:\r\n    register(1)", 3),
        ("x = 1\n\n@a\n@register(1)\nclass A: pass", 4),
        ("é = 1\nif 1: register(1)", 2),
        ("r = register\nr(1)", 1),
        ("calls = [1,\n driftgate.register]", 2),
        ("@register\ndef f(): pass", 1),
        ("list(map(register, (1, 2)))", 1),
        ("register", 1),
        ("x = 1; r = register; y = 2", 1),
        ('"""\nregister(1)\n"""; r = register', 3),
        ("if 1: ｒegister(1)", 1),  # noqa: RUF001 - Python folds the wide letter into the marker's name
    ],
)
def test_a_call_that_would_not_be_seen_is_an_error(source, line):
    """A marker used anywhere but in a call at the top level by its bare name would silently not count."""
    calls, (problem,) = read(source)
    assert not calls
    assert (problem.call, problem.line) == ("register", line)


@pytest.mark.parametrize(
    "source",
    [
        "from driftgate import register",
        "from driftgate import register as register",
        "import driftgate as d",
        "# register(1)",
        "x = 'register(1)'",
        '"""register(1)"""',
        "other_register(1)",
        "def register(*a): pass",
        "try:\n    from driftgate import register\nexcept ImportError:\n    register = None",
        "",
    ],
)
def test_naming_a_marker_is_no_mistake(source):
    """A plain import, a comment, a string say nothing."""
    assert read(source) == ((), ())


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = 1\nif:\n", 2, "not valid Python: invalid syntax"),
        ("a\x00b", 0, "null bytes"),
        ("(" * 1000, 1, "too many nested parentheses"),
        ("-" * 100_000 + "1", 0, "nested too deeply"),
        ("x = a" + ".b" * 100_000, 0, "nested too deeply"),
        ("x = " + "9" * 5000, 1, "4300 digits"),
        ("'\ud800'", 0, "surrogates"),
    ],
)
def test_what_cannot_be_parsed_is_one_problem(text, line, words):
    """Whatever a file holds, reading it ends in one line for a person."""
    with pytest.raises(SourceError) as caught:
        parse_source("test_a.py", text)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("test_a.py", line)
    assert words in problem.text


def test_a_questionable_escape_in_the_file_warns_nobody():
    """The test file's own warnings are not the reader's."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(r"x = '\d'; register(1)")[0]


STATEMENTS = st.sampled_from(
    [
        "register(1)",
        "x = register(1)",
        "register",
        "x = 'register(1)'",
        '"""\nregister(1)\n"""',
        "f'{register(5)}'",
        "x = (\n\nregister)",
        "x = \\\n  register(2)",
        "x = 1",
        "pass  # register(1)",
        "from d import register as r",
        "if 1: d.register(3)",
        "@a\n@register(2)\ndef f(): pass",
        "\n\n@a(\n1)\nclass A:\n  x = 1\n  register(1)",
        "# register(1)",
        "regi\\\n",
        "ｒegister(4)",  # noqa: RUF001 - Python folds the wide letter
        "é = 2",
    ]
)
SEPARATORS = st.sampled_from(["\n", ";", "; ", "\r", "\r\n", "\n\x0c", "\n\n\n", "\\\n", "\n "])
TEXTS = st.lists(st.tuples(STATEMENTS, SEPARATORS), max_size=6).map(lambda pairs: "".join(map("".join, pairs)))


@given(TEXTS)
def test_looking_only_where_a_marker_is_named_finds_what_a_look_at_everything_finds(text):
    """The short cut past statements that name no marker loses no call and no misuse, however lines are made."""
    try:
        source = parse_source("test_a.py", text)
    except SourceError:
        return
    everything = ast.parse(f"{text}\n# é")  # a letter beyond ASCII takes the way that looks at every statement
    assert ast.dump(everything) == ast.dump(source.tree)
    slow = Source("test_a.py", f"{text}\n# é", everything)
    assert marker_calls(source, SIGNATURES) == marker_calls(slow, SIGNATURES)

"""JUnit XML: valid whatever tests say, red exactly where the job is."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.harness.junit import _legal, junit_of, junit_xml, verdict_junit
from driftgate.harness.outcome import JobExit
from driftgate.harness.reported import reported

HOSTILE = [
    "\x00\x1b[31m",
    "]]><evil/>",
    "<!--",
    "&amp;\"'",
    "\ud800\ufffe\uffff",
    "a\nb\r\tc",
    "é\u202e😀",
    "::error::x",
]


def parsed(document):
    """The root element of what we have written ourselves."""
    return ET.fromstring(document)  # noqa: S314 - nothing from elsewhere


def cases(document):
    """Name to how it ended, for every test case."""
    root = parsed(document)
    return {
        case.get("name"): next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")
        for case in root.iter("testcase")
    }


def test_what_becomes_of_tests(made):
    """Failed and timed out are failures, interrupted an error, not run and skipped are skipped."""
    result = made.run(
        made.report("a", made.attempt(kind="fail")),
        made.report("b", made.attempt(kind="timeout")),
        made.report("c", made.attempt(kind="interrupted")),
        made.report("d", judged=made.unjudged()),
        made.report("e", made.attempt(kind="fail"), made.attempt(2)),
        not_run=["f"],
        skipped=[("g", "disabled: later")],
    )
    assert cases(junit_xml(result)) == {
        "a": "failure",
        "b": "failure",
        "c": "error",
        "d": "passed",
        "e": "passed",
        "gate: e": "passed",
        "f": "skipped",
        "g": "skipped",
    }


@pytest.mark.parametrize(
    ("outcome", "code", "ended"),
    [
        ("trusted", JobExit.FINE, "passed"),
        ("not_trusted", JobExit.FINE, "skipped"),
        ("not_trusted", JobExit.REJECTED, "failure"),
        ("not_judged", JobExit.FINE, "skipped"),
        ("not_judged", JobExit.UNAVAILABLE, "error"),
        ("not_judged", JobExit.UNUSABLE, "error"),
    ],
)
def test_what_becomes_of_verdicts(made, outcome, code, ended):
    """Red where it fails the job, and in shadow never: from the hook and from a run alike."""
    verdict = {
        "trusted": made.verdict(),
        "not_trusted": made.verdict(values=(9.0,)),
        "not_judged": made.unjudged(reason="no store"),
    }[outcome]
    name = "gate: tests/e2e/test_a.py"
    assert cases(verdict_junit(verdict, code)) == {name: ended}
    assert cases(junit_xml(made.run(made.report(judged=verdict, exit=code))))[name] == ended


def test_suites_add_up(made):
    """A test suite for each suite with its numbers and its time, and the sum of all."""
    result = made.run(
        made.report("a", made.attempt(kind="fail"), suite="stage-b"),
        made.report("b", judged=made.unjudged()),
        skipped=[("c", "disabled: later")],
    )
    root = parsed(junit_xml(result))
    numbers = ("tests", "failures", "errors", "skipped", "time")
    assert [root.get(name) for name in numbers] == ["3", "1", "0", "1", "24.680"]
    assert {suite.get("name"): suite.get("tests") for suite in root} == {"stage-b": "1", made.SUITE: "2"}


def test_a_failure_says_why(made):
    """Its class, how each attempt ended, and the last lines of output."""
    document = junit_xml(made.run(made.report("a", made.attempt(kind="timeout"), made.attempt(2, "fail"))))
    root = parsed(document)
    failure = root.find(".//failure")
    assert failure.attrib == {"type": "fail", "message": "fail (exit code 1): AssertionError: 0.12"}
    assert failure.text.endswith("\nAssertionError: 0.12")
    properties = {found.get("name"): found.get("value") for found in root.iter("property")}
    assert (properties["attempts"], properties["attempt 1"]) == ("2", "timeout (timed out after 1200 s)")


def test_a_fork_is_labelled(made):
    """NOT EVIDENCE stands at every suite."""
    assert b"NOT EVIDENCE" in junit_xml(made.run(made.report(), fork=True))
    assert b"NOT EVIDENCE" not in junit_xml(made.run(made.report()))


def test_output_is_bounded(made):
    """However much a test printed."""
    lines = ["x" * 5000] * 200
    assert len(junit_xml(made.run(made.report("a", made.attempt(kind="fail", lines=lines))))) < 10_000


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_stay_valid(made, words):
    """Names, reasons and output of any kind: the document parses, and nothing in it is an element."""
    result = made.run(
        made.report(words, made.attempt(kind="fail", lines=[words], detail=words), suite=words),
        made.report("b", judged=made.unjudged(reason=words)),
        skipped=[(words, words)],
        not_run=[words],
    )
    root = parsed(junit_xml(result))
    assert {element.tag for element in root.iter()} <= {
        "testsuites", "testsuite", "testcase", "properties", "property", "failure", "skipped", "system-out",
    }  # fmt: skip


@given(st.text(st.characters()))
def test_any_text_can_be_written(text):
    """What is legal stays as it is, the rest is shown."""
    element = ET.Element("a")
    element.text = _legal(text)
    back = parsed(ET.tostring(element, encoding="utf-8")).text or ""
    assert back == _legal(text).replace("\r\n", "\n").replace("\r", "\n")


def test_several_runs_are_one_document(made):
    """Shards of a suite come together in it."""
    runs = [reported(made.run(made.report(name, judged=made.unjudged()))) for name in ("a", "b")]
    assert cases(junit_of(runs)) == {"a": "passed", "b": "passed"}

"""One rerun for a nightly that failed, then its outcome: the whole table of transitions."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.harness.rerun_policy import (
    CONCLUSIONS,
    SCHEDULED,
    WATCHED_EVENTS,
    Ended,
    Ending,
    RerunDecision,
    decide_rerun,
)
from driftgate.harness.rerun_report import MOST_JOBS, decision_json, decision_markdown, decision_outputs, decision_text
from gate.errors import ConfigError

EVENTS = (SCHEDULED, *WATCHED_EVENTS)
RERUN, FAIL, POST, NONE = ("rerun", False), ("post", True), ("post", False), ("none", False)
TABLE = {
    # (scheduled, ended): (attempt 1, attempt 1 refused, attempt 2, attempt 2 with a job that failed, attempt 3)
    (True, Ended.PASSED): (NONE, NONE, POST, FAIL, POST),
    (True, Ended.FAILED): (RERUN, FAIL, FAIL, FAIL, FAIL),
    (True, Ended.CANCELLED): (POST, POST, POST, POST, POST),
    (True, Ended.SKIPPED): (NONE, NONE, NONE, NONE, NONE),
    (False, Ended.PASSED): (POST, POST, POST, POST, POST),
    (False, Ended.FAILED): (POST, POST, POST, POST, POST),
    (False, Ended.CANCELLED): (POST, POST, POST, POST, POST),
    (False, Ended.SKIPPED): (NONE, NONE, NONE, NONE, NONE),
}
COLUMNS = (
    {"attempt": 1},
    {"attempt": 1, "refused": True},
    {"attempt": 2},
    {"attempt": 2, "failed": frozenset("a")},
    {"attempt": 3},
)
TRANSITIONS = [
    (Ending(event=event, conclusion=conclusion, **column), TABLE[event == SCHEDULED, ended][index])
    for event, (conclusion, ended), (index, column) in itertools.product(
        EVENTS, CONCLUSIONS.items(), enumerate(COLUMNS)
    )
]
ENDINGS = st.builds(
    Ending,
    attempt=st.integers(1, 5),
    event=st.sampled_from((SCHEDULED, SCHEDULED, *WATCHED_EVENTS)),
    conclusion=st.sampled_from(sorted(CONCLUSIONS)),
    failed=st.frozensets(st.sampled_from("abcd")),
    failed_before=st.none() | st.frozensets(st.sampled_from("abcd")),
    refused=st.booleans(),
)


def ended(attempt, failed, before, conclusion="failure", event=SCHEDULED):
    known = None if before is None else frozenset(before)
    return Ending(attempt, event, conclusion, frozenset(failed), known)


@pytest.mark.parametrize(("ending", "expected"), TRANSITIONS, ids=lambda value: "-".join(map(str, (value.attempt, value.event, value.conclusion))) if isinstance(value, Ending) else "")  # fmt: skip
def test_every_transition(ending, expected):
    """Every event and conclusion of GitHub and GitLab, at each attempt, refused or not, has its row in the table."""
    decision = decide_rerun(ending)
    assert (decision.action, decision.fail) == expected
    assert decision.reason


@pytest.mark.parametrize(
    ("ending", "failed", "flaky", "newly_failing"),
    [
        (ended(1, "ab", None), "ab", "", ""),
        (ended(1, "ab", "c"), "ab", "", ""),
        (ended(2, "ab", "ab"), "ab", "", ""),
        (ended(2, "a", "ab"), "a", "b", ""),
        (ended(2, "ac", "ab"), "ac", "b", "c"),
        (ended(2, "", "ab", "success"), "", "ab", ""),
        (ended(2, "a", "ab", "success"), "a", "b", ""),
        (ended(2, "", "", "success"), "", "", ""),
        (ended(2, "", "ab"), "", "ab", ""),
        (ended(2, "b", "a", "cancelled"), "b", "", "b"),
        (ended(2, "", "a", "skipped"), "", "", ""),
        (ended(2, "ba", None), "ab", "", ""),
        (ended(3, "b", "c"), "b", "c", "b"),
        (ended(2, "a", "b", event="workflow_dispatch"), "a", "b", "a"),
    ],
)
def test_flaky_and_real_are_apart(ending, failed, flaky, newly_failing):
    """Failed then passed is flaky; a job cut short is not; without the jobs of the attempt before nothing is claimed."""
    decision = decide_rerun(ending)
    assert (decision.failed, decision.flaky, decision.newly_failing) == (
        tuple(failed),
        tuple(flaky),
        tuple(newly_failing),
    )


@given(ENDINGS)
def test_laws(ending):
    """One rerun at most, of a failed schedule only, and silently; what fails is posted; no job is both failed and flaky."""
    decision = decide_rerun(ending)
    if decision.action == "rerun":
        assert (ending.attempt, ending.event, ending.refused) == (1, SCHEDULED, False)
        assert ending.ended is Ended.FAILED
        assert not decision.fail
    if decision.fail:
        assert decision.action == "post"
        assert ending.event == SCHEDULED
    assert not set(decision.failed) & set(decision.flaky)
    assert set(decision.newly_failing) <= set(decision.failed) == ending.failed
    assert set(decision.flaky) <= (ending.failed_before or frozenset())
    if ending.attempt == 1:
        assert not decision.flaky
        assert not decision.newly_failing


@given(ENDINGS)
def test_a_refusal_is_answered_and_changes_nothing_else(ending):
    """After a refusal nothing is asked for again: the notifier ends."""
    asked = decide_rerun(Ending(ending.attempt, ending.event, ending.conclusion, ending.failed, ending.failed_before))
    refused = decide_rerun(
        Ending(ending.attempt, ending.event, ending.conclusion, ending.failed, ending.failed_before, refused=True)
    )
    assert refused.action != "rerun"
    assert refused == asked or asked.action == "rerun"


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((0, "schedule", "failure"), "--attempt: found 0; attempts are counted from 1"),
        ((-1, "schedule", "failure"), "--attempt: found -1"),
        ((1, "scheduled", "failure"), "--event: unknown 'scheduled' (did you mean 'schedule'?); valid: schedule, "),
        ((1, "", "failure"), "--event: unknown ''"),
        ((1, "schedule", "failing"), "--conclusion: unknown 'failing'"),
        ((1, "schedule", "fail\nure"), r"--conclusion: unknown 'fail\nure' (did you mean 'failure'?)"),
    ],
)
def test_what_no_ci_says_is_refused(values, words):
    """One line names the option and what is valid."""
    with pytest.raises(ConfigError) as caught:
        Ending(*values)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_text_and_the_post_list_each_job_once():
    """Under still failing, newly failing or flaky."""
    ending = ended(2, "ac", "ab")
    text = decision_text(decide_rerun(ending))
    assert text.splitlines() == [
        "rerun-policy: post, then fail (attempt 2 failed: no further rerun)",
        "  still failing: a",
        "  newly failing: c",
        "  flaky: failed, then passed: b",
    ]
    body = decision_markdown(ending, decide_rerun(ending), "https://ci.example.org/runs/1")
    assert body.startswith("### Pipeline: attempt 2 FAILED\n")
    assert body.index("**still failing**") < body.index("`a`") < body.index("**newly failing**") < body.index("`c`")
    assert body.index("`c`") < body.index("**flaky: failed, then passed**") < body.index("`b`")
    assert "Run: `https://ci.example.org/runs/1`" in body


def test_a_post_says_where_the_attempt_before_is_not_known():
    """Nobody takes an unknown for "nothing was flaky"."""
    ending = ended(2, "a", None)
    assert "flaky and new failures cannot be told apart" in decision_markdown(ending, decide_rerun(ending))


@pytest.mark.parametrize(
    "name", ["`x` **b**", "a\n::error::b", "\x1b[31mred", "<img src=x>", "@all | [l](http://x)", "ü" * 3000]
)
def test_a_hostile_job_name_is_only_text(name):
    """No markup, no workflow command, no control character, no flood."""
    ending = ended(1, [name], None)
    for text in (decision_text(decide_rerun(ending)), decision_markdown(ending, decide_rerun(ending))):
        assert text.isascii()
        assert all(character.isprintable() or character == "\n" for character in text)
        assert not [line for line in text.splitlines() if line.startswith("::")]
        assert len(text) < 4000
    entry = decision_markdown(ending, decide_rerun(ending)).splitlines()[6]
    assert entry.startswith("- `")
    assert entry.endswith("`")


def test_a_post_is_bounded():
    """Of a thousand failed jobs a hundred are named, the others counted."""
    ending = ended(1, [f"job {number}" for number in range(1000)], None)
    body = decision_markdown(ending, decide_rerun(ending))
    assert body.count("- `job") == MOST_JOBS
    assert "- and 900 more" in body


def test_machines_get_the_same():
    """JSON, and outputs of one line each whatever a job is called."""
    decision = RerunDecision("post", fail=True, failed=("a\nb",), flaky=("c",), newly_failing=("a\nb",), reason="r")
    document = decision_json(decision)
    assert document == {
        "schema": 1, "action": "post", "fail": True, "reason": "r", "failed": ["a\nb"], "flaky": ["c"], "newly_failing": ["a\nb"],
    }  # fmt: skip
    outputs = decision_outputs(decision)
    assert not [value for value in outputs.values() if "\n" in value]
    assert {name: json.loads(value) if name != "action" else value for name, value in outputs.items()} == {
        name: value for name, value in document.items() if name not in ("schema", "reason")
    }

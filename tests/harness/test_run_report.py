"""The report on a run: what a reader sees first, what it withstands, and that it can be read back."""

import re

import pytest

from driftgate.harness.failure_class import FailureClass
from driftgate.harness.fitted import CUT, Block, fitted
from driftgate.harness.outcome import JobExit
from driftgate.harness.plan_notice import PlanNotice
from driftgate.harness.report_json import read_run, run_json
from driftgate.harness.reported import reported
from driftgate.harness.run_markdown import duration
from driftgate.harness.run_report import as_json, as_markdown, json_bytes
from gate.errors import DriftgateError
from gate.verdict import Notice

HOSTILE = [
    "::error::owned",
    "\n::error::owned",
    "\r\n::endgroup::",
    "##[error]owned",
    "`code` **bold** | cell",
    "a \\| b \\",
    "</details><script>alert(1)</script>",
    "<!-- driftgate:ci-report x -->",
    "[x](http://evil.example) ![y](http://evil.example/y.png)",
    "\x1b[31mred",
    "@everyone #1 fixes #2",
    "r\u00e9ward\u202e",
    "``` `` `",
    "````\n# heading",
    "x" * 100_000,
]


def mixed(made, **more):
    return made.run(
        made.report("tests/e2e/test_quiet.py"),
        made.drifted(),
        made.report("tests/e2e/test_a.py", made.attempt(kind="timeout"), made.attempt(2, "fail")),
        made.report(
            "tests/e2e/test_flaky.py", made.attempt(kind="fail", lines=["x", "OSError: gone", ""]), made.attempt(2)
        ),
        made.report("tests/e2e/test_plain.py", judged=made.unjudged()),
        made.report("tests/e2e/test_lost.py", judged=made.unjudged(reason="the store cannot be reached")),
        **more,
    )


def test_the_first_line_counts_what_needs_a_look(made):
    """Bad news first, each only where there is some; how many passed always."""
    assert as_markdown(mixed(made)).splitlines()[0] == (
        "## driftgate: 1 failed, 1 not trusted, 1 not judged, 1 passed only on retry, 5 passed"
    )
    assert as_markdown(made.run(made.report())).splitlines()[0] == "## driftgate: 1 passed"
    assert as_markdown(made.run(interrupted=True)).splitlines()[0] == "## driftgate: 0 passed (the run was interrupted)"


def test_what_needs_a_look_comes_first(made):
    """Failed, distrusted, unjudged: in the table and at length; what is quiet is folded away."""
    text = as_markdown(mixed(made))
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert [re.findall(r"test_\w+", row)[0] for row in rows[:3]] == ["test_a", "test_b", "test_lost"]
    titles = re.findall(r"^### (.*)$", text, re.MULTILINE)
    assert [title.split(":")[0] for title in titles] == ["FAILED", "NOT TRUSTED", "NOT JUDGED", "Passed only on retry"]
    folded = text[text.index("3 without deviations") :]
    assert all(f"test_{name}.py" in folded for name in ("quiet", "flaky", "plain"))


def test_a_row_says_what_to_know(made):
    """The error a test ended with, its worst deviation, or why it was not judged."""
    text = as_markdown(mixed(made))
    assert "**FAILED**, 24.7 s | `exit code 1: AssertionError: 0.12` |" in text
    assert "**NOT TRUSTED**, 12.3 s | `train/ppo_kl step 1: 2 is 10 bands above" in text
    assert "| `gate: NOT JUDGED (the store cannot be reached)` |" in text


def test_a_failed_test_shows_its_attempts_and_its_last_lines(made):
    """Each attempt with its class, and the end of the last one's output as it was."""
    text = as_markdown(mixed(made))
    assert "- attempt 1: `timeout (timed out after 1200 s)` after 12.3 s\n" in text
    assert "- attempt 2: `fail (exit code 1)` after 12.3 s: `AssertionError: 0.12`\n" in text
    assert "```text\nstep 4: reward 0.12\nTraceback (most recent call last):\n" in text


def test_what_a_retry_hid_is_told(made):
    """The failed attempts of tests that passed in the end have a section of their own."""
    text = as_markdown(mixed(made))
    hidden = text[text.index("### Passed only on retry") :]
    assert "- `tests/e2e/test_flaky.py` in `stage-c-8-gpu-h100` passed on attempt 2\n" in hidden
    assert "  - attempt 1: `fail (exit code 1)` after 12.3 s: `OSError: gone`\n" in hidden
    assert "Passed only on retry" not in as_markdown(made.run(made.report()))


def test_what_changed_since_the_last_trusted_run_is_told(made):
    """It stands with the deviations of a test that is not trusted."""
    assert "against the last trusted run r1: changed: image (sha256:1 -> sha256:2); the same: code" in as_markdown(
        mixed(made)
    )


def test_nothing_is_left_out(made):
    """Skipped tests with their reason, those not run, remarks and warnings of quiet tests, why nothing was written."""
    warned = made.verdict(warnings=(Notice("band_blind", "wide"),))
    result = made.run(
        made.report(judged=warned, remarks=("attempts were not stored",)),
        skipped=[("tests/e2e/test_s.py", "disabled: flaky | see 12")],
        not_run=["tests/e2e/test_n.py"],
        notices=[PlanNotice("unknown_label", "label run-ci-lorra: unknown")],
        fork=True,
    )
    text = as_markdown(result)
    assert "- `tests/e2e/test_s.py` in `stage-c-8-gpu-h100`: `disabled: flaky | see 12`" in text
    assert "### Not run\n\n- `tests/e2e/test_n.py` in" in text
    assert ": warning `band_blind: wide`" in text
    assert ": `attempts were not stored`" in text
    assert "\n- warning `label run-ci-lorra: unknown`\n" in text
    assert "nothing was written: `it comes from a fork`" in text


def test_a_run_that_could_not_be_stored_needs_a_look(made):
    """The verdict stands, but tomorrow's baseline lacks this run."""
    lost = made.verdict(warnings=(Notice("not_written", "the run was not stored: disk full"),))
    text = as_markdown(made.run(made.report(judged=lost, exit=JobExit.UNAVAILABLE)))
    assert "| **NOT STORED**, 12.3 s, fails the job | `the run was not stored: disk full` |" in text
    assert "not_written: the run was not stored: disk full" in text


@pytest.mark.parametrize(("fork", "labelled"), [(True, True), (False, False), (None, False)])
def test_a_fork_is_labelled(made, fork, labelled):
    """NOT EVIDENCE in Markdown and JSON alike, above everything else."""
    result = made.run(made.report(), fork=fork)
    assert ("NOT EVIDENCE" in as_markdown(result).split("|")[0]) is labelled
    document = as_json(result)
    assert (document["fork"], bool(document["not_evidence"])) == (fork, labelled)


def test_where_the_run_comes_from(made):
    """Commit, CI run and shard, as far as they are known."""
    text = as_markdown(made.run(made.report(), shard="1/4", pr=12))
    assert "commit `f00ba4000000`, pull request `12`, CI run `7`, attempt `1`, shard `1/4`; writes the baseline" in text


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_words_are_no_markup(made, name):
    """A path, suite, metric, output line, reason or label named like markup stays inside code, and tables stay whole."""
    result = made.run(
        made.report(name, made.attempt(kind="fail", lines=[name, "", name], detail=name)),
        made.report(
            "b",
            made.attempt(kind="fail", lines=[name]),
            made.attempt(2),
            judged=made.verdict(values=(9.0,), metric=name),
        ),
        made.report("c", suite=name, remarks=(name,), judged=made.unjudged(reason=name)),
        skipped=[(name, name)],
        not_run=[name],
        ref=name,
        shard=name,
        notices=[PlanNotice(name, name)],
    )
    text = as_markdown(result)
    assert re.fullmatch(r"[ -~\n]*", text)
    assert len(text) < 60_000
    for line in unfenced(text):
        outside = re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", line)
        assert re.fullmatch(r"(</?details>|</?summary>|[A-Za-z0-9 #*:;(),.|-])*", outside), line
    for row in (line for line in text.splitlines() if line.startswith("| ")):
        assert len(re.findall(r"(?<!\\)\|", row)) == 5, row


def unfenced(text):
    """The lines outside of fenced blocks, each of which must end as it began."""
    fence = None
    for line in text.splitlines():
        if fence is None and line.startswith("```"):
            fence = re.match("`+", line).group()
        elif fence is not None:
            fence = None if line.startswith(fence) else fence
        else:
            yield line
    assert fence is None


@pytest.mark.parametrize("most", [1_500, 20_000, 900_000])
def test_a_report_stays_under_its_cap(made, most):
    """However many tests there are; what is open is closed, what is cut is told."""
    quiet = made.verdict()
    failed = [made.report(f"tests/{n}.py", made.attempt(kind="fail", lines=["y" * 300] * 20)) for n in range(300)]
    passed = [made.report(f"tests/q{n}.py", judged=quiet) for n in range(2000)]
    text = as_markdown(made.run(*failed, *passed), max_bytes=most)
    assert most / 3 < len(text.encode()) <= most
    assert text.endswith(f"{CUT}\n")
    assert text.count("<details>") == text.count("</details>")
    list(unfenced(text))


def test_blocks_are_cut_between_lines():
    """Head and tail stay together; a block without room for them is left out; a cut is told once."""
    block = Block(("head",), tuple("abc" * 3), ("tail",))
    assert fitted([block], 1_000) == "head\na\nb\nc\na\nb\nc\na\nb\nc\ntail\n"
    assert fitted([block, Block(("x" * 50,))], len(CUT) + 1 + 14) == f"head\na\nb\ntail\n{CUT}\n"
    assert fitted([block], len(CUT) + 1 + 14) == f"head\na\nb\ntail\n{CUT}\n"
    assert fitted([], 1_000) == ""


@pytest.mark.parametrize(("seconds", "text"), [(0.04, "0.0 s"), (59.94, "59.9 s"), (60, "1m 00s"), (3725, "1h 02m")])
def test_durations_are_short(seconds, text):
    """As people say them."""
    assert duration(seconds) == text


def test_the_document_reads_back(made):
    """What another job left is the run again, with all that its report tells."""
    document = as_json(mixed(made, skipped=[("s", "disabled: x")], not_run=["n"]))
    again = read_run(document)
    assert as_json_of(again) == json_bytes(document)
    assert [test.severity for test in again.tests] == [test.severity for test in reported(mixed(made)).tests]


def as_json_of(run):
    return json_bytes(run_json(run))


def test_the_document_carries_the_attempts(made):
    """Class, failure and the last lines of those that did not pass; a passing one's output is nobody's concern."""
    result = made.run(made.report("a", made.attempt(kind="fail"), made.attempt(2, lines=["secret"])))
    (row,) = as_json(result)["tests"]
    first, second = row["attempts"]
    assert (first["class"], first["failure"], first["last_lines"][-1]) == ("fail", None, "AssertionError: 0.12")
    assert (second["class"], second["last_lines"], row["passed_on_retry"]) == ("pass", [], True)
    assert as_json(result)["provenance"]["commit_sha"] == "f00ba4" + "0" * 34


def test_the_class_of_a_failure_is_told(made):
    """With the exception's line, whatever the log ends with; a class that adds nothing is left out."""
    lines = ["AssertionError: 0.12", "===== 1 failed in 2.1s ====="]
    cases = {
        "assertion": "`fail, assertion (exit code 1)` after 12.3 s: `AssertionError: 0.12`",
        "unknown": "`fail (exit code 1)` after 12.3 s: `AssertionError: 0.12`",
    }
    for name, told in cases.items():
        failure = FailureClass(name, retry=False, message="AssertionError: 0.12")
        result = made.run(made.report("a", made.attempt(kind="fail", lines=lines, failure=failure)))
        assert f"- attempt 1: {told}\n" in as_markdown(result)
        (row,) = as_json(result)["tests"][0]["attempts"]
        assert (row["failure"], row["error"]) == (name, "AssertionError: 0.12")
    late = made.attempt(kind="timeout", failure=FailureClass("timeout", retry=True))
    assert "`timeout (timed out after 1200 s)`" in as_markdown(made.run(made.report("a", late)))


def damage(*path, value):
    def change(document):
        at = document
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        damage("schema", value=2),
        damage("tests", value=None),
        damage("tests", value=[1]),
        damage("exit", value=77),
        damage("provenance", value=[]),
        damage("provenance", "packages", value={"torch": 2}),
        damage("provenance", "ci_run_attempt", value="2"),
        damage("provenance", "fork", value="no"),
        damage("provenance", "tested_sha", value=7),
        damage("tests", 0, "attempts", value=[]),
        damage("tests", 0, "attempts", 0, "started_at", value="yesterday"),
        damage("tests", 0, "series", "suite", value=8),
        damage("tests", 0, "verdict", value={}),
        damage("tests", 0, "verdict", "series", "test_path", value="another"),
        damage("skipped", value=[{}]),
    ],
)
def test_what_is_no_report_is_refused(made, change):
    """A document of another shape is an error of one kind, whatever is wrong with it."""
    document = as_json(made.run(made.report()))
    read_run(document)
    change(document)
    with pytest.raises(DriftgateError):
        read_run(document)


@pytest.mark.parametrize("value", [None, [], "text", 7, {}])
def test_what_is_no_document_is_refused(value):
    """JSON that is no report at all."""
    with pytest.raises(DriftgateError, match="is no report of driftgate run"):
        read_run(value)

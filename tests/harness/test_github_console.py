"""Logs on CI: groups and annotations of our own, and nothing a test says is a command."""

import re

import pytest

from driftgate.harness.annotations import Annotation, annotations_of, line_of_failure
from driftgate.harness.ci_console import GitLabConsole, PlainConsole, console_of
from driftgate.harness.github_console import GitHubConsole, escaped, escaped_property, new_token
from driftgate.harness.outcome import JobExit
from driftgate.harness.reported import reported_test
from gate.verdict import Notice

HOSTILE = [
    "::error::owned",
    "a\n::error::owned",
    "a\r::endgroup::",
    "##[error]x",
    "a,title=b::c",
    "100%0A::x",
    "\x1b[2J",
    "\u202e",
]


class Runner:
    """What the log reader of GitHub Actions does with lines, as far as commands go."""

    def __init__(self):
        self.obeyed = []
        self.stopped = None

    def read(self, text):
        for line in re.split("\r\n|\r|\n", text):
            found = re.match(r"\s*::([^ :]+)(?: ([^:]*))?::(.*)", line) or re.match(
                r"\s*##\[([^ \]]+)( [^\]]*)?\](.*)", line
            )
            if found and self.stopped is not None:
                if found[1] == self.stopped:
                    self.stopped = None
            elif found and found[1] == "stop-commands":
                self.stopped = found[3]
            elif found:
                self.obeyed.append((found[1], properties(found[2] or ""), unescaped(found[3])))


def properties(text):
    pairs = (pair.split("=", 1) for pair in text.split(",") if "=" in pair)
    return {name.strip(): unescaped(value).replace("%3A", ":").replace("%2C", ",") for name, value in pairs}


def unescaped(text):
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


@pytest.mark.parametrize(
    ("text", "as_message", "as_property"),
    [
        ("plain", "plain", "plain"),
        ("50%", "50%25", "50%25"),
        ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"),
        ("a: b, c", "a: b, c", "a%3A b%2C c"),
        ("%0A", "%250A", "%250A"),
    ],
)
def test_escaping(text, as_message, as_property):
    """A message stays one line; a property ends neither itself nor the others."""
    assert (escaped(text), escaped_property(text)) == (as_message, as_property)


@pytest.mark.parametrize("output", [*HOSTILE, "::stop-commands::mine\n::mine::\n::error::x", "::set-env name=A::b"])
def test_a_tests_output_is_obeyed_by_nobody(output):
    """Between the lines of a group no command counts, whatever a test prints; after it they count again."""
    console, runner = GitHubConsole(), Runner()
    runner.read(f"{console.opened('[1/2] test_a.py')}{output}\n{console.closed()}::notice::after")
    assert runner.obeyed == [("group", {}, "[1/2] test_a.py"), ("endgroup", {}, ""), ("notice", {}, "after")]


def test_without_the_token_a_test_would_be_obeyed():
    """The negative control: this reader does obey what stands in no group."""
    runner = Runner()
    runner.read("::error::owned\n##[warning]me too")
    assert [command for command, _, _ in runner.obeyed] == ["error", "warning"]


def test_tokens_are_never_the_same():
    """One for each attempt, long, and of nothing that would be a command."""
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(re.fullmatch("[0-9a-f]{32}", token) for token in tokens)
    console = GitHubConsole()
    assert console.opened("a").splitlines()[1] != console.opened("a").splitlines()[1]


def test_closing_what_is_not_open_says_nothing():
    """Closing twice, or before anything began, writes no line."""
    for console in (GitHubConsole(), GitLabConsole(), PlainConsole()):
        assert console.closed() == ""
        console.opened("a")
        console.closed()
        assert console.closed() == ""


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_titles_and_annotations(words):
    """One command comes out, with the file, line and title that went in as printable text."""
    runner = Runner()
    console = GitHubConsole()
    runner.read(console.annotated(Annotation("error", words, 7, words, (words, words))))
    ((command, facts, message),) = runner.obeyed
    assert (command, facts["line"], message.count("\n")) == ("error", "7", 1)
    assert facts["file"] == facts["title"] == message.split("\n")[0]
    assert re.fullmatch("[ -~]+", facts["file"])
    runner.read(console.opened(words) + console.closed())
    assert [command for command, _, _ in runner.obeyed] == ["error", "group", "endgroup"]


def test_gitlab_sections():
    """Collapsed, named by a random word, begun and ended with the time."""
    console = GitLabConsole(clock=lambda: 1700000000.4, token=lambda: "t0ken")
    assert console.opened("[1/2] a\nb") == (
        "\x1b[0Ksection_start:1700000000:driftgate_t0ken[collapsed=true]\r\x1b[0Kdriftgate: [1/2] a\\nb\n"
    )
    assert console.closed() == "\x1b[0Ksection_end:1700000000:driftgate_t0ken\r\x1b[0K\n"


@pytest.mark.parametrize(
    ("environment", "kind"),
    [
        ({"GITHUB_ACTIONS": "true"}, GitHubConsole),
        ({"GITLAB_CI": "true"}, GitLabConsole),
        ({"CI": "true"}, PlainConsole),
        ({"GITHUB_ACTIONS": "1"}, PlainConsole),
        ({}, PlainConsole),
    ],
)
def test_who_reads_the_log(environment, kind):
    """Only GitHub and GitLab themselves get their marks."""
    assert isinstance(console_of(environment), kind)


def marks(report):
    return [(mark.level, mark.title.split(" in ")[0], mark.line) for mark in annotations_of(reported_test(report))]


def test_what_is_annotated(made):
    """Red is an error, what is minded in shadow a warning, a pass on retry a notice, the rest is left alone."""
    place = made.identity()
    failed, passed = made.attempt(kind="fail"), made.attempt(2)
    lost = made.verdict(warnings=(Notice("not_written", "disk full"),))
    cases = [
        (made.report(), []),
        (made.report(judged=made.unjudged()), []),
        (made.report(place.test_path, failed), [("error", "failed", 41)]),
        (made.report(place.test_path, made.attempt(kind="timeout")), [("error", "failed", 1)]),
        (made.report(place.test_path, made.attempt(kind="interrupted")), []),
        (made.drifted(), [("warning", "not trusted", 1)]),
        (made.drifted(exit=JobExit.REJECTED), [("error", "not trusted", 1)]),
        (made.report(judged=made.unjudged(reason="no store")), [("warning", "not judged", 1)]),
        (made.report(judged=made.unjudged(reason="no store"), exit=JobExit.UNAVAILABLE), [("error", "not judged", 1)]),
        (made.report(judged=lost), [("warning", "not stored", 1)]),
        (made.report(place.test_path, failed, passed), [("notice", "passed only on attempt 2", 1)]),
    ]
    assert [marks(report) for report, _ in cases] == [expected for _, expected in cases]


def test_an_annotation_says_what_to_know(made):
    """How a failed test ended with its error; of a distrusted one the verdict and its worst deviations."""
    (failed,) = annotations_of(reported_test(made.report("tests/e2e/test_a.py", made.attempt(kind="fail"))))
    assert failed.lines == ("attempt 1: fail (exit code 1): AssertionError: 0.12",)
    (minded,) = annotations_of(reported_test(made.drifted()))
    assert minded.lines[0] == "gate: NOT TRUSTED (3 of 3 compared)"
    assert minded.lines[2].startswith("train/ppo_kl step 1: 2 is 10 bands above")


@pytest.mark.parametrize(
    ("lines", "line"),
    [
        (['  File "/x/tests/test_a.py", line 3, in <module>', '  File "/x/lib.py", line 9, in f'], 3),
        (['  File "/x/tests/test_a.py", line 3, in a', '  File "/x/tests/test_a.py", line 12, in b'], 12),
        (["tests/test_a.py:44: AssertionError"], 44),
        (['  File "/x/tests/test_axpy", line 3'], 1),
        (["tests/test_a.py:0: x", "tests/test_a.py:99999999999: x"], 1),
        ([], 1),
    ],
)
def test_the_line_of_a_failure(lines, line):
    """The last that a traceback names in the test's own file; the first of the file where none is."""
    assert line_of_failure("tests/test_a.py", lines) == line

"""Several jobs' reports as one: nothing is dropped in silence, and nothing is green that is not known."""

import json
import os
import re

import pytest

from driftgate.harness.ci_report import merged
from driftgate.harness.ci_report_json import ci_report_json, ci_report_text
from driftgate.harness.ci_report_markdown import LARGEST_COMMENT, comment_markdown, mark, summary_markdown
from driftgate.harness.fitted import CUT
from driftgate.harness.outcome import JobExit
from driftgate.harness.run_report import as_json, json_bytes
from driftgate.harness.shard_files import read_shards
from gate.outline import NOT_EVIDENCE

HOSTILE = [
    "::error::owned",
    "a\n::error::owned",
    "`x` | <b>y</b> --> @everyone #1 [z](http://evil.example)",
    "\x1b[31m\u202e",
    "````\n# x",
    "z" * 100_000,
]


@pytest.fixture
def left(tmp_path, made, monkeypatch):
    """Leaves a run's report in a file; the working folder is where they lie."""
    monkeypatch.chdir(tmp_path)

    def leave(name, *tests, **facts):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(json_bytes(as_json(made.run(*tests, **facts))))
        return path.relative_to(tmp_path)

    return leave


def kinds(report):
    return [(problem.kind, problem.file) for problem in report.problems]


def test_two_shards_are_one_report(left, made):
    """All tests of both, the red ones first whichever report they are in."""
    paths = [left("a.json", made.report("a"), shard="0/2"), left("b.json", made.drifted("b"), shard="1/2")]
    report = merged(paths, expect=2)
    assert (report.headline, report.complete, kinds(report), report.exit) == ("1 not trusted, 2 passed", True, [], 0)
    text = summary_markdown(report)
    assert text.startswith("## driftgate: 1 not trusted, 2 passed\n")
    assert text.index("NOT TRUSTED: `b`") < text.index("| `a` |")
    assert "2 reports; cadence `nightly`, commit `f00ba4000000`, CI run `7`\n" in text


def test_the_order_of_files_changes_nothing(left, made):
    """The same files give the same bytes, in whatever order and however often they are named."""
    paths = [left(f"{name}.json", made.report(name, made.attempt(kind="fail"))) for name in "cab"]
    forms = [comment_markdown(merged(order), {}) for order in (paths, paths[::-1], [*paths, *paths])]
    assert forms[0] == forms[1] == forms[2]


def test_a_folder_stands_for_its_reports(left, made, tmp_path):
    """In any depth, as CI lays out artifacts; one without any is told."""
    left("reports/job-1/report.json", made.report("a"))
    left("reports/job-2/report.json", made.report("b"))
    (tmp_path / "none").mkdir()
    report = merged([tmp_path / "reports", tmp_path / "none"])
    assert len(report.tests) == 2
    assert kinds(report) == [("no_files", str(tmp_path / "none"))]
    assert merged([tmp_path / "reports", tmp_path / "none"], expect=2).complete


@pytest.mark.parametrize(
    ("content", "kind", "words"),
    [
        (None, "missing", "the report cannot be read: No such file or directory"),
        (b"", "damaged", "the report is empty: its job ended before it was written"),
        (b'{"schema": 1, "tes', "damaged", "the report is no JSON"),
        (b"\xff\xfe", "damaged", "the report is no JSON"),
        (b"[" * 100_000, "damaged", "the report is no JSON"),
        (b'{"schema": 2}', "damaged", "is of schema 2, expected 1; use a newer driftgate"),
        (b'{"schema": 1}', "damaged", "is no report of driftgate run"),
        (b"[]", "damaged", "is no report of driftgate run"),
    ],
)
def test_a_report_that_is_lost_is_told(left, made, tmp_path, content, kind, words):
    """With its file and what is wrong; the others still count; nothing is called green."""
    path = tmp_path / "bad.json"
    if content is not None:
        path.write_bytes(content)
    report = merged([left("good.json", made.report("a")), path])
    assert kinds(report) == [(kind, str(path))]
    assert words in report.problems[0].text
    assert (report.headline, report.exit) == ("INCOMPLETE, 1 passed", JobExit.UNAVAILABLE)
    for text in (summary_markdown(report), comment_markdown(report, {}), ci_report_text(report)):
        assert "NO RESULT" in text
        assert "bad.json" in text


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("policy", "anchor_runs"), "many"),
        (("specs", 0, "epoch_id"), []),
        (("verdict",), True),
        (("reason",), 7),
        (("mode",), None),
        (("warnings",), [{"kind": 1, "text": None, "metric_key": 2}]),
    ],
)
def test_a_report_that_cannot_be_told_keeps_no_other_from_it(left, made, path, value):
    """A document of the right shape with wrong values inside is damaged or told, never a crash."""
    bad = left("bad.json", made.report("a", made.attempt(kind="fail"), judged=made.verdict()))
    document = json.loads(bad.read_bytes())
    at = document["tests"][0]["verdict"]
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    bad.write_text(json.dumps(document))
    report = merged([bad, left("good.json", made.report("b"))])
    assert kinds(report) in ([("damaged", "bad.json")], [])
    assert "b" in [test.identity.test_path for test in report.tests]
    for tell in (ci_report_text, summary_markdown, ci_report_json):
        assert tell(report)


def test_a_copy_counts_once(left, made, tmp_path):
    """The same bytes under two names are one report, and that is told."""
    path = left("a.json", made.report("a"))
    (tmp_path / "copy.json").write_bytes(path.read_bytes())
    report = merged([path, tmp_path / "copy.json"], expect=1)
    assert kinds(report) == [("duplicate", "a.json")] or kinds(report) == [("duplicate", str(tmp_path / "copy.json"))]
    assert (len(report.tests), report.complete) == (1, True)


def test_a_pipeline_without_jobs_lacks_no_report(tmp_path):
    """A change that needs no suite is no failure; without the number nobody knows that."""
    assert merged([tmp_path], expect=0).exit == 0
    assert merged([tmp_path], expect=0).complete
    assert not merged([tmp_path]).complete
    assert not merged([tmp_path], expect=1).complete


@pytest.mark.parametrize(
    ("expect", "found"),
    [(1, []), (0, [("differs", "")]), (2, [("expected", "")]), (None, [])],
)
def test_how_many_are_expected(left, made, expect, found):
    """Fewer is incomplete, more is strange."""
    report = merged([left("a.json", made.report("a"))], expect=expect)
    assert kinds(report) == found
    assert report.complete is (found != [("expected", "")])


def test_no_report_at_all():
    """Nothing is known, and that is not green."""
    report = merged([])
    assert (report.headline, report.exit) == ("INCOMPLETE, 0 passed", JobExit.UNAVAILABLE)


def test_no_report_where_none_is_expected(tmp_path):
    """A plan without tests: an empty folder is what it leaves."""
    report = merged([tmp_path], expect=0)
    assert (report.headline, report.exit, report.problems) == ("0 passed", JobExit.FINE, ())


@pytest.mark.parametrize(
    ("present", "absent"),
    [(("0/3", "1/3", "2/3"), ""), (("0/3", "2/3"), "1/3"), (("1/3",), "0/3, 2/3"), ((None,), "")],
)
def test_shards_know_how_many_they_are(left, made, present, absent):
    """A suite that ran in shards and lacks one says so without being asked; an empty shard is there too."""
    paths = [left(f"{n}.json", made.report(f"t{n}"), shard=shard) for n, shard in enumerate(present)]
    problems = [problem.text for problem in merged(paths).problems]
    assert problems == ([f"suite {made.SUITE}: no report of shard {absent}"] if absent else [])
    if absent == "1/3":
        assert merged([*paths, left("empty.json", shard="1/3")]).complete


def test_the_same_test_twice(left, made):
    """In two reports of one attempt: both are shown, and it is told."""
    paths = [left(f"{n}.json", made.report("a"), shard=f"{n}/2", host=f"{n}") for n in range(2)]
    report = merged(paths)
    assert [problem.kind for problem in report.problems] == ["same_test"]
    assert report.problems[0].text == f"a in {made.SUITE} ran in 2 reports: 0.json, 1.json; each is shown"
    assert len(report.tests) == 2


def test_a_rerun_of_a_job_counts_alone(left, made):
    """The later attempt of the same job replaces the earlier one, whose red is told and no longer counts."""
    paths = [
        left("1.json", made.report("a", made.attempt(kind="fail")), shard="0/1", not_run=["b"]),
        left("2.json", made.report("a"), made.report("b"), shard="0/1", ci_run_attempt=2),
    ]
    report = merged(paths, expect=1)
    assert (report.headline, report.exit, report.not_run) == ("2 passed", JobExit.FINE, ())
    assert [(problem.kind, problem.file, problem.text) for problem in report.problems] == [
        ("rerun", "1.json", "attempt 1 of its job; the later 2.json counts; it had a FAILED")
    ]
    assert "superseded by `2.json`" in summary_markdown(report)


def test_another_shard_is_no_rerun(left, made):
    """Not even of a shard as empty as itself."""
    paths = [left("0.json", shard="0/2"), left("1.json", shard="1/2", ci_run_attempt=2)]
    assert [shard.superseded for shard in merged(paths).shards] == [None, None]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"cadence": "weekly"}, "the reports are not of one cadence: nightly in a.json; weekly in b.json"),
        ({"tested_sha": "b" * 40}, f"the reports are not of one commit: {'b' * 40} in b.json; f00ba4{'0' * 34} in a.json"),
        ({"ci_run_id": 8}, "the reports are not of one CI run: 7 in a.json; 8 in b.json"),
        ({"ci_run_id": None}, None),
        ({"fork": True}, "only some reports come from a fork: b.json"),
    ],
)  # fmt: skip
def test_reports_that_do_not_belong_together(left, made, facts, words):
    """Another cadence, commit, CI run or origin is told; what is not known contradicts nothing."""
    report = merged([left("a.json", made.report("a")), left("b.json", made.report("b"), **facts)])
    assert [problem.text for problem in report.problems] == ([words] if words else [])


@pytest.mark.parametrize("fork", [True, False])
def test_a_fork_is_labelled_in_every_form(left, made, fork):
    """NOT EVIDENCE in summary, comment, text and JSON."""
    report = merged([left("a.json", made.report("a"), fork=fork)])
    forms = (summary_markdown(report), comment_markdown(report, {}), ci_report_text(report))
    assert {"NOT EVIDENCE" in form for form in forms} == {fork}
    assert ci_report_json(report)["not_evidence"] == (NOT_EVIDENCE if fork else None)


def test_exits_combine_as_of_one_run(left, made):
    """The lowest that is not fine; an interruption before all."""
    failed = left("a.json", made.report("a", made.attempt(kind="fail")))
    rejected = left("b.json", made.drifted("b", exit=JobExit.REJECTED))
    stopped = left("c.json", interrupted=True)
    assert merged([rejected]).exit == JobExit.REJECTED
    assert merged([failed, rejected]).exit == JobExit.TEST_FAILED
    assert merged([failed, stopped]).exit == JobExit.INTERRUPTED


def test_skipped_tests_are_told_once(left, made):
    """Each shard tells of all that its suite skips."""
    paths = [left(f"{n}.json", made.report(f"t{n}"), skipped=[("s", "disabled: x")]) for n in range(3)]
    assert len(merged(paths).skipped) == 1


def test_the_first_line_of_a_comment_is_its_mark(left, made):
    """The same for the same title, so that the next one replaces it; another one for another title."""
    report = merged([left("a.json", made.report("a"))], title="Nightly H100")
    assert comment_markdown(report, {}).splitlines()[0] == mark("Nightly H100")
    marks = {mark(title) for title in (None, "a", "A", "a b", "--", "日", *HOSTILE)}
    assert len(marks) == 6 + len(HOSTILE)
    assert all(re.fullmatch(r"<!-- driftgate:ci-report(?: [a-z0-9]+(?:-[a-z0-9]+)*)? -->", found) for found in marks)


def test_a_comment_has_no_output_of_tests(left, made):
    """A log masks secrets, a comment does not; the error line stays."""
    report = merged([left("a.json", made.report("a", made.attempt(kind="fail", lines=["token abc", "OSError: x"])))])
    assert "token abc" in summary_markdown(report)
    assert "token abc" not in comment_markdown(report, {})
    assert "OSError: x" in comment_markdown(report, {})


@pytest.mark.parametrize("number", [1, 40, 1_000])
def test_a_comment_fits(left, made, number):
    """However many tests fail, with however long names; the worst stay."""
    judged = made.verdict(values=[9.0] * 50)
    red = [made.report(f"{n}" * 80, judged=judged) for n in range(number)]
    text = comment_markdown(merged([left("a.json", *red)]), {})
    assert len(text) <= LARGEST_COMMENT < 65_536
    assert (CUT in text) is (number > 1)
    assert text.count("<details>") == text.count("</details>")


GITHUB = {"GITHUB_ACTIONS": "true", "GITHUB_SERVER_URL": "https://github.example", "GITHUB_REPOSITORY": "a/b"}


@pytest.mark.parametrize(
    ("environment", "link"),
    [
        (GITHUB, "https://github.example/a/b/actions/runs/7"),
        (
            {"GITLAB_CI": "true", "CI_SERVER_URL": "https://gitlab.example", "CI_PROJECT_PATH": "a/b/c"},
            "https://gitlab.example/a/b/c/-/pipelines/7",
        ),
        (GITHUB | {"GITHUB_REPOSITORY": "a/b) [x](http://evil.example"}, None),
        (GITHUB | {"GITHUB_SERVER_URL": "javascript:alert(1)"}, None),
        ({"GITHUB_ACTIONS": "true"}, None),
        ({}, None),
    ],
)
def test_a_comment_leads_to_the_run(left, made, environment, link):
    """Where this job's CI tells the address, and nothing else becomes one."""
    text = comment_markdown(merged([left("a.json", made.report("a"))]), environment)
    assert re.findall(r"\]\((.*)\)", text) == ([link] if link else [])


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_are_harmless(left, made, words):
    """In names, reasons, provenance and titles: printable ASCII, inside code, no command on a console."""
    failed = made.report(words, made.attempt(kind="fail", lines=[words], detail=words), suite=words)
    paths = [left("a.json", failed, shard=words, cadence="nightly", tested_sha=words), left("b.json", failed, host="x")]
    report = merged(paths, title=words)
    console = ci_report_text(report)
    assert not [line for line in console.splitlines() if line.lstrip().startswith(("::", "##["))]
    for text in (summary_markdown(report), comment_markdown(report, {}), console):
        assert re.fullmatch(r"[ -~\n]*", text)
    outside = re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", comment_markdown(report, {}).split("\n", 1)[1])
    assert re.fullmatch(r"(?:</?details>|</?summary>|[A-Za-z0-9 #*:;(),.|\n-])*", outside)


def test_json(left, made):
    """What a bot needs: numbers, problems, reports, and each test with what was found."""
    paths = [left("a.json", made.report("a", made.attempt(kind="fail"), made.attempt(2)), made.drifted("b"))]
    document = ci_report_json(merged(paths, title="N"))
    assert json.loads(json.dumps(document)) == document
    numbers = ("exit", "complete", "passed", "failed", "not_trusted", "not_judged", "passed_on_retry")
    assert [document[name] for name in numbers] == [0, True, 2, 0, 1, 0, 1]
    first, second = document["tests"]
    assert (first["result"], first["passed_on_retry"], first["report"]) == ("passed", True, "a.json")
    assert first["attempts"][0] == "fail (exit code 1): AssertionError: 0.12"
    assert (second["result"], second["found"][:24]) == ("not_trusted", "train/ppo_kl step 1: 2 i")
    assert document["reports"][0]["commit_sha"] == "f00ba4" + "0" * 34


def test_a_fifo_is_no_report(tmp_path):
    """It is told and never waited for."""
    os.mkfifo(tmp_path / "pipe.json")
    shards, problems = read_shards([tmp_path / "pipe.json"])
    assert (shards, [problem.kind for problem in problems]) == ((), ["missing"])

"""``driftgate ci-report`` from end to end: what two jobs left, one summary, one comment."""

import pytest

LOG = "driftgate.log({{'train/loss': {}}}, step=0)"


@pytest.fixture
def two_jobs(person):
    """A job that went well, and one with a failed test and one that passed."""
    person.test(LOG.format(1.0), name="test_a.py")
    person.test("raise ValueError('why')", name="test_b.py")
    person.test(LOG.format(1.0), name="test_c.py")
    person.call("run", "test_a.py", "--report-json", "reports/1/report.json")
    person.call("run", "test_b.py", "test_c.py", "--continue-on-error", "--report-json", "reports/2/report.json")
    return person


def test_one_summary_and_one_comment(two_jobs):
    """Both tell the failed test first; the console says what needs a look; the exit code is 0."""
    answer = two_jobs.call(
        "ci-report", "reports", "--expect", 2, "--report-md", "s.md", "--comment", "c.md", "--junit", "j.xml"
    )
    assert answer.code == 0
    assert answer.lines == []
    assert answer.out == (
        "driftgate: 1 failed, 2 passed in 2 of 2 reports\n  FAILED test_b.py in stage-a-cpu: exit code 1: ValueError: why\n"
    )
    summary, comment = ((two_jobs.home / name).read_text() for name in ("s.md", "c.md"))
    assert summary.startswith("## driftgate: 1 failed, 2 passed\n")
    assert comment.startswith("<!-- driftgate:ci-report -->\n## driftgate: 1 failed, 2 passed\n")
    assert 'failures="1"' in (two_jobs.home / "j.xml").read_text()


@pytest.mark.parametrize(
    ("options", "code"),
    [((), 0), (("--fail",), 1), (("--expect", 3), 0), (("--expect", 3, "--fail"), 1), (("--expect", -1), 2)],
)
def test_exit_codes(two_jobs, options, code):
    """0 whatever the tests did, unless --fail asks for their code; a wrong option is 2."""
    assert two_jobs.call("ci-report", "reports", *options).code == code


def test_a_lost_report_fails_a_job_that_asks(two_jobs):
    """All that is there is green: with --fail that is 4 and not 0."""
    answer = two_jobs.call("ci-report", "reports/1", "reports/3", "--fail")
    assert (answer.code, answer.out.splitlines()[0]) == (4, "driftgate: INCOMPLETE, 1 passed in 1 of 1 reports")


def test_without_any_report(person):
    """A glob that matched nothing: told, not a usage error."""
    answer = person.call("ci-report", "--comment", "c.md")
    assert (answer.code, answer.out) == (
        0,
        "driftgate: INCOMPLETE, 0 passed in 0 of 0 reports\n  NO RESULT: there is no report: no result is known\n",
    )
    assert "INCOMPLETE" in (person.home / "c.md").read_text()


def test_json(two_jobs):
    """Data on stdout, and the exit that --fail would answer with."""
    document = two_jobs.json("ci-report", "reports", "--title", "Nightly")
    assert (document["schema"], document["title"], document["exit"], len(document["tests"])) == (1, "Nightly", 1, 3)


def test_a_job_summary_is_written_unasked(two_jobs, clean):
    """In a step of GitHub Actions, as by run."""
    clean.setenv("GITHUB_STEP_SUMMARY", str(two_jobs.home / "summary.md"))
    two_jobs.call("ci-report", "reports")
    assert (two_jobs.home / "summary.md").read_text().startswith("## driftgate: 1 failed, 2 passed\n")


def test_a_comment_that_cannot_be_written(two_jobs):
    """A usage error, before anything is read."""
    answer = two_jobs.call("ci-report", "reports", "--comment", "/proc/no/c.md")
    assert (answer.code, answer.out) == (2, "")
    assert answer.lines[0].startswith("driftgate: the report /proc/no/c.md cannot be written")

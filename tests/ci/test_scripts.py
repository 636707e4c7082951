"""The scripts of the workflows do what they say, with a ``gh`` that answers from files and notes what it was asked."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

GH = """#!/bin/sh
printf '%s\\n' "$*" >> "$GH_LOG"
case "$*" in
  *POST*rerun-failed-jobs*) exit "${GH_REFUSES:-0}" ;;
  *PATCH*|*POST*) cat "${GH_BODY:-/dev/null}" >> "$GH_LOG" ;;
  */attempts/1/jobs*) cat "$GH_ANSWERS/1.json" ;;
  */attempts/2/jobs*) cat "$GH_ANSWERS/2.json" ;;
  *) cat "$GH_ANSWERS/answer" ;;
esac
"""


class Job:
    """Runs steps of one workflow by their names, as GitHub would."""

    def __init__(self, files, folder, name):
        self.steps = {
            step.step["name"]: step
            for step in files.steps_of(files.CHECKOUT / "examples/github" / name)
            if "name" in step.step
        }
        self.folder = folder
        self.log, self.output, self.summary = folder / "log", folder / "output", folder / "summary"
        for path in (self.log, self.output, self.summary, folder / "answer"):
            path.write_text("")
        gh = folder / "gh"
        gh.write_text(GH)
        gh.chmod(0o755)
        self.environment = {
            "PATH": f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder), "RUNNER_TEMP": str(folder),
            "GH_LOG": str(self.log), "GH_ANSWERS": str(folder), "GITHUB_OUTPUT": str(self.output), "GITHUB_STEP_SUMMARY": str(self.summary),
        }  # fmt: skip

    def run(self, name, **environment):
        return subprocess.run(
            ["bash", "-e", "-c", self.steps[name].script],
            cwd=self.folder,
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def outputs(self):
        """Of the last steps, those written as ``name=value`` and those between marks."""
        lines = iter(self.output.read_text().splitlines())
        found = {}
        for line in lines:
            name, marked, mark = line.partition("<<")
            found |= {name: "\n".join(iter(lambda: next(lines), mark))} if marked else dict([line.split("=", 1)])
        self.output.write_text("")
        return found

    def asked(self):
        return self.log.read_text()


@pytest.fixture
def job(files, tmp_path):
    return lambda name: Job(files, tmp_path, name)


def answer(folder, attempt, **jobs):
    page = {"total_count": len(jobs), "jobs": [{"name": name, "conclusion": end} for name, end in jobs.items()]}
    (folder / f"{attempt}.json").write_text(json.dumps([page]))


def notified(notify, attempt, *, refuses="0"):
    """The steps of the notifier in order, each under its condition; what they decided, and whether the job fails."""
    facts = {
        "REPOSITORY": "o/r", "RUN": "7", "RUN_URL": "https://ci.example.org/7", "ATTEMPT": str(attempt), "EVENT": "schedule",
        "CONCLUSION": "failure", "ISSUE": "3", "GH_REFUSES": refuses,
    }  # fmt: skip
    assert notify.run("List the jobs", **facts).returncode == 0
    assert notify.run("Decide", **facts).returncode == 0
    decided = notify.outputs()
    if decided["action"] == "rerun" and notify.run("Rerun the failed jobs", **facts).returncode:
        assert notify.run("Decide after a refusal", **facts).returncode == 0
        decided = notify.outputs()
    if decided["action"] == "post":
        assert notify.run("Post", **facts).returncode == 0
    return decided["action"], decided["fail"]


def test_a_first_failure_is_rerun_and_nobody_is_told(job, tmp_path):
    """One request, no comment, no summary."""
    answer(tmp_path, 1, gpu="failure", cpu="success")
    notify = job("rerun-once.yml")
    assert notified(notify, 1) == ("rerun", "false")
    assert notify.asked().splitlines()[1:] == ["api --method POST repos/o/r/actions/runs/7/rerun-failed-jobs --silent"]
    assert notify.summary.read_text() == ""


def test_a_refused_rerun_is_posted_and_fails(job, tmp_path):
    """The issue and the summary name the failed job; the last step ends the job red."""
    answer(tmp_path, 1, gpu="failure")
    notify = job("rerun-once.yml")
    assert notified(notify, 1, refuses="1") == ("post", "true")
    assert "repos/o/r/issues/3/comments --field body=@post.md" in notify.asked()
    assert "- `gpu`" in notify.summary.read_text()
    assert notify.run("Fail where the run failed").returncode == 1


def test_a_second_attempt_is_posted_with_flaky_jobs_apart(job, tmp_path):
    """Never a third attempt."""
    answer(tmp_path, 1, gpu="failure", amd="timed_out")
    answer(tmp_path, 2, gpu="failure", amd="success", cpu="cancelled")
    notify = job("rerun-once.yml")
    assert notified(notify, 2) == ("post", "true")
    assert "rerun-failed-jobs" not in notify.asked()
    told = notify.summary.read_text()
    assert (
        told.index("still failing")
        < told.index("`gpu`")
        < told.index("newly failing")
        < told.index("`cpu`")
        < told.index("`amd`")
    )


def test_the_notifier_acts_on_both_decisions(files):
    """What the simulation above takes for granted: the conditions of its steps."""
    steps = {
        step.step.get("name"): step.step for step in files.steps_of(files.CHECKOUT / "examples/github/rerun-once.yml")
    }
    assert steps["Rerun the failed jobs"]["if"] == "${{ steps.decide.outputs.action == 'rerun' }}"
    assert steps["Rerun the failed jobs"]["continue-on-error"] is True
    assert steps["Decide after a refusal"]["if"] == "${{ steps.rerun.outcome == 'failure' }}"
    for name, output in {"Post": "action == 'post'", "Fail where the run failed": "fail == 'true'"}.items():
        assert steps[name]["if"] == f"${{{{ steps.decide.outputs.{output} || steps.refused.outputs.{output} }}}}"
    assert list(steps)[-1] == "Fail where the run failed"


READ = "Read the comment and the pull request"
SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize("comment", ["/rerun-test tests/e2e/test_a.py", "/rerun-test tests/e2e/test_a.py\r\nplease\n"])
def test_a_comment_names_one_test(job, comment):
    """The first line counts; the commit is the one that GitHub names."""
    rerun = job("rerun-test.yml")
    (rerun.folder / "answer").write_text(f"{SHA} false\n")
    done = rerun.run(READ, REPOSITORY="o/r", NUMBER="5", COMMENT=comment, WRITTEN="2026-01-01T00:00:00Z")
    assert done.returncode == 0, done.stderr
    assert rerun.outputs() == {"commit": SHA, "path": "tests/e2e/test_a.py"}


@pytest.mark.parametrize(
    "path",
    ["", "a", "--snapshot=/etc/x.py", "/etc/x.py", ".x.py", "$(touch owned).py", "`touch owned`.py", "a.py; touch owned", "a b.py",
     "a.py\\nx=1", "'.py", '"$HOME".py', "a.py --write", "ü.py", "a%0Ab.py"],
)  # fmt: skip
def test_a_comment_is_no_command(job, path):
    """Anything but a plain path of a Python file is refused before GitHub is asked; nothing of it runs."""
    rerun = job("rerun-test.yml")
    done = rerun.run(READ, REPOSITORY="o/r", NUMBER="5", COMMENT=f"/rerun-test {path}", WRITTEN="2026-01-01T00:00:00Z")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "the comment names no Python file; write: /rerun-test tests/e2e/test_a.py\n"
    assert rerun.asked() == rerun.output.read_text() == ""
    assert not (rerun.folder / "owned").exists()


def test_commits_after_the_comment_are_not_run(job):
    """Who allowed a fork's test allowed what could be seen."""
    rerun = job("rerun-test.yml")
    (rerun.folder / "answer").write_text(f"{SHA} true\n")
    done = rerun.run(READ, REPOSITORY="o/r", NUMBER="5", COMMENT="/rerun-test a.py", WRITTEN="2026-01-01T00:00:00Z")
    assert (done.returncode, rerun.output.read_text()) == (2, "")
    assert "look at them and comment again" in done.stderr


@pytest.mark.parametrize(
    ("earlier", "asked"), [("", "POST repos/o/r/issues/5"), ("81\n90\n", "PATCH repos/o/r/issues/comments/81 ")]
)
def test_one_comment_is_brought_up_to_date(job, earlier, asked):
    """The first time it is written, from then on replaced."""
    comment = job("pull-request.yml")
    (comment.folder / "answer").write_text(earlier)
    (comment.folder / "comment.md").write_text("<!-- mark -->\nbody\n")
    done = comment.run("Write the comment", REPOSITORY="o/r", NUMBER="5")
    assert done.returncode == 0, done.stderr
    assert f"api --method {asked}" in comment.asked()


@pytest.mark.parametrize(("nights", "expected"), [("", {}), ("12\n9\n", {"run": "12"})])
def test_the_newest_night_is_found(job, nights, expected):
    """Or none, where no night has left a baseline yet."""
    baseline = job("pull-request.yml")
    (baseline.folder / "answer").write_text(nights)
    done = baseline.run("Find the newest night", REPOSITORY="o/r", BRANCH="main")
    assert (done.returncode, baseline.outputs()) == (0, expected), done.stderr


@pytest.mark.parametrize(
    ("planned", "code", "words"),
    [
        ("", 4, "INCOMPLETE"),
        ('{"include": []}', 0, "0 passed"),
        ('{"include": [{"suite": "a"}]}', 4, "INCOMPLETE"),
    ],
)
def test_a_job_without_a_report_is_missed(job, planned, code, words):
    """As many reports are expected as jobs were planned; a change that needs none is no failure, a failed plan is."""
    report = job("driftgate-suites.yml")
    done = report.run("Merge the reports", PLANNED=planned, GITHUB_WORKFLOW="pull request")
    assert done.returncode == code, done.stderr
    body = (report.folder / "comment.md").read_text()
    assert body.startswith("<!-- ")
    assert words in body
    assert words in report.summary.read_text()


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ("success success success", "success"),
        ("success success skipped", "success"),
        ("success failure skipped", "failure"),
        ("failure skipped skipped", "failure"),
        ("success success cancelled", "failure"),
    ],
)
def test_the_report_is_red_where_a_suite_was(job, results, expected):
    """A job that was cancelled is no success."""
    report = job("driftgate-suites.yml")
    done = report.run("Say whether all went well", RESULTS=results)
    assert report.outputs() == {"result": expected}
    assert (done.returncode == 0) == (expected == "success")

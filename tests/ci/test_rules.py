"""Rules that no schema knows: what a stranger's pull request can reach, and who may do what."""

import re

import pytest

from driftgate.config.load import load_config

FIRST_PARTY = re.compile(r"actions/[a-z-]+@v\d+")
INTERPOLATED = re.compile(r"\$\{\{.*?\}\}", re.DOTALL)
MAY_WRITE = {
    ("rerun-once.yml", "notify"): {"actions": "write", "issues": "write"},
    ("pull-request.yml", "comment"): {"pull-requests": "write"},
    ("rerun-test.yml", "answer"): {"pull-requests": "write"},
}
CRONS = {"nightly.yml": "nightly", "weekly.yml": "weekly"}
WRITERS = {"nightly.yml", "weekly.yml"}


def writing(permissions):
    return {scope: right for scope, right in (permissions or {}).items() if right != "read"}


def test_a_workflow_reads_unless_a_job_says_more(files, workflow):
    """The default is ``contents: read`` or nothing; GitHub's own default may be more."""
    assert files.load(workflow)["permissions"] in ({"contents": "read"}, {})


def test_only_the_named_jobs_write(files, workflow):
    """``actions: write`` is the notifier's alone; two other jobs comment."""
    found = {
        (workflow.name, name): job["permissions"]
        for name, job in files.jobs_of(workflow).items()
        if writing(job.get("permissions"))
    }
    assert found == {place: rights for place, rights in MAY_WRITE.items() if place[0] == workflow.name}


def test_a_job_that_writes_runs_no_code_of_a_repository(files, workflow):
    """It checks out nothing and runs no test; its token would be the stranger's."""
    for name, job in files.jobs_of(workflow).items():
        if writing(job.get("permissions")):
            uses = [step.get("uses", "").partition("@")[0] for step in job["steps"]]
            assert "actions/checkout" not in uses, name
            ours = [
                step["with"]["command"] for step in job["steps"] if step.get("uses", "").startswith(files.OUR_ACTION)
            ]
            assert set(ours) <= {"install"}, name


def test_nothing_is_pasted_into_a_script(step):
    """Whatever GitHub would replace before the shell reads it: values reach scripts through ``env``."""
    assert not INTERPOLATED.findall(step.script)
    assert step.step.get("shell") in (None, "bash")


def test_scripts_hand_nothing_to_a_second_interpreter(step):
    """No ``eval``, no ``sh -c``: a value stays one word."""
    assert not re.search(r"\beval\b|\bsh -c\b|\bsource\b|\bxargs\b", step.script)


def test_no_workflow_gives_a_strangers_code_the_rights_of_this_repository(files, workflow):
    """pull_request_target would; a comment's workflow checks out the pull request only without credentials."""
    events = files.load(workflow)["on"]
    assert "pull_request_target" not in events
    for step in files.steps_of(workflow):
        if step.uses.startswith("actions/checkout@"):
            assert step.inputs.get("persist-credentials") is False, step.where


def test_a_comment_is_answered_for_those_who_may(files):
    """The first job looks at who wrote it; all others wait for that job."""
    jobs = files.jobs_of(files.CHECKOUT / "examples/github/rerun-test.yml")
    condition = jobs["plan"]["if"]
    assert 'fromJSON(\'["OWNER", "MEMBER", "COLLABORATOR"]\'), github.event.comment.author_association' in condition
    assert "fromJSON(vars.DRIFTGATE_RERUN_LOGINS || '[]'), github.event.comment.user.login" in condition
    assert "github.event.issue.pull_request &&" in condition
    assert all("plan" in job["needs"] for name, job in jobs.items() if name != "plan")
    assert "secrets." not in (files.CHECKOUT / "examples/github/rerun-test.yml").read_text()


def test_a_comments_test_is_planned_as_data(files):
    """The checkout of the pull request lies in a folder of its own and is given as the snapshot."""
    steps = [
        step for step in files.steps_of(files.CHECKOUT / "examples/github/rerun-test.yml") if " plan " in step.where
    ]
    heads = [step for step in steps if step.inputs.get("ref")]
    plan = next(step for step in steps if step.uses.startswith(files.OUR_ACTION))
    assert [step.inputs["path"] for step in heads] == ["snapshot"]
    assert "--snapshot=snapshot" in plan.inputs["args"].splitlines()


def test_secrets_reach_only_what_may_write(files, workflow):
    """The writing URL belongs to the schedules; pull requests and releases read."""
    secrets = set(re.findall(r"secrets\.(DRIFTGATE_\w+)", workflow.read_text()))
    assert secrets <= {"DRIFTGATE_DATABASE_URL", "DRIFTGATE_READER_URL"}
    assert ("DRIFTGATE_DATABASE_URL" in secrets) == (workflow.name in WRITERS)


def test_actions_of_others_are_not_used(files, step):
    """GitHub's own by major version, and ours."""
    assert not step.uses or FIRST_PARTY.fullmatch(step.uses) or step.uses.startswith(files.OUR_ACTION)


def test_every_job_has_a_limit_of_time(files, workflow):
    """GitHub's default is six hours; a called workflow has its own limits."""
    assert [
        name for name, job in files.jobs_of(workflow).items() if "uses" not in job and "timeout-minutes" not in job
    ] == []


@pytest.mark.parametrize(("name", "cadence"), CRONS.items())
def test_cron_lines_are_those_of_the_preset(files, tmp_path, name, cadence):
    """A schedule that no cadence has would be refused at night."""
    config = load_config(file=None, start=tmp_path, env={}, options={})
    schedule = files.load(files.CHECKOUT / "examples/github" / name)["on"]["schedule"]
    assert tuple(entry["cron"] for entry in schedule) == config.cadences[cadence].crons
    assert config.cadences[cadence].writes


def test_a_called_workflow_is_called_as_it_asks(files, workflow):
    """Inputs and secrets that it has, by the name of its file."""
    for name, job in files.jobs_of(workflow).items():
        if "uses" not in job:
            continue
        called = files.load(workflow.with_name(job["uses"].removeprefix("./.github/workflows/")))["on"]["workflow_call"]
        assert set(job.get("with", {})) <= set(called["inputs"]), name
        assert set(job.get("secrets", {})) <= set(called["secrets"]), name


def test_outputs_that_are_used_exist(files, workflow):
    """``needs.JOB.outputs.NAME`` and ``steps.ID.outputs.NAME`` of our action name what is there."""
    jobs = files.jobs_of(workflow)
    for job, output in re.findall(r"needs\.(\w+)\.outputs\.(\w+)", workflow.read_text()):
        assert output in jobs[job]["outputs"]
    ours = set(files.load(files.ACTION)["outputs"])
    for job in jobs.values():
        identifiers = [
            s["id"] for s in job.get("steps", ()) if s.get("uses", "").startswith(files.OUR_ACTION) and "id" in s
        ]
        used = re.findall(r"steps\.(\w+)\.outputs\.(\w+)", str(job.get("outputs", "")))
        assert {output for step, output in used if step in identifiers} <= ours

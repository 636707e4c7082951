"""``driftgate rerun-policy`` as a workflow calls it."""

import pytest

NIGHTLY = ("rerun-policy", "--event", "schedule", "--conclusion", "failure")


def test_the_first_attempt_asks_for_a_rerun(person):
    """Text for people, data for machines; neither touches the history."""
    person.write("failed", "gpu\n")
    answer = person.call(*NIGHTLY, "--attempt", "1", "--failed", "failed")
    assert answer.code == 0
    assert (
        answer.out
        == "rerun-policy: rerun (failed at the first attempt: its failed jobs get one rerun)\n  failed: gpu\n"
    )
    data = person.json(*NIGHTLY, "--attempt", "1", "--failed", "failed")
    assert (data["action"], data["fail"], data["failed"]) == ("rerun", False, ["gpu"])
    assert not (person.home / ".driftgate").exists()


def test_a_refused_rerun_is_posted_and_fails(person):
    """The command itself ends well: the workflow posts first and fails then."""
    answer = person.call(*NIGHTLY, "--attempt", "1", "--refused")
    assert (answer.code, answer.out) == (
        0,
        "rerun-policy: post, then fail (the rerun was refused: attempt 1 is the result)\n",
    )


def test_the_second_attempt_is_posted(person):
    """The body lists flaky and failed jobs apart; the step's outputs say the same."""
    person.write("now", '["gpu", "cpu"]')
    person.write("before", "gpu\namd\n")
    outputs = person.write("outputs", "earlier=1\n")
    options = ("--failed", "now", "--failed-before", "before", "--report-md", "body.md", "--github-output")
    data = person.process(*NIGHTLY, "--attempt", "2", *options, "--json", env={"GITHUB_OUTPUT": str(outputs)}).json
    assert data == {
        "schema": 1, "action": "post", "fail": True, "reason": "attempt 2 failed: no further rerun",
        "failed": ["cpu", "gpu"], "flaky": ["amd"], "newly_failing": ["cpu"],
    }  # fmt: skip
    assert "- `amd`" in (person.home / "body.md").read_text()
    lines = outputs.read_text().splitlines()
    assert lines[0] == "earlier=1"
    assert [line.partition("<<")[0] for line in lines[1::3]] == ["action", "fail", "failed", "flaky", "newly_failing"]
    assert lines[2::3] == ["post", "true", '["cpu", "gpu"]', '["amd"]', '["cpu"]']


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--attempt", "0"), "--attempt: found 0; attempts are counted from 1"),
        (("--attempt", "one"), "invalid value for '--attempt'"),
        (("--attempt", "1", "--event", "cron"), "--event: unknown 'cron'"),
        (("--attempt", "1", "--conclusion", "sucess"), "--conclusion: unknown 'sucess' (did you mean 'success'?)"),
        (("--attempt", "1", "--failed", "missing"), "--failed: missing cannot be read (No such file or directory)"),
        (("--attempt", "1", "--failed", "bad"), "--failed: bad is not valid JSON; give a JSON array of names"),
        (("--attempt", "1", "--failed-before", "bad"), "--failed-before: bad is not valid JSON"),
        (("--attempt", "1", "--github-output"), "--github-output: GITHUB_OUTPUT is not set"),
    ],
)
def test_bad_input_is_one_line(person, options, words):
    """What, where, what to do; exit 2."""
    person.write("bad", "[1, ")
    answer = person.call(*NIGHTLY, *options)
    assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
    assert words in answer.err

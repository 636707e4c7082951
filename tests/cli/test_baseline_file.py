"""``baseline --export`` and ``gate --baseline``: what a fork can be told without any secret."""

import json

import pytest

UNREACHABLE = "postgresql://ci:s3cret@127.0.0.1:1/history"
FORK = {
    "CI": "true",
    "GITHUB_ACTIONS": "true",
    "GITHUB_EVENT_NAME": "pull_request",
    "GITHUB_REF": "refs/pull/7/merge",
    "GITHUB_RUN_ID": "99",
}
PULL = {"pull_request": {"head": {"repo": {"full_name": "x/r"}}, "base": {"repo": {"full_name": "o/r"}}}}


@pytest.fixture
def artifact(person):
    """The file that a nightly run leaves behind, after four nights."""
    person.test()
    for _ in range(4):
        person.judge(1.0, 1.0)
    answer = person.call("baseline", "--export", "artifact/baseline.json")
    assert (answer.code, answer.lines) == (0, ["1 baseline written to artifact/baseline.json"])
    return person.home / "artifact/baseline.json"


@pytest.fixture
def fork(person, clean, artifact):
    """A pull request from a fork: no secret, and a database that nobody may reach."""
    event = person.write("event.json", json.dumps(PULL))
    for name, text in (FORK | {"GITHUB_EVENT_PATH": str(event), "DRIFTGATE_DATABASE_URL": UNREACHABLE}).items():
        clean.setenv(name, text)

    def gate(*values, options=()):
        return person.call("gate", "test_a.py", "--records", person.record(*values), "--baseline", artifact, *options)

    return gate


@pytest.mark.parametrize(
    ("value", "outcome"), [(1.0, "TRUSTED (2 of 2 compared)"), (9.0, "NOT TRUSTED (2 of 2 compared)")]
)
def test_a_fork_is_judged_in_shadow(fork, value, outcome):
    """The verdict of the store, without the store; labelled, and with the baseline's age and origin."""
    answer = fork(value, value)
    assert (answer.code, answer.out.splitlines()[0]) == (0, f"gate: {outcome}")
    assert "NOT EVIDENCE" in answer.out
    assert "judged against baseline.json: exported 0 min ago" in answer.out
    assert "from project default" in answer.out
    assert "mode shadow" in answer.out
    assert "nothing was written: --baseline judges against a file, in shadow" in answer.err


def test_a_fork_runs_and_is_judged_in_one_call(person, fork, artifact):
    """``run --baseline``: the same verdict on the attempt that passed; no database is asked, no run is stored."""
    person.test("for step in range(2): driftgate.log({'train/loss': 9.0}, step=step)")
    report = person.json("run", "test_a.py", "--baseline", artifact)
    (test,) = report["tests"]
    assert (test["verdict"]["verdict"], test["verdict"]["compared"], report["exit"]) == ("not_trusted", 2, 0)
    assert report["writes_reason"] == "--baseline judges against a file, in shadow"
    refused = person.call("run", "test_a.py", "--baseline", artifact, "--write", "--cadence", "nightly")
    assert refused.code == 2


def test_nothing_is_written_where_the_run_might_write(person, artifact):
    """A nightly that asks the file instead of the store is in shadow, too; --write contradicts it."""
    before = person.runs()
    found = person.json(
        "gate", "test_a.py", "--records", person.record(1.0, 1.0), "--baseline", artifact, "--cadence", "nightly"
    )
    assert (found["verdict"], found["written"], person.runs()) == ("trusted", None, before)
    nightly = ("--cadence", "nightly", "--write")
    answer = person.call("gate", "test_a.py", "--records", person.record(1.0), "--baseline", artifact, *nightly)
    assert (answer.code, len(answer.lines), "--write" in answer.err) == (2, 1, True)


def test_it_never_fails_a_job(person, artifact):
    """Not even where the configuration allows a declaration to."""
    person.test(more=', enforce=True, allowlist_reason="r"')
    person.write("driftgate.toml", '[enforcement]\nallow = ["*"]\n')
    answer = person.call("gate", "test_a.py", "--records", person.record(9.0), "--baseline", artifact)
    assert (answer.code, "NOT TRUSTED" in answer.out) == (0, True)


@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff"])
def test_a_file_that_cannot_be_used(fork, artifact, content):
    """A missing or spoiled artifact changes no result, and is told in one line."""
    artifact.unlink() if content is None else artifact.write_bytes(content)
    answer = fork(1.0)
    headline = answer.out.splitlines()[0]
    assert (answer.code, headline.startswith("gate: NOT JUDGED (baseline file ")) == (0, True)
    assert "--export" in headline


def test_what_differs_from_the_last_trusted_run(person, clean, artifact):
    """It is in the file: the first question about a red verdict is answered for a fork as well."""
    clean.setenv("DRIFTGATE_IMAGE_DIGEST", "sha256:old")
    person.judge(1.0, 1.0)
    person.call("baseline", "--export", artifact)
    clean.setenv("DRIFTGATE_IMAGE_DIGEST", "sha256:new")
    out = person.call("gate", "test_a.py", "--records", person.record(9.0), "--baseline", artifact).out
    assert "changed: image (sha256:old -> sha256:new)" in out


def test_a_test_that_the_file_does_not_know(person, artifact):
    """A cold start that says why."""
    person.test(name="test_b.py")
    answer = person.call("gate", "test_b.py", "--records", person.record(1.0), "--baseline", artifact)
    assert "it has no run of this test on cpu in stage-a-cpu" in answer.out
    assert answer.out.startswith("gate: TRUSTED (0 of 1 compared)")


def test_a_configuration_that_asks_for_more_than_the_file_holds(person, artifact):
    """Longer history, another grain of trust: judged, and told."""
    person.write("driftgate.toml", '[gate]\nhistory = 99\ntrust = "metric"\n')
    out = person.call("gate", "test_a.py", "--records", person.record(1.0), "--baseline", artifact).out
    assert "it holds fewer runs than [gate] history and anchor_runs here ask for" in out
    assert "exported with [gate] trust = run, here it is metric" in out


def test_which_baselines_are_exported(person, artifact):
    """All that count, or those of one test; never one metric alone."""
    person.test(name="test_b.py")
    person.json("gate", "test_b.py", "--records", person.record(1.0), "--cadence", "nightly")
    assert person.json("baseline", "--export", "all.json")["series"] == 2
    assert person.json("baseline", "test_b.py", "--export", "one.json")["series"] == 1
    assert person.json("baseline", "--export", "none.json", "--suite", "other")["series"] == 0
    assert person.call("baseline", "test_c.py", "--export", "x.json").code == 2
    for option in (("--metric", "train/loss"), ("--step", "1"), ("--plot", "x.png")):
        answer = person.call("baseline", "--export", "x.json", *option)
        assert (answer.code, len(answer.lines), "--export" in answer.err) == (2, 1, True)


def test_a_baseline_of_nothing(person):
    """The first night has an artifact as well; without --export a TEST must be named."""
    answer = person.call("baseline", "--export", "b.json")
    assert (answer.code, answer.lines) == (0, ["no baseline yet; b.json is empty"])
    assert person.call("baseline").code == 2

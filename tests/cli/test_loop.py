"""What a person does: init, nights, a baseline, a bad run taken out and put back, a verdict replayed."""

import re
import sqlite3

import pytest

EXAMPLE = "tests/e2e/test_driftgate_example.py"


@pytest.fixture
def nights(person):
    """Four nights of values 1.0, 1.1, 1.2, 1.3."""
    person.test()
    for value in (1.0, 1.1, 1.2, 1.3):
        person.judge(value)
    return person


def mean(person):
    (spec,) = person.json("baseline", "test_a.py")["specs"]
    return spec["mean"]


def test_from_init_to_a_baseline(person):
    """What `init` writes runs as it says, and five nights later there is a baseline to look at."""
    made = person.call("init")
    assert made.lines[-1] == f"try: driftgate run {EXAMPLE} --cadence nightly"
    outcomes = []
    for _ in range(5):
        answer = person.call(*made.lines[-1].removeprefix("try: driftgate ").split())
        assert answer.code == 0
        outcomes += [line for line in answer.out.splitlines() if line.startswith("gate: ")]
    assert outcomes == ["gate: TRUSTED (0 of 21 compared)"] * 3 + ["gate: TRUSTED (21 of 21 compared)"] * 2
    specs = person.json("baseline", EXAMPLE)["specs"]
    assert {spec["metric_key"]: set(spec["n"]) for spec in specs} == {"rollout/raw_reward": {5}, "train/ppo_kl": {5}}
    assert (person.home / ".driftgate" / "history.db").is_file()


def test_what_init_writes_is_planned(person):
    """The plan finds the example without an edit, and still does with everything that is commented out put in force."""
    person.call("init")
    plan = person.json("plan", "--cadence", "nightly")
    assert [test["file"] for test in plan["tests"]] == [EXAMPLE]
    template = (person.home / "driftgate.toml").read_text(encoding="utf-8")
    in_force = re.sub(r"^# (?=\[|\w+ = )", "", template, flags=re.MULTILINE)
    person.write("driftgate.toml", in_force)
    plan = person.json("plan", "--cadence", "nightly")
    assert [test["file"] for test in plan["tests"]] == [EXAMPLE]
    assert in_force != template
    assert "gpu-2" in [suite["suite"] for suite in plan["suites"]]


def test_init_overwrites_nothing(person):
    """A second time it refuses; where one file cannot be written, none is."""
    assert person.json("init")["written"] == ["driftgate.toml", EXAMPLE]
    before = (person.home / "driftgate.toml").read_bytes()
    again = person.call("init")
    assert (again.code, again.lines) == (
        2,
        ["driftgate: driftgate.toml exists already; move it away or edit it: nothing was written"],
    )
    assert (person.home / "driftgate.toml").read_bytes() == before
    person.write("other/tests", "a file where a folder should be")
    answer = person.call("init", "other")
    assert (answer.code, len(answer.lines)) == (2, 1)
    assert sorted(path.name for path in (person.home / "other").iterdir()) == ["tests"]


def test_a_bad_run_out_and_back(nights):
    """The baseline moves with each mark, exactly, and is as before in the end."""
    before = mean(nights)
    bad = nights.runs()[0]["run_id"]
    marked = nights.json("mark-untrusted", "--run-id", bad, "--reason", "wrong image")
    assert marked == {"schema": 1, "changed": 1, "runs": [bad], "effects": None}
    assert mean(nights) == [pytest.approx(1.1)]
    listed = {run["run_id"]: run for run in nights.runs()}
    assert (listed[bad]["trusted"], listed[bad]["gate_trusted"], listed[bad]["untrusted_reason"]) == (
        False,
        True,
        "wrong image",
    )
    assert nights.json("mark-untrusted", "--run-id", bad, "--reason", "again")["changed"] == 0
    assert nights.json("mark-trusted", "--run-id", bad, "--reason", "it was right") == {
        "schema": 1,
        "changed": 1,
        "runs": [bad],
        "effects": None,
    }
    assert mean(nights) == before
    assert nights.judge(1.2)["verdict"] == "trusted"


def test_marks_in_words(nights):
    """The ids on stdout to go on with, the count on stderr."""
    bad = nights.runs()[0]["run_id"]
    answer = nights.call("mark-untrusted", "--run-id", bad, "--reason", "wrong image")
    assert (answer.code, answer.out, answer.err) == (0, f"{bad}\n", "1 run changed to untrusted\n")
    answer = nights.call("mark-untrusted", "--ci-run-id", 4711, "--reason", "wrong image")
    assert answer.err == "0 runs changed to untrusted; later runs of CI run 4711 will be stored untrusted, too\n"
    answer = nights.call("mark-trusted", "--ci-run-id", 4711, "--reason", "right image")
    assert answer.err == "0 runs changed to trusted; the rule for CI run 4711 is lifted\n"


@pytest.mark.parametrize(
    ("selector", "message"),
    [
        ((), "give exactly one of --run-id, --ci-run-id and --commit"),
        (("--run-id", "x", "--ci-run-id", "1"), "give exactly one of --run-id, --ci-run-id and --commit"),
        (("--run-id", "x"), "in project 'default'; `driftgate runs list` shows what is"),
        (("--commit", "abc123"), "abc123"),
        (("--ci-run-id", "soon"), "invalid value for '--ci-run-id'"),
        (("--run-id", "x", "--reason", ""), "reason"),
    ],
)
def test_marks_that_are_refused(nights, selector, message):
    """Exit 2 and one line; nothing changes."""
    for command in ("mark-untrusted", "mark-trusted"):
        answer = nights.call(command, "--reason", "r", *selector)
        assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
        assert message in answer.err
    assert all(run["trusted"] for run in nights.runs())


def test_a_commit_is_marked_whole(nights):
    """Every run of the commit that git names, those stored later too, until it is lifted."""
    (commit,) = {run["provenance"]["commit_sha"] for run in nights.runs()}
    assert len(commit) == 40
    assert nights.json("mark-untrusted", "--commit", commit, "--reason", "bad merge")["changed"] == 4
    found = nights.judge(1.0)
    assert (found["verdict"], found["written"]["trusted"]) == ("trusted", False)
    assert found["written"]["reason"].endswith("bad merge")
    assert nights.json("mark-trusted", "--commit", commit, "--reason", "good merge")["changed"] == 5


def test_replay(nights):
    """The same verdict from the stored rows, exit 0; the JSON says so."""
    nights.judge(9.0)
    for run in nights.runs():
        answer = nights.call("runs", "replay", run["run_id"])
        assert (answer.code, answer.err) == (0, "the same verdict as stored\n")
    newest = nights.runs()[0]["run_id"]
    found = nights.json("runs", "replay", newest)
    assert (found["verdict"], found["replay"]) == ("not_trusted", {"run_id": newest, "same": True})
    assert found["coordinates"][0]["checks"]["corridor"]["n"] == 4


def test_replay_after_marks(nights):
    """What counts today does not matter: the verdict was about the runs it names."""
    oldest, newest = nights.runs()[-1]["run_id"], nights.runs()[0]["run_id"]
    nights.call("mark-untrusted", "--run-id", oldest, "--reason", "r")
    assert nights.call("runs", "replay", newest).code == 0


def test_replay_after_tampering(nights):
    """A value changed behind our back is found out: exit 1."""
    newest = nights.runs()[0]["run_id"]
    with sqlite3.connect(nights.home / ".driftgate" / "history.db") as database:
        changed = database.execute(
            "UPDATE packed_series SET \"values\" = '[9.0]' WHERE \"values\" LIKE '%1.3%'"
        ).rowcount
    database.close()
    assert changed == 1
    answer = nights.call("runs", "replay", newest)
    assert answer.code == 1
    assert answer.err == "NOT the verdict that was stored: TRUSTED (1 of 1 compared)\n"
    again = nights.call("runs", "replay", newest, "--json")
    assert (again.code, again.json["replay"]["same"], again.json["verdict"]) == (1, False, "not_trusted")


def test_listing(nights):
    """Newest first, filtered and bounded; a table whose first column can be copied."""
    listed = nights.runs()
    assert [run["created_at"] for run in listed] == sorted((run["created_at"] for run in listed), reverse=True)
    assert nights.json("runs", "list", "--limit", 2)["runs"] == listed[:2]
    assert nights.call("runs", "list", "--limit", 2).err == "the newest 2 runs; --limit shows more\n"
    assert nights.json("runs", "list", "test_a.py", "--suite", "stage-a-cpu")["runs"] == listed
    assert nights.json("runs", "list", "--suite", "other")["runs"] == []
    nothing = nights.call("runs", "list", "other.py")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "no such run is stored\n")
    header, first, *_ = nights.call("runs", "list").out.splitlines()
    assert header.split() == ["run", "created", "test", "suite", "state", "commit", "CI", "run"]
    assert first.split()[0] == listed[0]["run_id"]


def test_showing(nights):
    """One run with its values, where it came from, and what the gate minded."""
    nights.judge(9.0)
    run_id = nights.runs()[0]["run_id"]
    found = nights.json("runs", "show", run_id)
    assert (found["run_id"], found["trusted"], found["series"]["test_path"]) == (run_id, False, "test_a.py")
    (series,) = found["series_values"]
    assert (series["metric_key"], series["steps"], series["values"], series["trusted"]) == (
        "train/loss",
        [0],
        [9.0],
        False,
    )
    text = " ".join(nights.call("runs", "show", run_id).out.split())
    commit = found["provenance"]["commit_sha"]
    for part in (
        f"run {run_id}: not trusted",
        "gate said NOT TRUSTED (1 of 1 compared)",
        f"commit {commit}",
        "9 is 14 bands above",
    ):
        assert part in text
    assert text.count(commit) == 1


def test_an_unknown_run(nights):
    """Exit 2 and where to look, for each command that takes an id."""
    for command in ("show", "replay"):
        answer = nights.call("runs", command, "nope")
        assert (answer.code, answer.out) == (2, "")
        (line,) = answer.lines
        assert "nope" in line
        assert line.endswith("in project 'default'; `driftgate runs list` shows what is")

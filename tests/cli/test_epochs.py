"""``driftgate epoch``: an intended change is accepted, listed, taken back."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

LATER = {"begins_at", "started_at", "undone_at"}


@pytest.fixture
def stepped(person):
    """Two nights at one level, two at another, which the gate did not trust; newest first."""
    person.test()
    for value in (1.0, 1.0, 3.0, 3.0):
        person.judge(value)
    return [run["run_id"] for run in person.runs()]


def states(person):
    return [run["trusted"] for run in person.runs()]


def test_a_change_is_accepted_from_a_run_on(person, stepped):
    """Its runs are judged again and count from now on, and the next one is trusted."""
    assert states(person) == [False, False, True, True]
    started = person.json("epoch", "start", "test_a.py", "--from-run", stepped[1], "--reason", "AdamW")
    assert (started["schema"], started["changed"], started["runs"]) == (1, 2, stepped[1::-1])
    assert states(person) == [True] * 4
    verdict = person.judge(3.25)
    assert (verdict["verdict"], verdict["specs"][0]["epoch_id"]) == ("trusted", started["epoch_id"])
    (spec,) = person.json("baseline", "test_a.py")["specs"]
    assert spec["runs"] == [person.runs()[0]["run_id"], *stepped[:2]]
    assert spec["epoch_id"] == started["epoch_id"]
    assert f"epoch {started['epoch_id']}" in person.call("baseline", "test_a.py").out


def test_and_taken_back(person, stepped):
    """By its id; the runs are what they were."""
    started = person.json("epoch", "start", "test_a.py", "--from-run", stepped[1], "--reason", "AdamW")
    undone = person.json("epoch", "undo", started["epoch_id"], "--reason", "it was a bug")
    assert undone == started == {**started, "effects": None}
    assert states(person) == [False, False, True, True]


def test_of_one_metric_after_the_newest_run(person, stepped):
    """Nothing is judged again; the next run of the metric is a cold start."""
    started = person.json("epoch", "start", "test_a.py", "--metric", "train/loss", "--reason", "AdamW")
    assert (started["changed"], started["runs"]) == (0, [])
    assert person.judge(9.0)["verdict"] == "trusted"
    (epoch,) = person.json("epoch", "list", "test_a.py")["epochs"]
    assert (epoch["metric_key"], epoch["first_run_id"]) == ("train/loss", person.runs()[0]["run_id"])


def test_the_list(person, stepped):
    """For machines and for people: what, since when, why, by whom, what became of it."""
    of_loss = ("test_a.py", "--metric", "train/loss")
    first = person.json("epoch", "start", *of_loss, "--reason", "AdamW", "--actor", "ana")["epoch_id"]
    second = person.json("epoch", "start", "test_a.py", "--reason", "new data", "--actor", "bo")["epoch_id"]
    person.call("epoch", "undo", second, "--reason", "r")
    rows = person.json("epoch", "list")["epochs"]
    assert [{key: value for key, value in row.items() if key not in LATER} for row in rows] == [
        {
            "epoch_id": epoch_id,
            "series": {"project": "default", "test_path": "test_a.py", "backend": "cpu", "suite": "stage-a-cpu"},
            "metric_key": metric,
            "first_run_id": None,
            "reason": reason,
            "actor": actor,
            "in_force": in_force,
        }
        for epoch_id, metric, reason, actor, in_force in (
            (second, None, "new data", "bo", False),
            (first, "train/loss", "AdamW", "ana", True),
        )
    ]
    table = person.call("epoch", "list", "test_a.py").out.splitlines()
    assert table[1].startswith(second)
    assert "undone" in table[1]
    assert "in force" in table[2]
    assert person.call("epoch", "list", "--project", "other").lines == ["no epoch has been started"]


def test_for_people(person, stepped):
    """The ids of the changed runs on stdout, what happened on stderr."""
    answer = person.call("epoch", "start", "test_a.py", "--from-run", stepped[1], "--reason", "AdamW")
    assert answer.out.split() == stepped[1::-1]
    epoch_id = person.json("epoch", "list")["epochs"][0]["epoch_id"]
    assert answer.lines == [f"epoch {epoch_id} started; 2 runs changed between trusted and untrusted"]


def test_a_run_tells_that_it_was_judged_again(person, stepped):
    """Both what the gate said at first and what it says now, and who is behind that."""
    person.call("epoch", "start", "test_a.py", "--from-run", stepped[1], "--reason", "AdamW", "--actor", "ana")
    shown = person.call("runs", "show", stepped[0]).out
    assert "NOT TRUSTED (1 of 1 compared)" in shown
    assert "start_epoch by ana: AdamW" in shown
    assert "judged again: TRUSTED (1 of 1 compared)" in shown
    (event,) = person.json("runs", "show", stepped[0])["trust_events"]
    assert (event["action"], event["actor"], event["trusted_before"], event["trusted_after"]) == (
        "start_epoch",
        "ana",
        False,
        True,
    )


def test_a_dry_run_writes_nothing(person, stepped):
    """It tells the runs, the means and the verdicts that would change, for machines and for people."""
    words = ("epoch", "start", "test_a.py", "--from-run", stepped[1], "--reason", "AdamW", "--dry-run")
    tried = person.json(*words)
    assert (tried["changed"], tried["runs"], tried["epoch_id"]) == (2, stepped[1::-1], None)
    (mean,) = tried["effects"]["means"]
    assert (mean["metric_key"], mean["steps"], mean["old"], mean["new"]) == ("train/loss", [0], [1.0], [3.0])
    assert mean["series"]["test_path"] == "test_a.py"
    flips = [(flip["run_id"], flip["stored"], flip["rejudged"]) for flip in tried["effects"]["verdicts"]]
    assert flips == [(run_id, "not_trusted", "trusted") for run_id in stepped[1::-1]]
    answer = person.call(*words)
    assert answer.lines == ["dry run, nothing is written; 2 runs would change"]
    titles = [line for line in answer.out.splitlines() if line.endswith(":")]
    assert titles == ["runs that change:", "means that move:", "verdicts that flip:"]
    row = next(line for line in answer.out.splitlines() if line.startswith("test_a.py"))
    assert row.split() == ["test_a.py", "stage-a-cpu", "train/loss", "baseline", "0", "1", "3"]
    assert states(person) == [False, False, True, True]
    assert person.json("epoch", "list")["epochs"] == []


def test_a_dry_run_of_the_undo(person, stepped):
    """The way back, told before it is gone."""
    started = person.json("epoch", "start", "test_a.py", "--from-run", stepped[1], "--reason", "AdamW")
    tried = person.json("epoch", "undo", started["epoch_id"], "--reason", "r", "--dry-run")
    assert (tried["runs"], tried["effects"]["means"][0]["new"]) == (started["runs"], [1.0])
    assert states(person) == [True] * 4


def test_a_dry_run_of_a_mark(person, stepped):
    """Nothing flips: the tables say so."""
    words = ("mark-untrusted", "--run-id", stepped[2], "--reason", "r", "--dry-run")
    assert person.json(*words)["runs"] == [stepped[2]]
    told = person.call(*words).out
    assert "means that move: none" in told
    assert "verdicts that flip: none" in told
    assert states(person) == [False, False, True, True]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("start test_a.py --from-run typo --reason r", "no run 'typo' in project 'default'"),
        ("start test_a.py --metric train/los --reason r", "no metric 'train/los' (did you mean 'train/loss'?)"),
        ("start test_b.py --reason r", "no run of test_b.py is stored"),
        ("start test_a.py --suite nowhere --reason r", "no run of test_a.py for that backend and suite"),
        ("start test_a.py --reason=", "reason is empty"),
        ("start test_a.py", "missing option '--reason'"),
        ("undo typo --reason r", "no epoch 'typo' in project 'default'"),
        ("undo typo --reason=", "reason is empty"),
    ],
)
@pytest.mark.usefixtures("stepped")
def test_refused(person, words, told):
    """One line that says what is wrong, exit 2, and nothing is started."""
    answer = person.call("epoch", *words.split(" "))
    assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
    assert told in answer.err
    assert person.json("epoch", "list")["epochs"] == []


def test_an_epoch_that_begins_in_the_future_is_told(person, stepped):
    """The newest run's clock was ahead: until then every run would belong to the epoch before."""
    ahead = (datetime.now(UTC) + timedelta(hours=20)).strftime("%Y-%m-%d %H:%M:%S.000000")
    with closing(sqlite3.connect(person.home / ".driftgate" / "history.db")) as database:
        database.execute("UPDATE runs SET created_at = ? WHERE seq = (SELECT max(seq) FROM runs)", (ahead,))
        database.commit()
    told = person.call("epoch", "start", "test_a.py", "--reason", "AdamW")
    assert told.code == 0
    assert "begins in the future" in told.err
    assert "--from-run" in told.err

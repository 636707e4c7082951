"""``driftgate baseline``: the columns by hand, the table, what is not there."""

import statistics

import pytest

COLUMNS = {
    "metric_key",
    "steps_key",
    "constraint_key",
    "epoch_id",
    "runs",
    "steps",
    "values",
    "n",
    "mean",
    "sd",
    "lo",
    "hi",
}


@pytest.fixture
def stored(person):
    """Three trusted runs of two steps, the newest with a third step."""
    person.test()
    for values in ((1.0, 2.0), (1.25, 2.5), (1.5, 2.25, 8.0)):
        person.judge(*values)
    return person


def test_columns_by_hand(stored):
    """Newest first, each step with its own runs; sd with ddof 1, none of a single value."""
    found = stored.json("baseline", "test_a.py")
    assert (found["schema"], found["series"]["suite"]) == (1, "stage-a-cpu")
    (spec,) = found["specs"]
    assert set(spec) == COLUMNS | {"anchor_mean"}
    assert spec["runs"] == [run["run_id"] for run in stored.runs()]
    assert (spec["steps"], spec["n"]) == ([0, 1, 2], [3, 3, 1])
    assert spec["values"] == [[1.5, 2.25, 8.0], [1.25, 2.5, None], [1.0, 2.0, None]]
    assert spec["mean"] == [1.25, 2.25, 8.0]
    assert spec["sd"] == [statistics.stdev([1.0, 1.25, 1.5]), statistics.stdev([2.0, 2.5, 2.25]), None]
    assert spec["lo"] == [0.9375, 1.6875, 6.0]
    assert spec["hi"] == [1.875, 3.375, 12.0]
    assert spec["anchor_mean"] == [None, None, None]


def test_the_newest_of_a_longer_history(stored):
    """[gate] history bounds the baseline."""
    stored.write("driftgate.toml", "[gate]\nhistory = 2\n")
    (spec,) = stored.json("baseline", "test_a.py")["specs"]
    assert (spec["mean"][0], spec["n"][0], len(spec["runs"])) == (1.375, 2, 2)


def test_one_step_of_one_metric(stored):
    """--metric and --step narrow it to one coordinate."""
    (spec,) = stored.json("baseline", "test_a.py", "--metric", "train/loss", "--step", 1)["specs"]
    assert (spec["steps"], spec["mean"], spec["values"]) == ([1], [2.25], [[2.25], [2.5], [2.0]])


def test_the_table(stored):
    """The same numbers for people, without a column that has nothing to say."""
    answer = stored.call("baseline", "test_a.py")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[0] == "test_a.py on cpu in stage-a-cpu, project default"
    assert [line.split() for line in lines[3:]] == [
        ["step", "n", "mean", "sd", "lo", "hi"],
        ["0", "3", "1.25", "0.25", "0.9375", "1.875"],
        ["1", "3", "2.25", "0.25", "1.6875", "3.375"],
        ["2", "1", "8", "-", "6", "12"],
    ]
    assert not any(line.endswith(" ") for line in lines)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("test_b.py",), "no run of test_b.py is stored in project default (did you mean 'test_a.py'?)"),
        (("test_a.py", "--metric", "train/los"), "has no 'train/los' (did you mean 'train/loss'?); stored: train/loss"),
        (("test_a.py", "--step", "9"), "--step: no trusted run of test_a.py in stage-a-cpu has a value at step 9"),
        (("test_a.py", "--suite", "other"), "no run of test_a.py for that backend and suite; stored: cpu stage-a-cpu"),
        (("test_a.py", "--project", "other"), "no run of test_a.py is stored in project other"),
    ],
)
def test_what_is_not_there(stored, options, message):
    """Exit 2 and one line that says what there is instead."""
    for more in ((), ("--json",)):
        answer = stored.call("baseline", *options, *more)
        assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
        assert message in answer.err


def test_several_series(stored):
    """People see all of them; a machine must say which."""
    stored.judge(5.0, options=("--cadence", "nightly", "--backend", "cuda", "--suite", "stage-c-8-gpu-h100"))
    both = stored.call("baseline", "test_a.py")
    assert "test_a.py on cuda in stage-c-8-gpu-h100, project default" in both.out
    refused = stored.call("baseline", "test_a.py", "--json")
    assert (refused.code, refused.out) == (2, "")
    assert "choose one by --backend and --suite: cpu stage-a-cpu, cuda stage-c-8-gpu-h100" in refused.err
    (spec,) = stored.json("baseline", "test_a.py", "--backend", "cuda")["specs"]
    assert spec["mean"] == [5.0]


def test_the_anchor_when_it_is_full(stored):
    """Its column comes with it."""
    stored.write("driftgate.toml", "[gate]\nanchor_runs = 3\n")
    (spec,) = stored.json("baseline", "test_a.py")["specs"]
    assert spec["anchor_mean"] == [1.25, 2.25, 8.0]
    assert "anchor" in stored.call("baseline", "test_a.py").out.splitlines()[3]

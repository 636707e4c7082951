"""``driftgate history`` and pictures: every stored value, and what a run met."""

import builtins
import csv
import io

import pandas as pd
import pytest

from driftgate.cli import history

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def nights(person):
    """Three nights of `train/loss` at two steps, the last one red."""
    person.test()
    person.ids = [person.judge(*values)["written"]["run_id"] for values in ((1.0, 2.0), (1.1, 2.0), (9.0, 2.0))]
    return person


def test_every_value_oldest_first(nights):
    """As rows for machines, with the state of each run."""
    found = nights.json("history", "test_a.py", "--metric", "train/loss")
    assert (found["schema"], found["metric_key"], found["series"]["suite"]) == (1, "train/loss", "stage-a-cpu")
    rows = [(row["run_id"], row["step"], row["value"], row["trusted"]) for row in found["values"]]
    assert rows[:2] == [(nights.ids[0], 0, 1.0, True), (nights.ids[0], 1, 2.0, True)]
    assert rows[4:] == [(nights.ids[2], 0, 9.0, False), (nights.ids[2], 1, 2.0, False)]
    assert found["values"][0]["ci_run_id"] is None


def test_one_step_as_a_table_and_as_csv(nights):
    """The same values in each form."""
    chosen = ("history", "test_a.py", "--metric", "train/loss", "--step", 0)
    table = nights.call(*chosen).out.splitlines()
    assert [line.split()[0] for line in table[3:]] == nights.ids
    assert "not trusted" in table[-1]
    rows = list(csv.DictReader(io.StringIO(nights.call(*chosen, "--csv").out)))
    assert [float(row["value"]) for row in rows] == [1.0, 1.1, 9.0]


def test_what_is_not_known_is_none():
    """A frame keeps NaN for a commit or a CI run that nobody told; people and JSON get None."""
    frame = pd.DataFrame({"commit_sha": ["a", None], "ci_run_id": pd.array([7, None], dtype="Int64")})
    assert history._records(frame) == [{"commit_sha": "a", "ci_run_id": 7}, {"commit_sha": None, "ci_run_id": None}]


@pytest.mark.parametrize("step", [(), ("--step", 1)])
def test_a_picture_of_a_history(nights, step):
    """Is made beside whatever else is asked for, and said where."""
    answer = nights.call("history", "test_a.py", "--metric", "train/loss", *step, "--plot", "loss.png")
    assert (answer.code, answer.out, answer.err) == (0, "", "drawn to loss.png\n")
    assert (nights.home / "loss.png").read_bytes().startswith(PNG)


def test_a_picture_of_every_baseline(nights):
    """Beside the table."""
    answer = nights.call("baseline", "test_a.py", "--plot", "all.svg")
    assert answer.code == 0
    assert "train/loss" in answer.out
    assert "<svg" in (nights.home / "all.svg").read_text()


def test_a_name_from_a_test_is_no_formula(person):
    """Dollar signs and braces are shown as they are."""
    person.test(metric="$x_{1$")
    person.json("gate", "test_a.py", "--records", person.record(1.0, metric="$x_{1$"), "--cadence", "nightly")
    assert person.call("history", "test_a.py", "--metric", "$x_{1$", "--plot", "x.png").code == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--metric", "train/los"), "test_a.py in stage-a-cpu has no 'train/los' (did you mean 'train/loss'?)"),
        (
            ("--metric", "train/loss", "--step", 7),
            "no run of test_a.py in stage-a-cpu has a value of train/loss at step 7",
        ),
        (("--metric", "train/loss", "--plot", "x.txt"), "--plot: x.txt: no kind of picture; end the name in .png"),
        (("--metric", "train/loss", "--plot", "no/x.png"), "--plot: no: no such folder; make it first"),
        (("--metric", "train/loss", "--csv", "--json"), "give one of --csv and --json"),
    ],
)
def test_refusals(nights, options, says):
    """One line: what, where, what to do."""
    answer = nights.call("history", "test_a.py", *options)
    assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
    assert says in answer.err


def test_without_matplotlib_it_says_what_to_install(nights, monkeypatch):
    """One line, before anything is read."""
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    answer = nights.call("baseline", "test_a.py", "--plot", "x.png")
    assert (answer.code, answer.err) == (2, "driftgate: --plot needs matplotlib: pip install 'driftgate[plot]'\n")

"""``driftgate backtest`` and ``driftgate suggest``: proposals held against what is stored."""

import pytest

WIDE = '{"abs_floor_up": 1.5, "abs_floor_down": 1.5}'
NIGHTS = (1.0, 1.05, 2.0, 1.02, 0.98, 2.1)


@pytest.fixture
def nights(person):
    """Six nights of `train/loss` at one step; the third and the last one are red as declared."""
    person.test()
    person.ids = [person.judge(value)["written"]["run_id"] for value in NIGHTS]
    return person


def test_without_a_proposal_it_is_what_happened(nights):
    """The declarations of the file, run by run as stored."""
    found = nights.json("backtest", "test_a.py")
    assert (found["schema"], found["series"]["test_path"], found["delay"]) == (1, "test_a.py", None)
    assert [run["run_id"] for run in found["runs"]] == nights.ids
    assert [run["verdict"] == "trusted" for run in found["runs"]] == [value < 2 for value in NIGHTS]
    assert [run["trusted"] for run in found["runs"]] == [run["stored"]["trusted"] for run in found["runs"]]
    assert found["runs"][2]["reasons"][1].startswith("train/loss step 0: 2 is ")


@pytest.mark.parametrize("literal", [WIDE, "{'abs_floor_up': 1.5, 'abs_floor_down': 1.5}"])
def test_a_wider_constraint(nights, literal):
    """As JSON or as the test file writes it: nothing is red, every run would count."""
    found = nights.json("backtest", "test_a.py", "--metric", "train/loss", "--constraint", literal)
    assert (found["red"], found["trusted"]) == (0, 6)
    assert found["specs"][0]["constraint_key"] == '{"abs_floor_down":1.5,"abs_floor_up":1.5}'


def test_the_page_for_people(nights):
    """What is judged by, how many are red, each run that comes out red or otherwise than stored."""
    answer = nights.call("backtest", "test_a.py", "--constraint", WIDE, "--from-run", nights.ids[2])
    assert answer.code == 0
    assert "0 of 6 runs red; 6 would count now, as stored 4 do" in answer.out
    assert f"from run {nights.ids[2]} on: no run is red" in answer.out
    changed = [line for line in answer.out.splitlines() if line.startswith((nights.ids[2], nights.ids[5]))]
    assert all("trusted" in line and "not trusted" in line for line in changed)
    assert len(changed) == 2


def test_delay(nights):
    """From a run on, how many runs until the first red one, that one included."""
    found = nights.json("backtest", "test_a.py", "--from-run", nights.ids[3])
    assert found["delay"] == {"from_run_id": nights.ids[3], "first_red_run_id": nights.ids[5], "runs": 3}
    assert "red at the 3rd run" in nights.call("backtest", "test_a.py", "--from-run", nights.ids[3]).out


def test_profile_and_checks(nights):
    """Both are told back; a profile that needs three values leaves the first red run alone."""
    found = nights.json("backtest", "test_a.py", "--profile", "balanced", "--checks", "shift")
    assert (found["policy"]["profile"], found["specs"][0]["checks"]) == ("balanced", ["shift"])
    assert not found["runs"][2]["reasons"]
    assert nights.json("backtest", "test_a.py", "--checks", "none")["specs"][0]["checks"] == []


def test_without_the_test_file_the_stored_declarations_apply(nights):
    """A file that was moved or deleted still has a history."""
    (nights.home / "test_a.py").unlink()
    found = nights.json("backtest", "test_a.py")
    assert found["red"] == 2
    assert f"the verdict on run {nights.ids[5]}" in nights.call("backtest", "test_a.py").out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--constraint", "{"), "--constraint: '{' is no literal; write e.g. "),
        (("--constraint", '{"rel_up": 1}'), "--constraint: this side would have a band of zero: give rel_down"),
        (("--constraint", '{"rel_upp": 1}'), "did you mean 'rel_up'?"),
        (("--checks", "anchr"), "--checks: unknown check 'anchr' (did you mean 'anchor'?)"),
        (("--profile", "lax"), "--profile: found 'lax'; valid: strict, balanced"),
        (("--metric", "train/los"), "--metric: test_a.py has no 'train/los' (did you mean 'train/loss'?)"),
        (("--from-run", "abc"), "run abc is not one of this series"),
        (("--suite", "b"), "no run of test_a.py for that backend and suite; stored: cpu stage-a-cpu"),
    ],
)
def test_refusals(nights, options, says):
    """One line: what, where, what to do."""
    answer = nights.call("backtest", "test_a.py", *options)
    assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
    assert says in answer.err


def test_mistakes_of_the_file_are_told(nights):
    """A file that cannot be read says why, as everywhere."""
    nights.write("test_a.py", 'register_ci_gate(metric_key="train/loss", steps="al")\n')
    answer = nights.call("suggest", "test_a.py")
    assert answer.code == 2
    assert "test_a.py:1: register_ci_gate steps" in answer.err


def test_suggestions_can_be_pasted(person):
    """What stands on stdout is Python: comments and declarations that hold 4.5 sd and keep the history green."""
    person.test()
    for night in range(12):
        person.judge(1 + 0.001 * (-1) ** night, 2 - 0.001 * (-1) ** night)
    answer = person.call("suggest", "test_a.py")
    assert answer.code == 0
    comment, declaration = answer.out.splitlines()
    assert comment.startswith('# train/loss "all": from 12 valid runs; the band is at least ')
    assert "red in 0 of 12 runs" in comment
    found = person.json("suggest", "test_a.py")
    assert declaration == found["specs"][0]["declaration"]
    person.write("test_a.py", f'register_cpu_ci(est_time=1, suite="stage-a-cpu")\n{answer.out}')
    again = person.json("backtest", "test_a.py")
    assert {"schema": 1, **found["backtest"]} == {key: again[key] for key in ("schema", *found["backtest"])}


def test_too_little_history_for_a_suggestion(nights):
    """It is said what is missing; nothing is invented."""
    answer = nights.call("suggest", "test_a.py", "--metric", "train/loss")
    assert answer.out == ('# train/loss "all": no suggestion: 6 valid runs; noise needs 8 that have the same step\n')

"""Test files that cannot be used: for ``run`` an error before anything starts, for the hook NOT JUDGED."""

import pytest

HEAD = 'from driftgate import register_ci_gate, register_cpu_ci\nregister_cpu_ci(est_time=1, suite="stage-a-cpu")\n'
THIRTY = HEAD + "".join(f'register_ci_gate(metric_key="m{n}", steps="sometimes")\n' for n in range(30))
UNREADABLE = {
    "not UTF-8": (b"# caf\xe9\n", 1, "not UTF-8"),
    "syntax": (HEAD + "def (\n", 3, "syntax"),
    "a null byte": (HEAD + "\0", None, ""),
    "a declaration": (HEAD + 'register_ci_gate(metric_key="train/ppo_kl", step="last")\n', 3, "did you mean 'steps'"),
    "a mistake in the registration": ('register_cpu_ci(est_time=-1, suite="stage-a-cpu")\n', 1, "est_time"),
}


@pytest.mark.parametrize("case", UNREADABLE)
def test_run_refuses(person, case):
    """Exit 2, a line with the place for each mistake, and the documented JSON."""
    content, line, text = UNREADABLE[case]
    person.write("test_a.py", content)
    answer = person.call("run", "test_a.py", "--cadence", "nightly", "--json")
    (error,) = answer.json["errors"]
    assert (answer.code, answer.json["schema"]) == (2, 1)
    assert set(error) == {"file", "line", "call", "field", "text"}
    assert error["file"] == "test_a.py"
    assert line is None or error["line"] == line
    assert text.lower() in f"{error['field']} {error['text']}".lower()
    assert len(answer.lines) == 1
    assert answer.err.startswith("driftgate: test_a.py")
    assert not (person.home / ".driftgate").exists()


@pytest.mark.parametrize("case", UNREADABLE)
def test_the_hook_does_not_judge(person, case):
    """The test has passed: in shadow exit 0, the reason is the first mistake, nothing is written."""
    person.write("test_a.py", UNREADABLE[case][0])
    answer = person.call("gate", "test_a.py", "--records", person.record(1.0), "--cadence", "nightly", "--json")
    found = answer.json
    assert (answer.code, found["verdict"], found["mode"], found["written"]) == (0, "not_judged", "shadow", None)
    assert found["reason"].startswith("test_a.py")
    assert not (person.home / ".driftgate").exists()


def test_thirty_mistakes_at_once(person):
    """Every one is told, in the order of the file, by both commands."""
    person.write("test_a.py", THIRTY)
    refused = person.call("run", "test_a.py", "--json")
    assert (refused.code, len(refused.lines)) == (2, len(refused.json["errors"]))
    assert {error["line"] for error in refused.json["errors"]} == set(range(3, 33))
    hook = person.call("gate", "test_a.py", "--records", person.record(1.0))
    assert hook.code == 0
    assert hook.out.startswith("gate: NOT JUDGED (test_a.py:3: ")
    assert all(any(f"test_a.py:{line}:" in text for text in [*hook.lines, hook.out]) for line in range(3, 33))
    assert "Traceback" not in hook.err


def test_mistakes_of_all_files(person):
    """One call, one answer: what is right does not start while something is wrong."""
    person.test("driftgate.log({'train/loss': 1.0}, step=0)")
    person.write("test_b.py", THIRTY)
    answer = person.call("run", "test_a.py", "test_b.py", "nowhere.py", "--json")
    assert answer.code == 2
    assert {error["file"] for error in answer.json["errors"]} == {"test_b.py", "nowhere.py"}
    assert not (person.home / ".driftgate").exists()


def test_a_missing_file(person):
    """Exit 2 in every mode, naming it."""
    ran = person.call("run", "nowhere.py", "--json")
    assert (ran.code, ran.json["errors"][0]["file"], ran.json["errors"][0]["line"]) == (2, "nowhere.py", 0)
    hook = person.call("gate", "nowhere.py", "--records", person.record(1.0), "--json")
    assert (hook.code, hook.out, hook.lines) == (2, "", ["driftgate: nowhere.py: no such test file"])


def test_a_folder_is_no_test_file(person):
    """Neither is a pipe: nothing hangs."""
    person.write("folder/x.txt", "")
    assert person.call("run", "folder").code == 2
    assert person.call("gate", "folder", "--records", person.record(1.0)).code == 2


def test_no_registration(person):
    """``run`` does not know where it belongs; the hook asks for both options."""
    person.write("test_a.py", 'from driftgate import register_ci_gate\nregister_ci_gate(metric_key="train/ppo_kl")\n')
    answer = person.call("run", "test_a.py")
    assert (answer.code, len(answer.lines)) == (2, 1)
    assert "no registration; write register_cpu_ci(...)" in answer.err
    answer = person.call("gate", "test_a.py", "--records", person.record(1.0))
    assert (answer.code, len(answer.lines)) == (2, 1)
    assert "give both --backend and --suite" in answer.err


def test_no_declaration(person):
    """It runs and passes; there is nothing to judge and nothing is written."""
    person.write("test_a.py", HEAD)
    answer = person.call("run", "test_a.py", "--cadence", "nightly")
    assert answer.code == 0
    assert "gate: NOT JUDGED (no declaration)" in answer.out
    assert person.runs() == []

"""``driftgate doctor``: every line says what to do, and the exit code which half of it failed."""

import socket

import pytest


def states(answer):
    """State of each subject; a line with advice belongs to the one before."""
    rows = [line.split(maxsplit=1) for line in answer.out.splitlines() if not line.startswith(" ")]
    return {rest[:18].strip(): state for state, rest in rows}


@pytest.fixture
def ready(person):
    """A repository with a test, and a history."""
    person.write("driftgate.toml", '[discovery]\nroots = ["tests"]\n')
    person.test(name="tests/test_a.py")
    person.json("gate", "tests/test_a.py", "--records", person.record(1.0), "--cadence", "nightly")
    return person


def test_all_is_well(ready):
    """Exit 0, every line ok."""
    answer = ready.call("doctor", "--cadence", "nightly")
    assert (answer.code, set(states(answer).values())) == (0, {"ok"}), answer
    assert answer.lines == ["0 failed, 0 to look at, 15 ok"]
    assert "1 run of project default" in answer.out


def test_a_database_that_is_gone(ready):
    """Exit 4; the environment is told all the same, and no password."""
    url = "postgresql://ci:s3cret@127.0.0.1:1/history"
    answer = ready.call("doctor", "--db", url, "--timeout", "2")
    assert (answer.code, states(answer)["database"], states(answer)["tests"]) == (4, "fail", "ok")
    assert "s3cret" not in answer.out + answer.err
    assert "s3cret" not in ready.call("doctor", "--db", url, "--json").out


def test_a_server_that_never_answers(ready):
    """It listens and says nothing: the wait ends by --timeout."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://ci@127.0.0.1:{silent.getsockname()[1]}/history"
        answer = ready.process("doctor", "--db", url, "--timeout", "1")
        assert (answer.code, states(answer)["database"]) == (4, "fail")


def test_a_configuration_that_cannot_be_read(person):
    """Exit 2, each mistake with its line; the rest is not looked at."""
    person.write("driftgate.toml", '[gate]\nprofil = "strict"\nhistory = 0\n')
    answer = person.call("doctor")
    assert (answer.code, answer.out.count("fail "), "did you mean 'profile'?" in answer.out) == (2, 2, True)


@pytest.mark.parametrize("url", ["mysql://ci:s3cret@h/x", "postgresql://ci:s3cret@h:12x/x"])
def test_a_url_that_cannot_be_used(ready, url):
    """A matter of the configuration: exit 2."""
    answer = ready.call("doctor", "--db", url)
    assert (answer.code, states(answer)["configuration"], "s3cret" in answer.out + answer.err) == (2, "fail", False)


def test_environment_and_database_fail_together(ready, clean):
    """The lowest code wins, as everywhere."""
    clean.setenv("DRIFTGATE_ENFORCEMENT", "perhaps")
    assert ready.call("doctor", "--db", "postgresql://ci@127.0.0.1:1/x", "--timeout", "2").code == 2


def test_for_machines(ready):
    """The same lines as data."""
    found = ready.json("doctor", "--cadence", "nightly")
    assert (found["schema"], found["exit"], {check["state"] for check in found["checks"]}) == (1, 0, {"ok"})
    failing = ready.call("doctor", "--db", "postgresql://ci@127.0.0.1:1/x", "--json", "--timeout", "2")
    assert (failing.code, failing.json["exit"]) == (4, 4)
    assert all(check["advice"] for check in failing.json["checks"] if check["state"] == "fail")


def test_nothing_is_made_by_looking(person):
    """No database, no folder."""
    before = sorted(path.name for path in person.home.iterdir())
    assert person.call("doctor").code == 0
    assert sorted(path.name for path in person.home.iterdir()) == before

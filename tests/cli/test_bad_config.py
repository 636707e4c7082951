"""Configurations that cannot be used: exit 2 in every mode, a line for each mistake."""

import pytest

CASES = {
    "an unknown key": ('[gate]\nprofil = "strict"\n', ["gate.profil", "did you mean 'profile'?"]),
    "an unknown table": ("[gates]\n", ["gates", "did you mean 'gate'?"]),
    "a wrong type": ('[gate]\nhistory = "20"\n', ["gate.history", "'20'"]),
    "a wrong choice": ('[gate]\nprofile = "lenient"\n', ["gate.profile", "strict"]),
    "a value out of range": ("[gate]\nhistory = 0\n", ["gate.history"]),
    "malformed TOML": ("[gate\n", [":1: not valid TOML"]),
    "a password": ('[store]\nurl = "postgresql://u:hunter2@h/d"\n', ["store.url", "DRIFTGATE_DATABASE_URL"]),
    "not UTF-8": (b'project = "\xff"\n', [":1: not UTF-8"]),
}


@pytest.mark.parametrize("case", CASES)
def test_mistakes(person, case):
    """Named with file and key, by every command, with nothing run, written or judged."""
    content, parts = CASES[case]
    person.write("driftgate.toml", content)
    person.test("open('ran', 'w')")
    records = person.record(1.0)
    for command in ("run test_a.py", f"gate test_a.py --records {records}", "runs list", "db current"):
        answer = person.call(*command.split())
        assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
        assert answer.err.startswith(f"driftgate: {person.home / 'driftgate.toml'}")
        assert all(part in answer.err for part in parts)
        assert "hunter2" not in answer.err
    assert not (person.home / "ran").exists()
    assert not (person.home / ".driftgate").exists()


def test_all_mistakes_at_once(person):
    """One line each."""
    person.write("driftgate.toml", '[gate]\nprofil = "x"\nhistory = -1\n[stor]\nurl = 1\n')
    answer = person.call("runs", "list")
    assert (answer.code, len(answer.lines)) == (2, 3)
    assert all(line.startswith("driftgate: ") for line in answer.lines)


def test_a_file_that_is_not_there(person):
    """--config that names nothing is not the same as no configuration."""
    answer = person.call("runs", "list", "--config", "nowhere.toml")
    assert (answer.code, len(answer.lines)) == (2, 1)
    assert "nowhere.toml: cannot be read (No such file or directory)" in answer.err


def test_precedence(person, clean):
    """Option over environment over file."""
    person.write("driftgate.toml", 'project = "file"\n[store]\nurl = "sqlite:///file.db"\n')
    for environment, options, database in (
        ({}, (), "file.db"),
        ({"NEON_DATABASE_URL": "sqlite:///neon.db"}, (), "neon.db"),
        ({"DRIFTGATE_DATABASE_URL": "sqlite:///environment.db"}, (), "environment.db"),
        ({}, ("--db", "sqlite:///option.db"), "option.db"),
    ):
        for name, url in environment.items():
            clean.setenv(name, url)
        assert not (person.home / database).exists()
        assert person.call("runs", "list", *options).code == 0
        assert (person.home / database).exists()


def test_a_configuration_elsewhere(person):
    """--config: relative paths in it are relative to it."""
    person.write("ci/driftgate.toml", '[store]\nurl = "sqlite:///here.db"\n')
    assert person.call("runs", "list", "--config", "ci/driftgate.toml").code == 0
    assert (person.home / "ci" / "here.db").exists()

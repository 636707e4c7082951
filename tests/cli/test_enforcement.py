"""``driftgate enforcement``: one operator puts every job of a project into shadow, and back."""

ALLOW = '[enforcement]\nallow = ["*"]\n'
WORDS = ("gate", "test_a.py", "--cadence", "nightly", "--records")


def test_off_and_on_again(person):
    """A red run fails its job, then nobody's, then its job again; who and why are told at each place."""
    person.write("driftgate.toml", ALLOW)
    person.test(more=', enforce=True, allowlist_reason="stable"')
    person.judge(1.0)
    assert person.call(*WORDS, person.record(9.0)).code == 3
    assert person.call("enforcement", "show").out == "enforcement is on\n"
    answer = person.call("enforcement", "off", "--reason", "new\nimage", "--actor", "ana")
    assert (answer.code, answer.lines[0].startswith("enforcement is off since 20")) == (0, True)
    assert answer.lines[0].endswith(" by ana: new\\nimage")
    judged = person.call(*WORDS, person.record(9.0))
    assert (judged.code, "switched off by ana: new\\nimage" in judged.out + judged.err) == (0, True)
    again = person.call("enforcement", "off", "--reason", "r")
    assert again.lines[0].startswith("nothing changes: enforcement is off since ")
    tried = person.call("enforcement", "on", "--reason", "r", "--dry-run")
    assert tried.lines == ["dry run, nothing is written; enforcement would be on"]
    assert person.json("enforcement", "show")["enforcement"] == "off"
    assert person.json("enforcement", "on", "--reason", "repaired")["changed"]
    assert person.call(*WORDS, person.record(9.0)).code == 3


def test_a_reason_is_needed(person):
    """Blank is none; the switch stays."""
    answer = person.call("enforcement", "off", "--reason", " ")
    assert (answer.code, answer.lines) == (2, ["driftgate: reason is empty; give one"])
    assert person.json("enforcement", "show")["enforcement"] == "on"

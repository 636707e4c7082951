"""The command line over a service: the same commands, the same answers, and no password of a database."""

import pytest


@pytest.fixture
def database(tmp_path):
    return f"sqlite:///{tmp_path / 'served.db'}"


@pytest.fixture
def nights(person, clean, served, database):
    """Four nights of values 1.0, 1.1, 1.2, 1.3, written through a service, which is the configured store."""
    clean.setenv("DRIFTGATE_TOKEN", "of-a-job")
    with served(database) as url:
        person.write("driftgate.toml", f'[store]\nurl = "{url}"\n[discovery]\nroots = ["."]\n')
        person.test("from driftgate import collector\ncollector.log({'train/loss': 1.1}, step=0)\n")
        for value in (1.0, 1.1, 1.2, 1.3):
            assert person.judge(value)["written"]["trusted"]
        yield person


def test_every_command_that_reads(nights, database):
    """Word for word what it prints over the database itself."""
    run_id = nights.runs()[0]["run_id"]
    commands = [
        ("runs", "list"),
        ("runs", "show", run_id),
        ("runs", "replay", run_id),
        ("baseline", "test_a.py"),
        ("history", "test_a.py", "--metric", "train/loss"),
        ("backtest", "test_a.py"),
        ("suggest", "test_a.py"),
        ("epoch", "list"),
        ("coverage",),
        ("flakes",),
        ("durations",),
        ("mark-untrusted", "--run-id", run_id, "--reason", "r", "--dry-run"),
        ("epoch", "start", "test_a.py", "--from-run", run_id, "--reason", "r", "--dry-run"),
        ("enforcement", "show"),
    ]
    for command in commands:
        over_http, direct = nights.call(*command, "--json"), nights.call(*command, "--json", "--db", database)
        assert (over_http.code, direct.code) == (0, 0), (command, over_http, direct)
        assert over_http.json == direct.json, command


def test_an_operator_repairs_a_baseline(nights):
    """Mark, mark back, epoch and undo: through the service as on the database."""
    run_id = nights.runs()[0]["run_id"]
    assert nights.json("mark-untrusted", "--run-id", run_id, "--reason", "bad")["runs"] == [run_id]
    assert not nights.runs()[0]["trusted"]
    assert nights.json("mark-trusted", "--run-id", run_id, "--reason", "good")["runs"] == [run_id]
    started = nights.json("epoch", "start", "test_a.py", "--from-run", run_id, "--reason", "new")
    assert nights.json("epoch", "undo", started["epoch_id"], "--reason", "old")["epoch_id"] == started["epoch_id"]
    actors = {line["actor"] for line in nights.json("runs", "show", run_id)["trust_events"]}
    assert all(actor.endswith(" (the test)") for actor in actors)


def test_a_run_of_a_file(nights, running_server):
    """`run` executes, judges and writes, and reports its attempts."""
    running_server.requests.clear()
    answer = nights.call("run", "test_a.py", "--cadence", "nightly")
    assert (answer.code, "gate: TRUSTED (1 of 1 compared)" in answer.out) == (0, True), answer
    assert [path for _, path in running_server.requests] == ["/v1/history:query", "/v1/runs", "/v1/attempts"]
    assert len(nights.runs()) == 5


def test_refusals_are_told_in_the_services_words(nights):
    """What the service refuses is one line and the exit code of the database's own refusal."""
    unknown = nights.call("mark-untrusted", "--run-id", "none", "--reason", "r")
    assert (unknown.code, unknown.lines) == (
        2,
        ["driftgate: no run 'none' in project 'default'; `driftgate runs list` shows what is"],
    )
    blank = nights.call("mark-untrusted", "--commit", "abc", "--reason", "r")
    assert (blank.code, "is not a full SHA" in blank.err) == (2, True)


def test_the_doctor_looks_at_the_service(nights):
    """Whether it answers and takes the token, and the kill switch. Its address is no fault of the configuration."""
    answer = nights.call("doctor", "--json")
    found = {check["subject"]: check for check in answer.json["checks"]}
    assert (answer.code, found["configuration"]["state"]) == (0, "ok"), answer
    assert found["service"]["state"] != "fail"
    assert "lets project default be read" in found["service"]["text"]
    nights.call("enforcement", "off", "--reason", "the pool burns")
    found = {check["subject"]: check for check in nights.call("doctor", "--json").json["checks"]}
    assert "the pool burns" in found["kill switch"]["text"]


def test_the_doctor_finds_no_service(nights, clean):
    """The failing check says what is wrong, and the job fails."""
    clean.setattr("store.http_service.DELAYS_S", ())
    answer = nights.call("doctor", "--json", "--db", "https://driftgate.invalid")
    found = {check["subject"]: check for check in answer.json["checks"]}
    assert (answer.code != 0, found["service"]["state"]) == (True, "fail")
    assert "cannot be reached" in found["service"]["text"]
    assert "transport" not in found


def test_the_doctor_warns_of_clear_text(nights):
    """Before the token is kept back."""
    found = nights.call("doctor", "--json", "--db", "http://driftgate.example").json["checks"]
    told = {check["subject"]: (check["state"], check["text"]) for check in found}
    assert told["transport"] == ("warn", "http://driftgate.example: what is sent can be read on the way")
    assert told["service"][0] == "fail"
    assert "a token would travel in clear text; write https://" in told["service"][1]


def test_what_needs_the_database_says_so(nights):
    """Schema and tokens belong to who holds the database."""
    for command in (("db", "upgrade"), ("db", "current"), ("token", "list")):
        answer = nights.call(*command)
        assert (answer.code, "service" in answer.err) == (2, True), answer


def test_no_service(person, clean):
    """A gate in shadow goes on with the reason; a command says what is wrong and exits as for a database."""
    clean.setattr("store.http_service.DELAYS_S", ())
    person.test()
    url = "http://127.0.0.1:1"
    verdict = person.judge(1.0, options=("--cadence", "nightly", "--db", url))
    assert verdict["verdict"] == "not_judged"
    assert "cannot be reached" in verdict["reason"]
    listed = person.call("runs", "list", "--db", url)
    assert (listed.code, f"service {url}: cannot be reached" in listed.err) == (4, True)

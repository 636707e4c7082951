"""``driftgate run``: exit codes, what goes where, reports, an interruption."""

import json
import os
import re
import signal
import subprocess
import sys

import psutil
import pytest

from driftgate.harness.junit import junit_xml
from driftgate.harness.process_tree import ProcessTree

LOG = "driftgate.log({{'train/loss': {}}}, step=0)"
ENFORCED = ', enforce=True, allowlist_reason="stable"'
ALLOW = '[enforcement]\nallow = ["*"]\n'


def run(person, *files, options=("--cadence", "nightly")):
    return person.call("run", *files, *options)


def test_fine(person):
    """A test that passes and is trusted: exit 0, stored."""
    person.test(LOG.format(1.0))
    answer = run(person, "test_a.py")
    assert (answer.code, answer.err) == (0, "")
    assert "driftgate: 1 test, cadence nightly, writes the baseline" in answer.out
    assert answer.out.endswith("driftgate: 1 passed, 0 failed; 0 not trusted by the gate; exit 0\n")
    (stored,) = person.runs()
    assert (stored["series"]["test_path"], stored["trusted"], stored["provenance"]["cadence"]) == (
        "test_a.py",
        True,
        "nightly",
    )


def test_a_test_that_fails(person):
    """Exit 1; never judged, nothing stored, its last output is there."""
    person.test("print('about to fail'); sys.exit(7)")
    answer = run(person, "test_a.py")
    assert (answer.code, person.runs()) == (1, [])
    assert "about to fail\n" in answer.out
    assert "gate: NOT JUDGED (the test did not pass: exit code 7)" in answer.out


@pytest.mark.parametrize(("declared", "code"), [("", 0), (ENFORCED, 3)])
def test_a_rejected_run(person, declared, code):
    """Shadow never changes the exit code; enforced it is 3."""
    person.write("driftgate.toml", ALLOW)
    person.test(LOG.format("float(open('value').read())"), more=declared)
    for value, expected in (("1", 0), ("9", code)):
        person.write("value", value)
        assert run(person, "test_a.py").code == expected
    assert [stored["trusted"] for stored in person.runs()] == [False, True]


@pytest.mark.parametrize(("declared", "code"), [("", 0), (ENFORCED, 4)])
def test_an_outage(person, declared, code):
    """Without a store the tests run all the same; enforced the exit is 4."""
    person.write("history.db", "no database" * 100)
    person.write("driftgate.toml", ALLOW)
    person.test(LOG.format(1.0), more=declared)
    answer = run(person, "test_a.py", options=("--cadence", "nightly", "--db", "sqlite:///history.db"))
    assert answer.code == code
    assert "gate: NOT JUDGED (" in answer.out
    assert "Traceback" not in answer.out


def test_the_lowest_code_wins_and_all_is_told(person):
    """A failed test and a rejected one: exit 1, and the report says both."""
    person.write("driftgate.toml", ALLOW)
    person.test(LOG.format(1.0), name="test_a.py", more=ENFORCED)
    run(person, "test_a.py")
    person.test(LOG.format(9.0), name="test_a.py", more=ENFORCED)
    person.test("sys.exit(1)", name="test_b.py")
    answer = run(person, "test_a.py", "test_b.py", options=("--cadence", "nightly", "--json"))
    assert (answer.code, answer.json["exit"], [test["exit"] for test in answer.json["tests"]]) == (1, 1, [3, 1])
    assert "gate: NOT TRUSTED" in answer.err
    assert "1 passed, 1 failed; 1 not trusted by the gate; exit 1" in answer.err


def test_fast_fail(person):
    """Regular cadence stops at the first red test and names what was not run; --continue-on-error goes on."""
    person.test("sys.exit(1)", name="test_a.py")
    person.test(LOG.format(1.0), name="test_b.py")
    stopped = run(person, "test_a.py", "test_b.py", options=())
    assert (stopped.code, "driftgate: not run: test_b.py on cpu" in stopped.out) == (1, True)
    gone_on = run(person, "test_a.py", "test_b.py", options=("--continue-on-error",))
    assert (gone_on.code, "1 passed, 1 failed" in gone_on.out) == (1, True)


def test_json_alone_on_stdout(person):
    """The tests' own output and the progress go to stderr, byte for byte."""
    person.test("print('hello from the test')\n" + LOG.format(1.0))
    answer = person.process("run", "test_a.py", "--json")
    document = answer.json
    assert "hello from the test\n" in answer.err
    assert "driftgate: [1/1] test_a.py on cpu in stage-a-cpu" in answer.err
    assert (document["schema"], document["exit"], document["cadence"], document["writes_baseline"]) == (
        1,
        0,
        "regular",
        False,
    )
    (test,) = document["tests"]
    assert (test["file"], test["passed"], test["verdict"]["verdict"]) == ("test_a.py", True, "trusted")
    assert [(attempt["class"], attempt["exit_code"]) for attempt in test["attempts"]] == [("pass", 0)]


def test_reports(person):
    """The same facts as Markdown and JSON files, in folders that are made."""
    person.test(LOG.format(1.0))
    run(person, "test_a.py")
    person.test(LOG.format(9.0))
    options = ("--cadence", "nightly", "--report-md", "out/r.md", "--report-json", "out/r.json", "--json")
    answer = run(person, "test_a.py", options=options)
    markdown = (person.home / "out" / "r.md").read_text()
    assert "gate: NOT TRUSTED (1 of 1 compared)" in markdown
    assert re.search(r"- next: `this run: driftgate runs show [0-9a-f]{32}`", markdown)
    assert "bands above the mean 1 of 1 run" in markdown
    assert (person.home / "out" / "r.json").read_text().startswith("{\n")
    assert answer.json["tests"][0]["verdict"]["verdict"] == "not_trusted"


@pytest.mark.parametrize("option", ["--report-md", "--report-json"])
def test_a_report_that_cannot_be_written(person, option):
    """Refused before any test has run."""
    person.write("file", "")
    person.test("open('ran', 'w')")
    answer = run(person, "test_a.py", options=(option, "file/r"))
    assert (answer.code, len(answer.lines)) == (2, 1)
    assert answer.err.startswith("driftgate: the report file/r cannot be written")
    assert not (person.home / "ran").exists()


def test_a_timeout(person):
    """--timeout-per-file holds, the class is in the report."""
    person.write("driftgate.toml", "[timeouts]\nkill_grace = 0.2\n")
    person.test("time.sleep(60)")
    answer = run(person, "test_a.py", options=("--timeout-per-file", "1", "--json"))
    assert (answer.code, answer.json["tests"][0]["attempts"][0]["class"]) == (1, "timeout")


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "1e99", "86401"])
def test_wrong_timeouts(person, seconds):
    """Refused before anything starts, naming the key."""
    person.test("open('ran', 'w')")
    answer = run(person, "test_a.py", options=(f"--timeout-per-file={seconds}",))
    assert (answer.code, len(answer.lines), "timeout_per_file" in answer.err) == (2, 1, True)
    assert not (person.home / "ran").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--cadence", "nightley"), "--cadence: unknown 'nightley' (did you mean 'nightly'?)"),
        (("--schedule", "1 2 3 4 5"), "--schedule: no cadence has the cron"),
        (("--event", "party"), "--event: no cadence is entered by 'party'"),
        (("--hw", "tpu"), "--hw: unknown 'tpu'"),
        (("--suite", "stage-a-cpus"), "--suite: unknown 'stage-a-cpus' (did you mean 'stage-a-cpu'?)"),
        (("--hw", "cuda"), "registered for cpu stage-a-cpu, not for what --hw and --suite ask"),
        (("--write",), "--write"),
        (("--db", "mysql://x/y"), "'mysql' is no database driftgate knows"),
    ],
)
def test_wrong_requests(person, options, message):
    """Exit 2, one line, nothing run."""
    person.test("open('ran', 'w')")
    answer = run(person, "test_a.py", options=options)
    assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
    assert message in answer.err
    assert not (person.home / "ran").exists()


def test_records_elsewhere(person):
    """--records says where; below a file it cannot be made, which is told in one line."""
    person.test(LOG.format(1.0))
    assert run(person, "test_a.py", options=("--records", "kept")).code == 0
    assert list((person.home / "kept").glob("*/attempt-1"))
    person.write("file", "")
    answer = person.process("run", "test_a.py", "--records", "file")
    assert "Traceback" not in answer.err
    assert (answer.code, len(answer.lines)) == (2, 1)


def test_from_another_folder(person, clean):
    """A test is known by its path from the repository root, wherever one stands."""
    person.test(LOG.format(1.0), name="tests/e2e/test_a.py")
    run(person, "tests/e2e/test_a.py")
    clean.chdir(person.home / "tests")
    assert run(person, "e2e/test_a.py").code == 0
    assert {stored["series"]["test_path"] for stored in person.runs()} == {"tests/e2e/test_a.py"}
    assert len(person.json("runs", "list", "e2e/test_a.py")["runs"]) == 2
    assert person.call("baseline", "e2e/test_a.py").code == 0


def test_credentials_stay_here(person, clean):
    """The test does not see what the job knows."""
    clean.setenv("DRIFTGATE_DATABASE_URL", f"sqlite:///{person.home}/h.db")
    clean.setenv("DRIFTGATE_TOKEN", "secret")
    person.test("assert not {'DRIFTGATE_DATABASE_URL', 'DRIFTGATE_TOKEN'} & set(os.environ)\n" + LOG.format(1.0))
    assert run(person, "test_a.py").code == 0
    assert (person.home / "h.db").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption(person, number):
    """Exit 130, no process left, no traceback, and the report is written all the same."""
    person.write("driftgate.toml", "[timeouts]\nkill_grace = 0.3\n")
    person.test(
        "import subprocess; subprocess.Popen(['sleep', '60'], start_new_session=True); print('up', flush=True); time.sleep(60)"
    )
    tree = ProcessTree()
    command = [sys.executable, "-m", "driftgate", "run", "test_a.py", "--report-json", "r.json", "--cadence", "nightly"]
    with subprocess.Popen(
        command,
        cwd=person.home,
        env=tree.environment(os.environ),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as harness:
        assert any(line == "up\n" for line in harness.stdout)
        harness.send_signal(number)
        out, err = harness.communicate(timeout=30)
    assert (harness.returncode, err) == (130, "")
    assert "driftgate: interrupted; 0 passed" in out
    assert '"interrupted": true' in (person.home / "r.json").read_text()
    assert person.json("flakes")["executions"] == 0  # an attempt that was broken off is no result
    assert [process for process in tree.find() if process.status() != psutil.STATUS_ZOMBIE] == []


def test_the_interpreters_options_go_to_the_test(person):
    """The test's interpreter is started as the harness's own: isolated, in development mode, its warnings ignored."""
    person.test(
        "flags = (sys.flags.isolated, sys.flags.dev_mode, sys.warnoptions[-1:], 'mine' in sys._xoptions)\n"
        "assert flags == (1, True, ['ignore'], True), flags"
    )
    command = [sys.executable, "-Xdev", "-Xmine", "-Wignore", "-Im", "driftgate", "run", "test_a.py"]
    done = subprocess.run(command, cwd=person.home, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


ROOTS = '[discovery]\nroots = [{path = "tests", default = {backend = "cpu", suite = "stage-a-cpu", est_time = 1}}]\n'


def test_the_plan(person):
    """Without files the plan is run, sharded, in the suite that executes it; what it leaves out is known."""
    person.write("driftgate.toml", ROOTS)
    for name in "ab":
        person.test(LOG.format(1.0), name=f"tests/test_{name}.py")
    answer = run(person, options=("--cadence", "nightly", "--suite", "stage-a-cpu", "--shard", "1/2", "--json"))
    assert (answer.code, [test["file"] for test in answer.json["tests"]]) == (0, ["tests/test_b.py"])
    (stored,) = person.runs()
    assert (stored["series"]["suite"], stored["provenance"]["shard"]) == ("stage-a-cpu", "1/2")


def test_an_empty_plan(person):
    """Said, and exit 0."""
    person.write("driftgate.toml", ROOTS)
    person.test(name="tests/test_a.py")
    answer = run(person, options=("--hw", "cpu", "--shard", "1/2"))
    assert (answer.code, answer.err) == (0, "driftgate: nothing to run: shard 1/2 is empty\n")
    assert answer.out.endswith("driftgate: 0 passed, 0 failed; 0 not trusted by the gate; exit 0\n")


def test_a_retry(person):
    """Each attempt has its class in the JSON; a class that is not tried again stops."""
    person.write("driftgate.toml", "[retry]\nenabled = true\nwait = 60\n")
    person.test("if os.environ['DRIFTGATE_ATTEMPT'] == '1': raise ConnectionResetError\nraise TypeError('mine')")
    (test,) = run(person, "test_a.py", options=("--retry-wait", "0", "--max-attempts", "5", "--json")).json["tests"]
    assert [(attempt["class"], attempt["failure"]) for attempt in test["attempts"]] == [
        ("fail", "infrastructure"),
        ("fail", "code"),
    ]
    assert len(run(person, "test_a.py", options=("--no-retry", "--json")).json["tests"][0]["attempts"]) == 1


def test_an_interruption_between_two_attempts(person):
    """Nobody waits for the next attempt; the failure is the result, and the exit is 130."""
    person.test("raise ConnectionResetError")
    command = [
        sys.executable,
        "-m",
        "driftgate",
        "run",
        "test_a.py",
        "--retry",
        "--retry-wait",
        "600",
        "--report-json",
        "r",
    ]
    with subprocess.Popen(command, cwd=person.home, stdout=subprocess.PIPE, text=True) as harness:
        assert any("attempt 1 ended" in line for line in harness.stdout)
        harness.send_signal(signal.SIGTERM)
        out, _ = harness.communicate(timeout=30)
    assert (harness.returncode, "driftgate: interrupted; 0 passed, 1 failed" in out) == (130, True)
    (test,) = json.loads((person.home / "r").read_text())["tests"]
    assert [attempt["failure"] for attempt in test["attempts"]] == ["infrastructure"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--shard", "2/2", "--suite", "stage-a-cpu"), "--shard: found '2/2'"),
        (("test_a.py", "--shard", "0/2"), "FILE: the files given are run as they are"),
        (("test_a.py", "--max-attempts", "0", "--retry"), "retry.max_attempts: found 0"),
        (("test_a.py", "--retry-wait=-1", "--retry"), "retry.wait: found -1"),
        (("test_a.py", "--retry-wait=nan", "--retry"), "retry.wait: found nan"),
        (("test_a.py", "--retry-wait", "1"), "--retry-wait: no test of this run is tried again"),
        ((), "discovery.roots (preset miles): no folder"),
    ],
)
def test_wrong_selections_and_retries(person, options, words):
    """Exit 2, one line, nothing run."""
    person.test("open('ran', 'w')")
    answer = person.call("run", *options)
    assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
    assert words in answer.err
    assert not (person.home / "ran").exists()


def test_reports_are_written_whoever_asks_for_a_stop_meanwhile(person, monkeypatch):
    """All tests have run by then: what is known of them is not lost, and the exit is theirs."""
    person.test(LOG.format(1.0))

    def stopped(result):
        signal.raise_signal(signal.SIGINT)
        return junit_xml(result)

    monkeypatch.setattr("driftgate.harness.junit.junit_xml", stopped)
    assert person.call("run", "test_a.py", "--junit", "j.xml", "--report-json", "r.json").code == 0
    assert (person.home / "j.xml").read_text().startswith("<?xml")


def test_a_report_of_an_earlier_run_does_not_outlive_the_next(person):
    """A job that is killed leaves an empty report, not last night's; only a job summary keeps what others wrote."""
    person.test("import signal; os.kill(os.getppid(), signal.SIGKILL)")
    for name in ("r.json", "r.md", "j.xml"):
        person.write(name, "last night")
    call = ("run", "test_a.py", "--report-json", "r.json", "--report-md", "r.md", "--junit", "j.xml")
    assert person.process(*call).code == -signal.SIGKILL
    assert [(person.home / name).read_text() for name in ("r.json", "r.md", "j.xml")] == ["", "", ""]

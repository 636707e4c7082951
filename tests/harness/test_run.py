"""``run_tests``: real tests in real processes, judged on a real store."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

from driftgate.config.load import load_config
from driftgate.harness.history_access import configured_history
from driftgate.harness.outcome import JobExit
from driftgate.harness.process_tree import ProcessTree
from driftgate.harness.run import run_tests
from driftgate.harness.run_request import RunRequest
from driftgate.harness.trigger import Requests
from gate.errors import ConfigError, SourceError
from store.contract import RunFilter

HEAD = """
from driftgate.markers import register_ci_gate, register_cpu_ci
register_cpu_ci(est_time=1, suite="stage-a-cpu")
register_ci_gate(metric_key="m", steps="all", constraint={"rel_up": 0.5, "rel_down": 0.5})
import json, os, pathlib, sys, time
def log(value):
    line = json.dumps({"metric": "m", "series": [[0, value]]}) + "\\n"
    pathlib.Path(os.environ["DRIFTGATE_RECORD_DIR"], f"{os.getpid()}.jsonl").write_text(line)
"""
NIGHTLY = Requests(cadence="nightly")


class Told:
    """Remembers what a run tells while it goes on."""

    def __init__(self):
        self.events = []
        self.output = b""

    def write(self, data):
        self.output += data

    def started(self, tests, skipped, policy):
        self.events.append(("started", len(tests), len(skipped), policy.cadence.name))

    def attempt_started(self, test, number):
        self.events.append(("attempt", test.identity.test_path, number))

    def attempt_ended(self, test, attempt):
        self.events.append((attempt.attempt_class, test.identity.test_path, attempt.number))

    def attempt_follows(self, test, number, wait_s):
        self.events.append(("follows", test.identity.test_path, number, wait_s))

    def attempts_over(self, test, reason):
        self.events.append(("over", test.identity.test_path, reason))

    def test_ended(self, report):
        self.events.append((report.judgement.verdict.outcome, report.identity.test_path))


@pytest.fixture
def told():
    return Told()


@pytest.fixture
def run(tmp_path, told):
    def call(*bodies, requests=NIGHTLY, config="", environment=None, **named):
        files = []
        for number, body in enumerate(bodies):
            files.append(tmp_path / f"test_{number}.py")
            files[-1].write_text(HEAD + textwrap.dedent(body))
        (tmp_path / "driftgate.toml").write_text("[timeouts]\nkill_grace = 0.3\n" + config)
        loaded = load_config(file=None, start=tmp_path, env={}, options={})
        base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        request = RunRequest(loaded, base | (environment or {}), tuple(files), requests, **named)
        return run_tests(request, told.write, told)

    return call


@pytest.fixture
def stored(tmp_path):
    def runs():
        config = load_config(file=None, start=tmp_path, env={}, options={})
        with configured_history(config) as store:
            return store.list_runs("default", RunFilter())

    return runs


def test_a_passing_test_is_judged_and_written(run, told, stored, tmp_path):
    """From process to stored verdict, told step by step, the output passed on."""
    result = run("log(1.0); print('hello')")
    (report,) = result.tests
    assert (result.exit, report.passed, report.judgement.verdict.outcome) == (JobExit.FINE, True, "trusted")
    assert told.output == b"hello\n"
    assert told.events == [
        ("started", 1, 0, "nightly"),
        ("attempt", "test_0.py", 1),
        ("pass", "test_0.py", 1),
        ("trusted", "test_0.py"),
    ]
    (kept,) = stored()
    assert (kept.identity.suite, kept.provenance.test_attempt, kept.provenance.cadence) == ("stage-a-cpu", 1, "nightly")
    assert report.attempts[0].folder.is_relative_to(tmp_path / ".driftgate" / "records")


def test_two_calls_are_two_runs(run, stored):
    """Nothing of an earlier call is reused or superseded."""
    run("log(1.0)")
    run("log(1.1)")
    assert [found.counting for found in stored()] == [True, True]


def test_a_run_that_does_not_write(run, stored):
    """Regular cadence: the verdict is there, the store is as before."""
    result = run("log(1.0)", requests=Requests())
    assert result.tests[0].judgement.verdict.outcome == "trusted"
    assert (result.policy.writes, stored()) == (False, [])


def test_a_failed_attempt_is_never_judged(run, stored, told):
    """Its records are discarded, its attempt stored, the exit is 1, the last lines say why."""
    result = run("log(1.0)\nraise ValueError('why')")
    (report,) = result.tests
    assert (result.exit, report.exit, report.judgement.verdict.reason) == (1, 1, "the test did not pass: exit code 1")
    assert report.attempts[0].last_lines[-1] == "ValueError: why"
    assert not report.attempts[0].folder.exists()
    assert stored() == []
    assert report.remarks == ()


def test_a_test_that_removes_its_record_directory(run, stored):
    """Nothing is left to judge: said, not guessed, and the test stays green."""
    result = run("import shutil; shutil.rmtree(os.environ['DRIFTGATE_RECORD_DIR'])")
    verdict = result.tests[0].judgement.verdict
    assert (result.exit, verdict.outcome) == (JobExit.FINE, "not_judged")
    assert verdict.reason.endswith("cannot be read: No such file or directory")
    assert stored() == []


def test_failed_records_can_be_kept(run, tmp_path):
    """--keep-failed leaves the evidence where --records says, unmerged."""
    result = run("log(1.0)\nsys.exit(1)", keep_failed=True, records=tmp_path / "evidence")
    folder = result.tests[0].attempts[0].folder
    assert folder.parent.parent == tmp_path / "evidence"
    assert [path.suffix for path in folder.iterdir()] == [".jsonl"]


def test_several_attempts(run, tmp_path, stored):
    """Each attempt has its own folder and number; the one that passed is judged and known by its number."""
    body = f"""
    flag = pathlib.Path({str(tmp_path / "flag")!r})
    log(1.0)
    if not flag.exists():
        flag.touch()
        raise ConnectionError
    """
    result = run(body, config="[retry]\nwait = 0\n", retry=True)
    (report,) = result.tests
    assert [(attempt.number, attempt.attempt_class) for attempt in report.attempts] == [(1, "fail"), (2, "pass")]
    assert [attempt.folder.name for attempt in report.attempts] == ["attempt-1", "attempt-2"]
    assert (result.exit, stored()[0].provenance.test_attempt) == (0, 2)


@pytest.mark.parametrize(
    ("requests", "named", "ran"),
    [(Requests(), {}, 1), (Requests(), {"continue_on_error": True}, 2), (NIGHTLY, {}, 2)],
)
def test_fast_fail(run, requests, named, ran):
    """The first red test stops a cadence with fast-fail, unless told to go on; the exit is red either way."""
    result = run("sys.exit(1)", "log(1.0)", requests=requests, **named)
    assert (len(result.tests), len(result.not_run), result.exit) == (ran, 2 - ran, JobExit.TEST_FAILED)


def test_a_timeout(run):
    """A test that hangs is a timeout, and red."""
    result = run("time.sleep(60)", config="timeout_per_file = 0.4")
    assert (result.tests[0].attempts[0].attempt_class, result.exit) == ("timeout", JobExit.TEST_FAILED)


def test_an_outage_costs_nothing_in_shadow(run, told):
    """With no store to reach the test stays green; that nothing was judged and stored is said."""
    result = run("log(1.0)", config='[store]\nurl = "sqlite:////proc/no/where.db"\n')
    (report,) = result.tests
    assert (result.exit, report.judgement.verdict.outcome) == (JobExit.FINE, "not_judged")
    assert "were not stored" in report.remarks[0]


def test_mistakes_start_nothing(run, told):
    """Wrong declarations, a wrong switch, a wrong option: refused before the first process."""
    with pytest.raises(SourceError):
        run("log(1.0)", "register_ci_gate()")
    with pytest.raises(ConfigError, match="DRIFTGATE_ENFORCEMENT"):
        run("log(1.0)", environment={"DRIFTGATE_ENFORCEMENT": "no"})
    with pytest.raises(ConfigError, match="--cadence"):
        run("log(1.0)", requests=Requests(cadence="nightlee"))
    assert told.events == []


def test_disabled_tests_are_told_of(run, told):
    """A disabled registration is in the result with its reason, the other one runs, and the job is fine."""
    result = run("""
    from driftgate.markers import register_rocm_ci
    register_rocm_ci(est_time=1, suite="stage-c-4-gpu-mi350", labels=["amd"], disabled="broken")
    log(1.0)
    """)
    assert [(skipped.identity.backend, skipped.reason) for skipped in result.skipped] == [("rocm", "disabled: broken")]
    assert (len(result.tests), result.exit) == (1, JobExit.FINE)


HARNESS = """
import os, pathlib, sys
from driftgate.config.load import load_config
from driftgate.harness.run import run_tests
from driftgate.harness.run_request import RunRequest
class Quiet:
    started = attempt_started = attempt_ended = attempt_follows = attempts_over = test_ended = lambda *_: None
config = load_config(file=None, start=pathlib.Path.cwd(), env={}, options={})
files = (pathlib.Path("test_0.py"), pathlib.Path("test_0.py").absolute())
request = RunRequest(config, dict(os.environ), files)
result = run_tests(request, lambda data: os.write(1, data), Quiet())
print(result.tests[0].attempts[0].attempt_class, flush=True)
sys.exit(result.exit)
"""


def test_an_interrupted_run(tmp_path):
    """On SIGTERM the test's processes end, its records go, and the exit is 130."""
    (tmp_path / "driftgate.toml").write_text("[timeouts]\nkill_grace = 0.3\n")
    (tmp_path / "test_0.py").write_text(HEAD + "log(1.0); print('ready'); time.sleep(60)")
    tree = ProcessTree()
    harness = subprocess.Popen(
        [sys.executable, "-c", HARNESS],
        stdout=subprocess.PIPE,
        env=tree.environment(os.environ),
        cwd=tmp_path,
        text=True,
    )
    with harness:
        assert harness.stdout.readline() == "ready\n"
        harness.send_signal(signal.SIGTERM)
        assert harness.stdout.read() == "interrupted\n"
    assert harness.returncode == JobExit.INTERRUPTED
    assert tree.find() == []
    assert list((tmp_path / ".driftgate" / "records").glob("*")) == []


def test_a_seed_that_the_test_logs_is_stored(run, stored):
    """Logged through the collector, declared or not, it is part of the run's provenance."""
    run("log(1.0); import driftgate; driftgate.log({'seed': 4711}, step=0)")
    assert [found.provenance.seed for found in stored()] == [4711]


def test_a_disk_that_fills_up_loses_no_result(run):
    """A record folder that cannot be made any more fails the tests that need one; those before it are reported."""
    spoil = "import shutil; base = folder.parents[1]; shutil.rmtree(base); base.write_text('')"
    folder = "import os, pathlib; folder = pathlib.Path(os.environ['DRIFTGATE_RECORD_DIR'])"
    result = run("log(1.0)", f"{folder}; {spoil}", "log(1.0)", "log(1.0)")
    assert [test.passed for test in result.tests] == [True, True, False, False]
    assert result.tests[2].attempts[0].detail.startswith("not started: records folder ")
    assert result.exit is JobExit.TEST_FAILED

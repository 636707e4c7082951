"""A suite of tests that behave badly, each in real processes: class, exit code and time are right, nothing is left."""

import os
import textwrap

import psutil
import pytest

from driftgate.config.load import load_config
from driftgate.harness.outcome import JobExit
from driftgate.harness.process_tree import ProcessTree
from driftgate.harness.run import run_tests
from driftgate.harness.run_request import RunRequest

LONG_S = 60
HEAD = """
import os, signal, subprocess, sys, time
from driftgate import register_cpu_ci
register_cpu_ci(est_time=0.1, suite="stage-a-cpu")
def daemon(then, environment=os.environ):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve(sys.executable, [sys.executable, "-c", then], dict(environment))
        os._exit(0)
    os.wait()
"""
SLEEP = f"import time; time.sleep({LONG_S})"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEP}"
FINE, RED = JobExit.FINE, JobExit.TEST_FAILED
BEHAVIOUR = {
    "passes": ("pass", 30, "pass", None, "exit code 0", FINE),
    "fails": ("assert False", 30, "fail", "assertion", "exit code 1", RED),
    "leaves with a code": ("sys.exit(7)", 30, "fail", "unknown", "exit code 7", RED),
    "hangs": (SLEEP, 0.4, "timeout", "timeout", "timed out after 0.4 s", RED),
    "hangs with its output closed": (f"os.close(1); os.close(2); {SLEEP}", 0.4, "timeout", "timeout", "timed out", RED),
    "hangs, stopped": ("os.kill(os.getpid(), signal.SIGSTOP)", 0.4, "timeout", "timeout", "timed out", RED),
    "ignores SIGTERM": (STUBBORN, 0.6, "timeout", "timeout", "timed out after 0.6 s", RED),
    "leaves a daemon that holds the pipe": (
        f"daemon({SLEEP!r})",
        30,
        "pass",
        None,
        "exit code 0; left behind and ended: 1 process",
        FINE,
    ),
    "leaves a daemon that ignores SIGTERM": (f"daemon({STUBBORN!r})", 30, "pass", None, "ended: 1 process", FINE),
    "leaves a daemon without environment": (f"daemon({SLEEP!r}, {{}})", 30, "pass", None, "ended: 1 process", FINE),
    "fails and leaves a daemon": (f"daemon({SLEEP!r}, {{}})\nsys.exit(3)", 30, "fail", "unknown", "exit code 3; ", RED),
    "hangs and leaves a daemon": (f"daemon({SLEEP!r}, {{}})\n{SLEEP}", 1.0, "timeout", "timeout", "timed out", RED),
    "starts a new session": (
        f"subprocess.Popen([sys.executable, '-c', {SLEEP!r}], start_new_session=True)",
        30,
        "pass",
        None,
        "ended: 1 process",
        FINE,
    ),
    "prints megabytes": ("sys.stdout.buffer.write(b'y' * 30_000_000)", 30, "pass", None, "exit code 0", FINE),
    "prints no UTF-8": (
        "sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush(); raise ConnectionError('\\udcff')",
        30,
        "fail",
        "infrastructure",
        "exit code 1",
        RED,
    ),
    "is killed": ("os.kill(os.getpid(), signal.SIGKILL)", 30, "fail", "killed", "killed by SIGKILL", RED),
    "crashes": ("os.abort()", 30, "fail", "killed", "killed by SIGABRT", RED),
}


class Silent:
    started = attempt_started = attempt_ended = attempt_follows = attempts_over = test_ended = lambda *_: None


@pytest.fixture
def run(tmp_path):
    """Run one file; at the end no process of it is left."""
    outer = ProcessTree()

    def call(body, timeout_s=30.0, name="test_a.py", config=""):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(HEAD + textwrap.dedent(body))
        (tmp_path / "driftgate.toml").write_text(
            f"{config}\n[timeouts]\nkill_grace = 0.2\ntimeout_per_file = {timeout_s}\n"
        )
        loaded = load_config(file=None, start=tmp_path, env={}, options={})
        return run_tests(RunRequest(loaded, outer.environment(os.environ), (file,)), lambda _: None, Silent())

    yield call
    left = [process for process in outer.find() if process.status() != psutil.STATUS_ZOMBIE]
    outer.kill()
    assert left == []


@pytest.mark.parametrize("behaviour", BEHAVIOUR.values(), ids=BEHAVIOUR.keys())
def test_behaviour(run, behaviour):
    """Each in its time, however long what it started would go on."""
    body, timeout_s, attempt_class, failure, detail, code = behaviour
    before = set(psutil.Process().children())
    result = run(body, timeout_s)
    (attempt,) = result.tests[0].attempts
    found = attempt.failure and attempt.failure.name
    assert (attempt.attempt_class, found, result.exit) == (attempt_class, failure, code), attempt
    assert detail in attempt.detail
    assert attempt.duration_s < LONG_S / 2
    assert set(psutil.Process().children()) <= before


NAMES = [
    "test_a b.py",
    "test_ä日本.py",
    "-test_a.py",
    "--help/-c/test_a.py",
    "test_'\"$(id);&|*.py",
]


PYTHON, PYTEST = ["{python}", "{file}"], ["{python}", "-m", "pytest", "-q", "{file}"]


@pytest.mark.parametrize(
    ("name", "command"), [*((name, PYTHON) for name in NAMES), ("--help/-c '$(id)'/test_ä b;*.py", PYTEST)], ids=ascii
)
def test_odd_paths(run, name, command):
    """The file runs, whatever its name is made of, by the interpreter as well as by pytest."""
    body = "def test_it(): open(os.environ['DRIFTGATE_RECORD_DIR'] + '/ran', 'w')\nif __name__ == '__main__': test_it()"
    result = run(body, name=name, config=f"command = {command}")
    (report,) = result.tests
    assert (report.identity.test_path, report.passed) == (name, True), report.attempts[0].last_lines
    assert (report.attempts[0].folder / "ran").exists()

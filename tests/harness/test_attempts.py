"""One attempt of a test: its command, environment, time and class."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from driftgate.config.model import Timeouts
from driftgate.harness.attempts import (
    Conditions,
    Runnable,
    classified,
    filled_command,
    run_attempt,
    timeout_of,
)
from driftgate.harness.interruption import Interruption
from driftgate.harness.process import Ended
from gate.identity import SeriesIdentity

IDENTITY = SeriesIdentity("default", "test_a.py", "cpu", "stage-a-cpu")


@pytest.fixture
def attempt(tmp_path):
    """Run a script once; returns the result and its output."""

    def run(code, timeout_s=30.0, **environment):
        file = tmp_path / "test_a.py"
        file.write_text(code)
        records = tmp_path / "records"
        records.mkdir()
        output = []
        test = Runnable(IDENTITY, file, ("{python}", "{file}"), ("m", "train/é"), 0.01)
        timeouts = Timeouts(timeout_per_file=timeout_s, kill_grace=0.3)
        conditions = Conditions({**os.environ, **environment}, tmp_path, timeouts, output.append, Interruption())
        return run_attempt(test, 3, records, conditions), b"".join(output).decode()

    return run


def test_what_the_child_sees(attempt, tmp_path):
    """Record directory, metric keys and attempt are set, credentials are gone, the rest is the harness's own."""
    code = "import json, os, sys; print(json.dumps([dict(os.environ), os.getcwd(), os.getsid(0) == os.getpid(), sys.stdin.read()]))"
    result, output = attempt(code, DRIFTGATE_DATABASE_URL="x", NEON_DATABASE_URL="x", MINE="1")
    environment, folder, own_session, read = json.loads(output)
    assert result.passed
    assert environment["DRIFTGATE_RECORD_DIR"] == str(tmp_path / "records") == str(result.folder)
    assert json.loads(environment["DRIFTGATE_METRICS"]) == ["m", "train/é"]
    assert (environment["DRIFTGATE_ATTEMPT"], environment["MINE"]) == ("3", "1")
    assert not {"DRIFTGATE_DATABASE_URL", "NEON_DATABASE_URL"} & set(environment)
    assert (Path(folder), own_session, read) == (tmp_path, True, "")


@pytest.mark.parametrize(
    ("code", "attempt_class", "detail"),
    [
        ("pass", "pass", "exit code 0"),
        ("raise SystemExit(7)", "fail", "exit code 7"),
        ("import os; os.abort()", "fail", "killed by SIGABRT"),
        ("import time; time.sleep(60)", "timeout", "timed out after 0.5 s"),
        (
            "import subprocess; subprocess.Popen(['sleep', '60'])",
            "pass",
            "exit code 0; left behind and ended: 1 process",
        ),
    ],
)
def test_classes(attempt, code, attempt_class, detail):
    """Exit code 0 in time is a pass, any other a fail, a signal is named, too long is a timeout."""
    result, _ = attempt(code, 0.5)
    assert (result.attempt_class, result.detail) == (attempt_class, detail)


def test_the_last_lines_are_kept(attempt):
    """The end of the output comes along for the report."""
    result, _ = attempt("for i in range(300): print(i)\nraise ValueError('why')")
    assert len(result.last_lines) == 200
    assert result.last_lines[-1] == "ValueError: why"


def test_a_stop_is_not_a_failure():
    """An attempt that the harness itself cut short is neither a pass nor a fail nor a timeout."""
    assert classified(Ended("interrupted", -signal.SIGTERM, 1.0, (), 0, 0)) == "interrupted"


def test_time_limits():
    """The configured time, or the author's estimate with a quarter more where that is longer; with retry on, more."""
    timeouts = Timeouts(timeout_per_file=1200.0, retry_timeout_increase=60.0)
    assert timeout_of(100.0, timeouts, retry=False) == 1200.0
    assert timeout_of(2000.0, timeouts, retry=False) == 2500.0
    assert timeout_of(2000.0, timeouts, retry=True) == 2560.0


def test_commands_are_filled():
    """Only the two places are filled; braces of other arguments stay, and so do spaces in the path."""
    file = Path("/a b/test_x.py")
    assert filled_command(("{python}", "-m", "pytest", "{file}"), file)[-3:] == ("-m", "pytest", str(file))
    assert filled_command(("{python}",), file)[0] == sys.executable
    assert filled_command(("run", "--json={}", "--py={python}", "{file}::a"), file) == (
        "run",
        "--json={}",
        f"--py={sys.executable}",
        "/a b/test_x.py::a",
    )

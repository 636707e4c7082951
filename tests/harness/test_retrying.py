"""Attempts of one test: when another follows, and what it hides."""

import json
import os
import signal
import textwrap
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from driftgate.config.load import load_config
from driftgate.config.model import Retry
from driftgate.harness.attempts import AttemptResult, Runnable
from driftgate.harness.failure_class import FailureClass
from driftgate.harness.history_access import configured_history
from driftgate.harness.interruption import Interruption
from driftgate.harness.outcome import JobExit
from driftgate.harness.retrying import Attempting, attempted
from driftgate.harness.run import run_tests
from driftgate.harness.run_request import RunRequest
from driftgate.harness.trigger import Requests
from gate.identity import SeriesIdentity
from store.contract import AttemptFilter, RunFilter

IDENTITY = SeriesIdentity("default", "test_a.py", "cpu", "stage-a-cpu")
START = datetime(2026, 11, 2, tzinfo=UTC)
AGAIN, NEVER = FailureClass("assertion", retry=True), FailureClass("code", retry=False)
NOWHERE = FailureClass("unknown", retry=False)


def attempt(number, failure, kind="fail"):
    return AttemptResult(number, kind, "", START, 1.0, 1, Path("records"), (), failure)


@pytest.mark.parametrize(
    ("endings", "on", "most", "made", "why"),
    [
        (["pass"], True, 3, 1, []),
        ([AGAIN, AGAIN, "pass"], True, 3, 3, []),
        ([AGAIN, AGAIN, AGAIN, "pass"], True, 3, 3, ["retry.max_attempts is 3"]),
        ([AGAIN, NEVER, "pass"], True, 3, 2, ["class code is not tried again"]),
        ([NEVER, "pass"], True, 3, 1, ["class code is not tried again"]),
        ([NOWHERE, "pass"], True, 3, 1, ["its failure fits no rule of [retry.rules]"]),
        ([AGAIN, "pass"], False, 3, 1, []),
        ([AGAIN, "pass"], True, 1, 1, ["retry.max_attempts is 1"]),
        ([AGAIN, "interrupted", "pass"], True, 3, 2, []),
    ],
)
def test_when_another_attempt_follows(endings, on, most, made, why):
    """With retry on, after a failure of a class that may be tried again, while attempts are left; else it is told why."""
    test = Runnable(IDENTITY, Path("test_a.py"), (), (), 1.0, retry=on)
    told = []

    def make(number):
        ending = endings[number - 1]
        return attempt(number, None, ending) if isinstance(ending, str) else attempt(number, ending)

    by = Attempting(make, lambda seconds: not told.append(seconds), told.append, told.append)
    attempts = attempted(test, Retry(max_attempts=most, wait=7.0), by)
    assert [one.number for one in attempts] == list(range(1, made + 1))
    assert told == [one for number in range(2, made + 1) for one in (number, 7.0)] + why


def test_nothing_follows_a_wait_that_was_cut_short():
    """A stop between two attempts leaves the failure as the result, and is told."""
    test = Runnable(IDENTITY, Path("test_a.py"), (), (), 1.0, retry=True)
    told = []
    by = Attempting(lambda number: attempt(number, AGAIN), lambda _: False, told.append, told.append)
    assert len(attempted(test, Retry(), by)) == 1
    assert told == [2, "interrupted"]


def test_a_wait_ends_with_a_signal():
    """A request to stop is not kept waiting; nothing is waited for where 0 seconds are asked."""
    with Interruption() as interruption:
        assert interruption.wait(0)
        threading.Timer(0.1, signal.pthread_kill, (threading.main_thread().ident, signal.SIGTERM)).start()
        assert not interruption.wait(100.0)


BODY = """
from driftgate import register_ci_gate, register_cpu_ci
register_cpu_ci(est_time=1, suite="stage-a-cpu")
register_ci_gate(metric_key="m", steps="all", constraint={"rel_up": 0.5, "rel_down": 0.5})
import json, os, pathlib
number = int(os.environ["DRIFTGATE_ATTEMPT"])
def log(value, name="1"):
    line = json.dumps({"metric": "m", "series": [[0, value]]}) + "\\n"
    pathlib.Path(os.environ["DRIFTGATE_RECORD_DIR"], f"{name}.jsonl").write_text(line)
"""


class Silent:
    started = attempt_started = attempt_ended = attempt_follows = attempts_over = test_ended = lambda *_: None


@pytest.fixture
def run(tmp_path):
    """One nightly run of a test with this body; returns the result and the stored runs and attempts."""

    def call(body, *, config="wait = 0", times="", **more):
        file = tmp_path / "test_a.py"
        file.write_text(BODY + textwrap.dedent(body))
        (tmp_path / "driftgate.toml").write_text(
            f"[timeouts]\nkill_grace = 0.3\n{times}\n[retry]\nenabled = true\n{config}\n"
        )
        loaded = load_config(file=None, start=tmp_path, env={}, options={})
        environment = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        request = RunRequest(loaded, environment, (file,), Requests(cadence="nightly"), **more)
        result = run_tests(request, lambda _: None, Silent())
        with configured_history(loaded) as store:
            return result, store.list_runs("default", RunFilter()), store.list_attempts("default", AttemptFilter())

    return call


POISONED = """
log(1.0)
if number < 3:
    log(float(number) * 1e9, name="poison")
    pathlib.Path(os.environ["DRIFTGATE_RECORD_DIR"], "garbage.jsonl").write_text("{")
    assert False, f"accuracy {number}"
"""


@pytest.mark.parametrize("keep", [False, True])
def test_the_passing_attempt_alone_is_judged(run, keep):
    """Two attempts that fail write poisoned metrics; the third, which passes, is judged as if they had never been."""
    run("log(1.0)")
    result, (stored, _), _ = run(POISONED, keep_failed=keep)
    (report,) = result.tests
    verdict = report.judgement.verdict
    assert (result.exit, verdict.outcome, verdict.compared, verdict.warnings) == (JobExit.FINE, "trusted", 1, ())
    assert (stored.trusted, stored.provenance.test_attempt) == (True, 3)
    assert [found.folder.exists() for found in report.attempts] == [keep, keep, True]
    if keep:
        evidence = sorted(path.name for path in report.attempts[0].folder.iterdir())
        assert evidence == ["1.jsonl", "garbage.jsonl", "poison.jsonl"]
        assert json.loads((report.attempts[1].folder / "poison.jsonl").read_text())["series"] == [[0, 2e9]]


def test_every_attempt_is_in_the_store_with_its_class(run):
    """Those that the retry hides too, and all of a test that never passed."""
    body = "if number == 1: raise ConnectionResetError('x')\nif number == 2: os.abort()\nlog(1.0)"
    config = "wait = 0\n[retry.rules.killed]\nretry = true"
    result, _, attempts = run(body, config=config)
    assert [found.failure and found.failure.name for found in result.tests[0].attempts] == [
        "infrastructure",
        "killed",
        None,
    ]
    assert sorted((found.test_attempt, found.attempt_class) for found in attempts) == [
        (1, "infrastructure"),
        (2, "killed"),
        (3, "pass"),
    ]
    result, _, attempts = run("raise TypeError", config="max_attempts = 2\nwait = 0")
    assert (result.exit, len(attempts), {found.attempt_class for found in attempts}) == (
        JobExit.TEST_FAILED,
        4,
        {"infrastructure", "killed", "pass", "code"},
    )


def test_with_retry_on_a_test_has_more_time(run):
    """The increase of [timeouts] counts from the first attempt on."""
    times = "timeout_per_file = 0.1\nretry_timeout_increase = 0.05"
    result, _, _ = run("import time; time.sleep(60)", config="max_attempts = 1", times=times)
    (only,) = result.tests[0].attempts
    assert (only.detail, only.failure) == ("timed out after 1.3 s", FailureClass("timeout", retry=True))

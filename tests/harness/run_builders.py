"""Short ways to the result of a run, without processes and without a store."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from driftgate.config.load import load_config
from driftgate.harness.attempts import AttemptResult, Runnable
from driftgate.harness.judgement import Judgement
from driftgate.harness.outcome import JobExit
from driftgate.harness.policy import decide
from driftgate.harness.ready_tests import SkippedTest
from driftgate.harness.run import RunResult, TestReport
from driftgate.harness.trigger import Requests, Trigger
from gate.identity import SeriesIdentity
from gate.policy import GatePolicy
from gate.provenance import Provenance
from gate.verdict import Notice, Verdict

_GATE = Path(__file__).parent.parent / "gate" / "builders.py"
_SPEC = importlib.util.spec_from_file_location("_gate_builders_of_runs", _GATE)
gate = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(gate)

_CONFIG = load_config(file=None, start=Path(__file__).parent, env={}, options={})
SUITE = "stage-c-8-gpu-h100"
START = datetime(2026, 11, 2, 15, tzinfo=UTC)
TRACEBACK = (
    "step 4: reward 0.12",
    "Traceback (most recent call last):",
    '  File "/repo/tests/e2e/test_a.py", line 41, in <module>',
    "    assert reward > 0.5, reward",
    "AssertionError: 0.12",
)


def identity(path="tests/e2e/test_a.py", suite=SUITE, backend="cuda") -> SeriesIdentity:
    return SeriesIdentity("default", path, backend, suite)


def attempt(number=1, kind="pass", lines=(), **more) -> AttemptResult:
    detail = {"pass": "exit code 0", "timeout": "timed out after 1200 s", "interrupted": "interrupted"}
    facts = {
        "number": number,
        "attempt_class": kind,
        "detail": detail.get(kind, "exit code 1"),
        "started_at": START,
        "duration_s": 12.34,
        "exit_code": {"pass": 0, "fail": 1}.get(kind),
        "folder": Path("records", f"attempt-{number}"),
        "last_lines": tuple(lines or (TRACEBACK if kind == "fail" else ())),
        "failure": None,
    }
    return AttemptResult(**facts | more)


def verdict(of=None, values=(1.0, 1.0, 1.0), metric="train/ppo_kl", **more) -> Verdict:
    """Judged against three runs at 1.0, each step allowed a tenth."""
    past = dict.fromkeys(range(len(values)), 1.0)
    reader = gate.reader(**{metric: gate.rows([past] * 3)})
    judged = gate.judge(gate.spec(metric), gate.record(**{metric: dict(enumerate(values))}), reader)
    return replace(judged, identity=of or identity(), **more)


def unjudged(of=None, reason="no declaration") -> Verdict:
    return Verdict("not_judged", of or identity(), GatePolicy(), reason=reason)


def report(path="tests/e2e/test_a.py", *attempts, judged=None, suite=SUITE, exit=None, remarks=()) -> TestReport:  # noqa: A002 - as it is named in TestReport
    """One test; by default it passed at once and is trusted."""
    place = identity(path, suite)
    done = attempts or (attempt(),)
    found = judged or (verdict(place) if done[-1].passed else unjudged(place, "the test did not pass"))
    found = replace(found, identity=place)
    red = JobExit.FINE if done[-1].attempt_class in {"pass", "interrupted"} else JobExit.TEST_FAILED
    runnable = Runnable(place, Path("/repo", path), ("{python}", "{file}"), (), 300.0)
    return TestReport(runnable, done, Judgement(found, JobExit.FINE), red if exit is None else exit, remarks)


def drifted(path="tests/e2e/test_b.py", **more) -> TestReport:
    """It passed, and one step lies ten bands above."""
    since = Notice(
        "provenance", "against the last trusted run r1: changed: image (sha256:1 -> sha256:2); the same: code"
    )
    return report(path, judged=verdict(values=(1.0, 2.0, 1.15), warnings=(since,)), **more)


def run(
    *tests, fork=False, skipped=(), not_run=(), interrupted=False, notices=(), cadence="nightly", **facts
) -> RunResult:
    """One call, by default in CI run 7 at commit f00ba4...; ``facts`` are more of its provenance."""
    reason = "it comes from a fork" if fork else ""
    decided = decide(Trigger(requests=Requests(cadence=cadence)), _CONFIG)
    policy = replace(decided, writes=not reason, reason=reason, fork=fork)
    provenance = Provenance(
        **{"tested_sha": "f00ba4" + "0" * 34, "ci_run_id": 7, "ci_run_attempt": 1, "cadence": cadence, "fork": fork}
        | facts
    )
    return RunResult(
        policy=policy,
        tests=tests,
        skipped=tuple(SkippedTest(identity(path), reason) for path, reason in skipped),
        not_run=tuple(map(identity, not_run)),
        interrupted=interrupted,
        provenance=provenance,
        notices=tuple(notices),
    )

"""The post-test hook: the verdict on one attempt of one test file, for people with a harness of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from driftgate.config.model import BACKENDS, Config
from driftgate.harness.enforcement import may_enforce
from driftgate.harness.file_judgement import FileJudge, shadow_policy
from driftgate.harness.history_access import OpenHistory, check_history_url, configured_history
from driftgate.harness.judgement import Judgeable, Judgement, judge
from driftgate.harness.kill_switch import KillSwitch
from driftgate.harness.known_names import check_known
from driftgate.harness.outcome import JobExit
from driftgate.harness.policy import RunPolicy, decide
from driftgate.harness.provenance import read_provenance
from driftgate.harness.test_files import TestFile, read_test_file
from driftgate.harness.trigger import Requests, read_trigger
from gate.errors import ConfigError, Problem
from gate.identity import SeriesIdentity
from gate.verdict import Notice, Verdict
from gate.wording import listed, nearest


@dataclass(frozen=True, slots=True)
class GateRequest:
    """One call of ``driftgate gate``. Backend and suite may be left out where the file has one registration.

    ``baseline``: a file to judge against, in shadow and without the store.
    """

    test: Path
    records: Path
    config: Config
    environment: Mapping[str, str]
    requests: Requests = field(default_factory=Requests)
    backend: str | None = None
    suite: str | None = None
    baseline: Path | None = None


@dataclass(frozen=True, slots=True, eq=False)
class HookResult:
    """``problems`` kept the test file from being read; ``policy`` says whether this run writes."""

    verdict: Verdict
    exit: JobExit
    policy: RunPolicy
    problems: tuple[Problem, ...] = ()


def judge_attempt(request: GateRequest, open_history: OpenHistory | None = None) -> HookResult:
    """Merge, judge, and write if this run writes.

    Raises: ConfigError (a wrong option, no such test file). Everything else that goes wrong is a verdict
    ``not_judged`` with its reason.
    """
    config = request.config
    if not request.test.is_file():
        raise ConfigError(f"{request.test}: no such test file")
    if request.baseline is None:
        check_history_url(config)
    policy = _policy(request)
    test = read_test_file(request.test, config.repository, config)
    opened = open_history or partial(configured_history, config)
    if test.problems:
        return _unreadable(test, request, policy, KillSwitch(config.project, opened))
    identity = _identity(test, request)
    provenance = read_provenance(request.environment, config)
    attempt = Judgeable(
        identity=identity,
        specs=test.specs,
        records=request.records,
        provenance=replace(provenance, cadence=policy.cadence.name),
        created_at=datetime.now(UTC),
        writes=policy.writes,
        may_enforce=may_enforce(identity.test_path, config.enforcement, request.environment),
    )
    if request.baseline is None:
        judgement = judge(attempt, config, opened)
    else:
        judgement = FileJudge(request.baseline).judge(attempt, config)
    return HookResult(_noticed(judgement, identity, config), judgement.exit, policy)


def _policy(request: GateRequest) -> RunPolicy:
    policy = decide(read_trigger(request.environment, request.requests), request.config)
    return policy if request.baseline is None else shadow_policy(policy, request.requests)


def _unreadable(test: TestFile, request: GateRequest, policy: RunPolicy, switch: KillSwitch) -> HookResult:
    """Where the test may be enforced, a file whose declarations cannot be read must not let it pass."""
    config = request.config
    identity = SeriesIdentity(config.project, test.test_path, request.backend or "", request.suite or "")
    enforceable = request.baseline is None and may_enforce(test.test_path, config.enforcement, request.environment)
    notice = switch.thrown() if enforceable else None
    enforced = enforceable and notice is None
    more = f" (and {len(test.problems) - 1} more)" if len(test.problems) > 1 else ""
    verdict = Verdict(
        "not_judged",
        identity,
        config.gate,
        reason=f"{test.problems[0]}{more}",
        mode="enforced" if enforced else "shadow",
        warnings=() if notice is None else (notice,),
    )
    return HookResult(verdict, JobExit.UNUSABLE if enforced else JobExit.FINE, policy, test.problems)


def _identity(test: TestFile, request: GateRequest) -> SeriesIdentity:
    check_known("--backend", request.backend, BACKENDS)
    backend, suite = request.backend, request.suite
    if backend is None or suite is None:
        backend, suite = _registered(test, request)
    known = request.config.suites.get(suite)
    if known is not None and known.backend != backend:
        raise ConfigError(f"--suite: {suite} runs on {known.backend}, not on {backend}")
    return SeriesIdentity(request.config.project, test.test_path, backend, suite)


def _registered(test: TestFile, request: GateRequest) -> tuple[str, str]:
    places = {(found.backend, found.suite) for found in test.registrations}
    matching = [
        (backend, suite)
        for backend, suite in sorted(places)
        if request.backend in (None, backend) and request.suite in (None, suite)
    ]
    if len(matching) != 1:
        raise ConfigError(f"{test.test_path}: {_unclear(sorted(places), request)}")
    return matching[0]


def _unclear(places: Sequence[tuple[str, str]], request: GateRequest) -> str:
    """Why the options do not say which series is meant."""
    asked = " ".join(filter(None, (request.backend, request.suite)))
    if not places:
        return "has no registration; give both --backend and --suite"
    registered = listed(f"{backend} {suite}" for backend, suite in places)
    if not asked:
        return f"registered for {registered}; choose one by --backend and --suite"
    meant = nearest(request.suite, [suite for _, suite in places])
    return f"not registered for {asked}{meant} alone, but for {registered}; give both --backend and --suite"


def _noticed(judgement: Judgement, identity: SeriesIdentity, config: Config) -> Verdict:
    """A suite that is in no table may be a slip of the pen, and would start a history of its own."""
    if identity.suite in config.suites:
        return judgement.verdict
    text = f"suite {identity.suite} is not in [suites]{nearest(identity.suite, config.suites)}"
    verdict = judgement.verdict
    return replace(verdict, warnings=(*verdict.warnings, Notice("unknown_suite", text)))

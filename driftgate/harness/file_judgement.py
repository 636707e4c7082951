"""Judging against a baseline file: in shadow, without any store; the report says how old the baseline is and whose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from driftgate.config.model import Config
from driftgate.harness.baseline_file import BaselineFile, Origin
from driftgate.harness.baseline_reading import read_baseline_file
from driftgate.harness.judgement import Judgeable, Judgement, judge_in_shadow
from driftgate.harness.known_past import ExportedPast
from driftgate.harness.policy import RunPolicy
from driftgate.harness.trigger import Requests
from gate.errors import ConfigError
from gate.identity import SeriesIdentity
from gate.verdict import Notice

_REASON = "--baseline judges against a file, in shadow"


def shadow_policy(policy: RunPolicy, requests: Requests) -> RunPolicy:
    """The policy of a run that is judged against a file. Raises ConfigError for ``--write``."""
    if requests.write:
        raise ConfigError("--write: a run judged against a --baseline file is never written; drop one of the two")
    return replace(policy, writes=False, reason=_REASON)


class FileJudge:
    """Judges any number of attempts against one baseline file, which is read once."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def judge(self, attempt: Judgeable, config: Config) -> Judgement:
        """As `judge_in_shadow`; a file that cannot be used is the reason of a verdict ``not_judged``."""
        judgement = judge_in_shadow(attempt, config, lambda: ExportedPast(self._file))
        verdict = judgement.verdict
        if verdict.outcome == "not_judged":
            return judgement
        text = "; ".join(_told(self._file, attempt.identity, config, attempt.created_at))
        notice = Notice("baseline_file", f"judged against {self._path.name}: {text}")
        return replace(judgement, verdict=replace(verdict, warnings=(notice, *verdict.warnings)))

    @cached_property
    def _file(self) -> BaselineFile:
        return read_baseline_file(self._path)


def _told(file: BaselineFile, identity: SeriesIdentity, config: Config, now: datetime) -> Iterator[str]:
    origin = file.origin
    yield f"exported {_age(now - origin.exported_at)} ({origin.exported_at:%Y-%m-%d %H:%MZ}){_exporter(origin)}"
    found = file.series.get(identity)
    if found is None:
        yield f"it has no run of this test on {identity.backend} in {identity.suite}"
    elif found.last_trusted is not None:
        yield f"newest trusted run {found.last_trusted.run_id}"
    policy = config.gate
    if policy.newest_needed > origin.history or policy.anchor_runs > origin.anchor_runs:
        yield "it holds fewer runs than [gate] history and anchor_runs here ask for"
    if config.trust != origin.trust:
        yield f"exported with [gate] trust = {origin.trust}, here it is {config.trust}"


def _exporter(origin: Origin) -> str:
    commit = origin.commit_sha and f"commit {origin.commit_sha[:12]}"
    ci_run = origin.ci_run_id is not None and f"CI run {origin.ci_run_id}"
    known = [fact for fact in (ci_run, commit, origin.ref) if fact]
    return f" from project {origin.project}{', ' if known else ''}{', '.join(known)}"


def _age(age: timedelta) -> str:
    minutes = age / timedelta(minutes=1)
    if minutes < 0:
        return "at a time that has not come yet"
    for unit, name in ((24 * 60, "days"), (60, "h")):
        if minutes >= 2 * unit:
            return f"{minutes / unit:.0f} {name} ago"
    return f"{minutes:.0f} min ago"

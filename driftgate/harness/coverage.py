"""Which series nobody feeds: declared ones that no scheduled run writes, and stored ones that have gone quiet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from driftgate.config.model import Cadence, Config
from driftgate.harness.label_requests import LabelRequests
from driftgate.harness.registrations import Registration
from driftgate.harness.scope import scope_of
from driftgate.harness.selecting import decide_selected
from driftgate.harness.test_files import TestFile
from gate.identity import SeriesIdentity
from gate.lint import starved_streak
from gate.wording import listed
from store.contract import SeriesSummary

FindingKind = Literal["unfed", "never_run", "silent", "starved", "gone"]
KINDS: Mapping[FindingKind, str] = {
    "unfed": "declared, but no scheduled run ever writes them",
    "never_run": "declared and scheduled, but without a run so far",
    "silent": "fed by a scheduled run, but quiet",
    "starved": "nothing trusted has come in for a while: the baseline stands still",
    "gone": "stored, but declared by no file any more",
}
"""Each kind of finding and what it means, in the order in which they are told."""


@dataclass(frozen=True, slots=True)
class Finding:
    kind: FindingKind
    text: str


@dataclass(frozen=True, slots=True)
class Covered:
    """A series, declared or stored. ``fed_by``: the scheduled writing cadences that select it; ``stored`` None: the
    store does not know it, or was not asked.
    """

    identity: SeriesIdentity
    fed_by: tuple[str, ...]
    stored: SeriesSummary | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Clock:
    """``quiet``: a series without a run for so long is silent."""

    now: datetime
    quiet: timedelta


def feeding_cadences(config: Config) -> tuple[Cadence, ...]:
    """Those that write the baseline by a schedule: with cron lines. Where none has any (GitLab tells no job its cron
    line, so they stand in its own settings), all that write.
    """
    writing = [cadence for cadence in config.cadences.values() if cadence.writes]
    return tuple([cadence for cadence in writing if cadence.crons] or writing)


def coverage(
    files: Iterable[TestFile], stored: Sequence[SeriesSummary] | None, config: Config, clock: Clock
) -> tuple[Covered, ...]:
    """Every series, sorted. ``stored`` None: the tree alone is looked at."""
    tests = {file.test_path: file for file in files}
    known = {summary.identity: summary for summary in stored or ()}
    places = {
        SeriesIdentity(config.project, file.test_path, registration.backend, registration.suite): registration
        for file in tests.values()
        if file.specs
        for registration in file.registrations
    }
    found = [
        _declared(identity, registration, known.get(identity), config, clock if stored is not None else None)
        for identity, registration in places.items()
    ]
    found += [_gone(summary, tests) for summary in known.values() if summary.runs and summary.identity not in places]
    return tuple(sorted(found, key=lambda one: one.identity))


def _declared(
    identity: SeriesIdentity,
    registration: Registration,
    stored: SeriesSummary | None,
    config: Config,
    clock: Clock | None,
) -> Covered:
    cadences = feeding_cadences(config)
    reasons: dict[str, str] = {}
    for cadence in cadences:
        scope = scope_of(cadence, LabelRequests(), config, match_all_labels=False)
        decision = decide_selected(registration, cadence, scope, LabelRequests(), config)
        if not decision.selected:
            reasons[cadence.name] = decision.reason
    fed_by = tuple(cadence.name for cadence in cadences if cadence.name not in reasons)
    findings: tuple[Finding, ...] = () if fed_by else (Finding("unfed", _unfed(reasons)),)
    if clock is not None:
        findings += tuple(_quiet(stored, fed_by, clock))
    return Covered(identity, fed_by, stored, findings)


def _unfed(reasons: Mapping[str, str]) -> str:
    if not reasons:
        return "no cadence writes the baseline; set writes = true in [cadences.NAME]"
    told = dict.fromkeys(reasons.values())
    if len(told) == 1:
        return f"not in {listed(reasons)}: {next(iter(told))}"
    return "; ".join(f"not in {name}: {reason}" for name, reason in reasons.items())


def _quiet(stored: SeriesSummary | None, fed_by: Sequence[str], clock: Clock) -> Iterator[Finding]:
    """What the store tells of a series that is declared."""
    last = None if stored is None else stored.last_run_at
    if stored is None or last is None:
        if fed_by:
            yield Finding("never_run", f"no run is stored, though {listed(fed_by)} should write one")
        return
    if fed_by and clock.now - last > clock.quiet:
        days = (clock.now - last) // timedelta(days=1)
        yield Finding(
            "silent", f"the last run was {days} days ago, on {last:%Y-%m-%d}, though {listed(fed_by)} feeds it"
        )
    starved = starved_streak(stored.untrusted_streak, stored.runs)
    if starved is not None:
        yield Finding("starved", starved)


def _gone(summary: SeriesSummary, tests: Mapping[str, TestFile]) -> Covered:
    identity = summary.identity
    test = tests.get(identity.test_path)
    last = "" if summary.last_run_at is None else f"; last run on {summary.last_run_at:%Y-%m-%d}"
    if test is None:
        text = "no file of that name below [discovery] roots"
    elif not test.specs:
        text = "the file has no register_ci_gate any more"
    else:
        places = listed(f"{found.backend} {found.suite}" for found in test.registrations) or "nothing"
        text = f"the file is registered for {places}"
    return Covered(identity, (), summary, (Finding("gone", text + last),))

"""One gate call: merge an attempt's record, judge it against history, write it if this run writes."""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from driftgate.config.model import Config
from driftgate.harness.differences import differences
from driftgate.harness.enforcement import mode_of, rejects
from driftgate.harness.history_access import OpenHistory
from driftgate.harness.kill_switch import KillSwitch
from driftgate.harness.known_past import KnownPast, StoredPast
from driftgate.harness.merge import merge_attempt, write_merged
from driftgate.harness.new_run import new_run
from driftgate.harness.outcome import JobExit, combined
from driftgate.harness.records import SEED_METRIC, idempotency_key
from gate.errors import DriftgateError
from gate.evaluate import NO_DECLARATION, evaluate
from gate.history import History, last_trusted_run
from gate.identity import SeriesIdentity, SpecKey
from gate.provenance import Provenance
from gate.record import Record
from gate.spec import GateSpec
from gate.verdict import Notice, Status, Verdict, Written
from store.contract import MetricHistoryStore, StoredRun
from store.errors import StoreError, StoreUnavailable
from store.replaying import replay_run

OpenPast = Callable[[], KnownPast]
_RED = (Status.FAIL.label, Status.ERROR.label)
LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Judgeable:
    """A passing attempt and all that its judgement depends on besides the configuration.

    ``writes`` is the write rule's answer; ``may_enforce`` is what configuration and kill switch say of this test.
    """

    identity: SeriesIdentity
    specs: tuple[GateSpec, ...]
    records: Path
    provenance: Provenance
    created_at: datetime
    writes: bool
    may_enforce: bool


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """The verdict and what it means for the job: FINE, REJECTED or UNAVAILABLE."""

    verdict: Verdict
    exit: JobExit


def judge(attempt: Judgeable, config: Config, open_history: OpenHistory) -> Judgement:
    """Judge an attempt and, in a writing run, store it. Nothing is written where nothing is declared.

    Never raises for a record, a store or an error of the gate itself: what keeps it from judging is the reason of a
    verdict ``not_judged``, and fails the job only where the gate is enforced.
    """
    if not attempt.specs:
        return unjudged(attempt, config, NO_DECLARATION)
    switch = KillSwitch(attempt.identity.project, open_history)
    try:
        judgement = _judged(attempt, config, open_history, switch)
    except Exception as error:  # noqa: BLE001 - a crash of the gate must not fail a test that passed
        judgement = _outage(attempt, config, error)
    return _spared(judgement, switch)


def judge_in_shadow(attempt: Judgeable, config: Config, open_past: OpenPast) -> Judgement:
    """As `judge`, from a past that is not a store's: nothing is written, and no job fails."""
    attempt = replace(attempt, writes=False, may_enforce=False)
    if not attempt.specs:
        return unjudged(attempt, config, NO_DECLARATION)
    try:
        record = merge_attempt(attempt.records)
        return _compared(attempt, config, record, _keep_merged(record, attempt.records), _Witness(open_past()))
    except Exception as error:  # noqa: BLE001 - as in `judge`
        return _outage(attempt, config, error)


def unjudged(attempt: Judgeable, config: Config, reason: str) -> Judgement:
    """The judgement on an attempt that the gate had nothing to say about; it fails no job."""
    verdict = Verdict("not_judged", attempt.identity, config.gate, attempt.provenance, reason=reason)
    return Judgement(verdict, JobExit.FINE)


def _judged(attempt: Judgeable, config: Config, open_history: OpenHistory, switch: KillSwitch) -> Judgement:
    record = merge_attempt(attempt.records)
    notices = _keep_merged(record, attempt.records)
    with open_history() as store:
        reader = _Witness(StoredPast(store))
        judgement = _spared(_compared(attempt, config, record, notices, reader), switch, store)
        return _stored(judgement, reader.history, attempt, config, store) if attempt.writes else judgement


def _spared(judgement: Judgement, switch: KillSwitch, store: MetricHistoryStore | None = None) -> Judgement:
    """In shadow where the job would fail and the store's switch is thrown; else as it is."""
    notice = None if judgement.exit is JobExit.FINE else switch.thrown(store)
    if notice is None:
        return judgement
    told = tuple(one for one in judgement.verdict.warnings if one != notice)
    return Judgement(replace(judgement.verdict, mode="shadow", warnings=(*told, notice)), JobExit.FINE)


def _compared(
    attempt: Judgeable, config: Config, record: Record, notices: tuple[Notice, ...], reader: _Witness
) -> Judgement:
    verdict = evaluate(
        attempt.specs,
        record,
        identity=attempt.identity,
        policy=config.gate,
        reader=reader,
        provenance=replace(attempt.provenance, seed=logged_seed(record)),
    )
    if not verdict.trusted:
        notices = (*notices, *_changed(verdict, reader))
    mode = mode_of(attempt.specs, allowed=attempt.may_enforce)
    verdict = replace(verdict, mode=mode, warnings=(*verdict.warnings, *notices))
    return Judgement(verdict, _exit_of(verdict))


def _stored(
    judgement: Judgement, history: History, attempt: Judgeable, config: Config, store: MetricHistoryStore
) -> Judgement:
    verdict = judgement.verdict
    try:
        key = None if verdict.provenance.ci_run_id is not None else idempotency_key(attempt.records)
        stored = store.write_run(new_run(verdict, history, attempt.created_at, key))
    except Exception as error:  # noqa: BLE001 - the verdict stands, whatever keeps it from being stored
        notice = Notice("not_written", f"the run was not stored: {reason_of(error)}")
        verdict = replace(verdict, warnings=(*verdict.warnings, notice))
        return Judgement(verdict, combined((judgement.exit, _outage_exit(attempt, config, error))))
    if stored.repeat:
        verdict = _as_stored(verdict, stored, store)
    reason = stored.untrusted_reason or _overruled(judgement.verdict, stored)
    written = Written(stored.run_id, stored.trusted, stored.repeat, reason)
    return Judgement(replace(verdict, written=written), _exit_of(verdict))


def _overruled(verdict: Verdict, stored: StoredRun) -> str | None:
    """Why a service, which judges again what it stores, does not trust what this verdict trusts."""
    if not verdict.trusted or stored.gate_trusted or stored.repeat:
        return None
    checks = (check for spec in stored.verdict.get("specs", ()) for check in spec["checks"].values())
    reasons = (check["reason"] for check in checks if check["status"] in _RED and check["reason"])
    return f"judged again by the service: {next(reasons, 'not trusted')}"


def _as_stored(fresh: Verdict, stored: StoredRun, store: MetricHistoryStore) -> Verdict:
    """The verdict that a repeated run got the first time: by now its own values may stand in the history."""
    try:
        verdict = replay_run(store, fresh.identity.project, stored.run_id).verdict
    except DriftgateError as error:
        notice = Notice("repeat", f"stored before, and its verdict of then cannot be shown: {error}")
        return replace(fresh, warnings=(*fresh.warnings, notice))
    return replace(verdict, mode=fresh.mode)


def _exit_of(verdict: Verdict) -> JobExit:
    return JobExit.REJECTED if rejects(verdict) else JobExit.FINE


def _changed(verdict: Verdict, reader: _Witness) -> tuple[Notice, ...]:
    """One more read, for a failing verdict only; without an answer the report lacks a line."""
    run_id = last_trusted_run(reader.history)
    if run_id is None:
        return ()
    try:
        then = reader.past.provenance_of(verdict.identity, run_id)
    except StoreError:
        return ()
    found = then and differences(verdict.provenance, then)
    return () if not found else (Notice("provenance", f"against the last trusted run {run_id}: {found}"),)


def _keep_merged(record: Record, folder: Path) -> tuple[Notice, ...]:
    try:
        write_merged(record, folder)
    except OSError as error:
        return (Notice("record_note", f"the merged record could not be kept in {folder}: {error.strerror}"),)
    return ()


def logged_seed(record: Record) -> int | None:
    """The last value of a metric named ``seed``, where the test logged one and it is a whole number."""
    series = record.metrics.get(SEED_METRIC)
    value = series.values[-1] if series is not None and series.values else math.nan
    return int(value) if value.is_integer() and abs(value) < LARGEST_SEED else None


def _outage(attempt: Judgeable, config: Config, error: Exception) -> Judgement:
    found = _outage_exit(attempt, config, error)
    verdict = unjudged(attempt, config, reason_of(error)).verdict
    return Judgement(replace(verdict, mode="shadow" if found is JobExit.FINE else "enforced"), found)


def _outage_exit(attempt: Judgeable, config: Config, error: Exception) -> JobExit:
    """``on_outage`` forgives a store that cannot be reached, and nothing else: a missing record is the test's."""
    enforced = mode_of(attempt.specs, allowed=attempt.may_enforce) == "enforced"
    forgiven = config.enforcement.on_outage == "shadow" and isinstance(error, StoreUnavailable)
    return JobExit.UNAVAILABLE if enforced and not forgiven else JobExit.FINE


def reason_of(error: Exception) -> str:
    """One line for people: what driftgate refuses in its own words, a bug with its place in the source."""
    if isinstance(error, DriftgateError):
        return str(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    text = " ".join(str(error).split())
    return f"error of the gate: {type(error).__name__}: {text} ({Path(frame.filename).name}:{frame.lineno})"


class _Witness:
    """Passes the gate's one read on and remembers its answer."""

    def __init__(self, past: KnownPast) -> None:
        self.history = History()
        self.past = past

    def read_history(
        self,
        identity: SeriesIdentity,
        specs: Sequence[SpecKey],
        limit: int,
        anchor_runs: int,
        exclude_ci_run_id: int | None,
    ) -> History:
        self.history = self.past.read_history(identity, specs, limit, anchor_runs, exclude_ci_run_id)
        return self.history

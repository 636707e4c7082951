"""From a store to a baseline file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from driftgate.harness.baseline_file import BaselineFile, LastTrusted, Origin, SeriesBaseline
from gate.history import History, SpecHistory, last_trusted_run
from gate.identity import SeriesIdentity, SpecKey
from gate.policy import GatePolicy
from gate.provenance import Provenance
from store.contract import MetricHistoryStore, RunFilter

SPARE_RUNS = 1
"""Read beyond what a judgement needs, because it leaves out the runs of its own CI run: one of them counts."""
_NO_METRIC = SpecKey("", "", "")
"""No metric has this name, so that its epoch is the one in force for metrics without an epoch of their own."""


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """``exporter`` says where the export itself runs; of it the commit, the CI run and the ref enter the file."""

    project: str
    policy: GatePolicy
    trust: str
    exporter: Provenance
    exported_at: datetime


def export_baseline(
    store: MetricHistoryStore, series: Iterable[SeriesIdentity], request: ExportRequest
) -> BaselineFile:
    """What the gate would read of each series, under every declaration that it has stored. Raises StoreError."""
    origin = Origin(
        project=request.project,
        exported_at=request.exported_at,
        history=request.policy.newest_needed,
        anchor_runs=request.policy.anchor_runs,
        trust=request.trust,
        commit_sha=request.exporter.commit_sha,
        ci_run_id=request.exporter.ci_run_id,
        ref=request.exporter.ref,
    )
    return BaselineFile(origin, {identity: _series_baseline(store, identity, request.policy) for identity in series})


def _series_baseline(store: MetricHistoryStore, identity: SeriesIdentity, policy: GatePolicy) -> SeriesBaseline:
    keys = [*store.list_specs(identity), _NO_METRIC]
    limit, anchor_runs = policy.newest_needed + SPARE_RUNS, policy.anchor_runs + SPARE_RUNS
    history = store.read_history(identity, keys, limit, anchor_runs, None)
    specs = {key: _own(spec) for key, spec in history.specs.items() if spec.baseline or spec.anchor or spec.valid}
    return SeriesBaseline(
        History(specs, history.recent_runs), history.of(_NO_METRIC).epoch_id, _last_trusted(store, identity, history)
    )


def _own(spec: SpecHistory) -> SpecHistory:
    """Without rows of other declarations: they are in the file under their own."""
    return replace(spec, others=())


def _last_trusted(store: MetricHistoryStore, identity: SeriesIdentity, history: History) -> LastTrusted | None:
    run_id = last_trusted_run(history)
    found = [] if run_id is None else store.list_runs(identity.project, RunFilter(run_id=run_id))
    return LastTrusted(found[0].run_id, found[0].provenance) if found else None

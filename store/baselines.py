"""The baselines of a series as people ask for them: every gate spec that it has stored, by columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from gate.identity import SeriesIdentity
from gate.policy import GatePolicy
from gate.summary import BaselineSummary, summarise
from store.contract import MetricHistoryStore
from store.documents import SCHEMA
from store.errors import NotFound
from store.finding import Chosen, no_metric, short_name


def baseline_summaries(
    store: MetricHistoryStore, identity: SeriesIdentity, policy: GatePolicy
) -> list[BaselineSummary]:
    """By metric, steps, constraint; empty for a series that the store does not know."""
    keys = sorted(store.list_specs(identity))
    history = store.read_history(identity, keys, policy.history, policy.anchor_runs, None)
    return [summarise(key, history.of(key), limit=policy.history, anchor_runs=policy.anchor_runs) for key in keys]


def narrowed(identity: SeriesIdentity, summaries: Sequence[BaselineSummary], chosen: Chosen) -> list[BaselineSummary]:
    """Raises NotFound where the series has no such metric or step."""
    known = {summary.key.metric_key: None for summary in summaries}
    metric, step = chosen.metric_key, chosen.step
    if metric is not None and metric not in known:
        raise no_metric(identity, chosen, known)
    wanted = [summary for summary in summaries if metric in (None, summary.key.metric_key)]
    if step is None:
        return wanted
    found = [summary for summary in wanted if step in summary.steps]
    if not found:
        raise NotFound(f"{chosen.step_name}: no trusted run of {short_name(identity)} has a value at step {step}")
    return [summary.at(step) for summary in found]


def baselines_json(identity: SeriesIdentity, summaries: Sequence[BaselineSummary]) -> dict[str, Any]:
    return {"schema": SCHEMA, "series": asdict(identity), "specs": [summary.to_json() for summary in summaries]}

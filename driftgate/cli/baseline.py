"""``driftgate baseline``: what is the baseline of this test, and its corridor?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftgate.cli.output import number, print_json, print_table, say
from driftgate.cli.session import Session, command
from driftgate.cli.targets import BackendOption, SuiteOption, only_series, series_of
from driftgate.config.model import Config
from gate.identity import AGGREGATE_STEP, SeriesIdentity

if TYPE_CHECKING:
    from gate.summary import BaselineSummary
    from store.contract import MetricHistoryStore


@command
def baseline(
    session: Session,
    *,
    test: Annotated[Path, typer.Argument(metavar="TEST", help="Test file, as a path from here.")],
    metric: Annotated[str | None, typer.Option("--metric", metavar="KEY", help="Only this metric.")] = None,
    step: Annotated[int | None, typer.Option("--step", metavar="K", help="Only this step.")] = None,
    backend: BackendOption = None,
    suite: SuiteOption = None,
) -> None:
    """The baseline and the corridor of every coordinate, as a table.

    Example: driftgate baseline tests/e2e/test_grpo.py --metric train/ppo_kl --step 3
    """
    with session.history() as (config, store):
        chosen = only_series if session.json else series_of
        found = chosen(store, config, test, backend=backend, suite=suite)
        identities = [found] if isinstance(found, SeriesIdentity) else found
        answers = [(identity, _summaries(store, config, identity, metric)) for identity in identities]
    for identity, summaries in answers:
        shown = [summary if step is None else summary.at(step) for summary in summaries]
        if session.json:
            print_json({"schema": 1, "series": asdict(identity), "specs": [summary.to_json() for summary in shown]})
        else:
            _print(identity, shown)


def _summaries(
    store: MetricHistoryStore, config: Config, identity: SeriesIdentity, metric: str | None
) -> list[BaselineSummary]:
    from gate.summary import summarise

    keys = [key for key in store.list_specs(identity) if metric in (None, key.metric_key)]
    policy = config.gate
    history = store.read_history(identity, keys, policy.history, policy.anchor_runs, None)
    return [
        summarise(key, history.of(key), limit=policy.history, anchor_runs=policy.anchor_runs) for key in sorted(keys)
    ]


def _print(identity: SeriesIdentity, summaries: list[BaselineSummary]) -> None:
    print(f"{identity.test_path}  {identity.backend}  {identity.suite}")
    if not any(summary.steps.size for summary in summaries):
        say("no trusted run has a value here yet: a cold start")
    for summary in summaries:
        print(f"\n{summary.key.metric_key}  steps {summary.key.steps_key}  {summary.key.constraint_key}")
        print_table(
            ("step", "n", "mean", "sd", "lo", "hi", "anchor"),
            [_cells(summary, index) for index in range(summary.steps.size)],
        )


def _cells(summary: BaselineSummary, index: int) -> tuple[str, ...]:
    step = int(summary.steps[index])
    columns = (summary.mean, summary.sd, summary.lo, summary.hi, summary.anchor_mean)
    name = "-" if step == AGGREGATE_STEP else str(step)
    return (name, str(summary.n[index]), *(number(float(column[index])) for column in columns))

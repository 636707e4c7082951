"""``driftgate baseline``: what is the baseline of this test, and its corridor?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftgate.cli.baseline_export import export_to
from driftgate.cli.history import title_of
from driftgate.cli.output import number, print_json, print_table, print_text, say
from driftgate.cli.plots import PlotOption, check_plot, draw
from driftgate.cli.session import Session, command
from driftgate.cli.targets import BackendOption, SuiteOption, only_series, series_of
from driftgate.config.model import Config
from gate.errors import ConfigError
from gate.identity import AGGREGATE_STEP, SeriesIdentity

if TYPE_CHECKING:
    from gate.summary import BaselineSummary
    from store.contract import MetricHistoryStore


@command
def baseline(
    session: Session,
    *,
    test: Annotated[
        Path | None,
        typer.Argument(metavar="TEST", help="Test file, as a path from here; an export needs none."),
    ] = None,
    metric: Annotated[str | None, typer.Option("--metric", metavar="KEY", help="Only this metric.")] = None,
    step: Annotated[
        int | None, typer.Option("--step", metavar="K", help='Only this step; -1 for "last" and reductions.')
    ] = None,
    backend: BackendOption = None,
    suite: SuiteOption = None,
    plot: PlotOption = None,
    export: Annotated[
        Path | None,
        typer.Option("--export", metavar="FILE", help="Write all baselines, or TEST's, for `gate --baseline FILE`."),
    ] = None,
) -> None:
    """The baseline and its corridor, step by step.

    With --export all baselines as a file, for runs that may not reach the store.

    Example: driftgate baseline tests/e2e/test_grpo.py --metric train/ppo_kl --step 3
    """
    from store.baselines import baseline_summaries, baselines_json, narrowed
    from store.finding import Chosen

    if export is not None:
        if metric is not None or step is not None or plot is not None:
            raise ConfigError("--export takes whole series; leave out --metric, --step and --plot")
        export_to(export, session, test, backend=backend, suite=suite)
        return
    if test is None:
        raise ConfigError("baseline: which one? give TEST, or --export FILE for all of them")
    check_plot(plot)
    with session.history() as (config, store):
        chosen = only_series if session.json or plot else series_of
        found = chosen(store, config, test, backend=backend, suite=suite)
        identities = [found] if isinstance(found, SeriesIdentity) else found
        answers = [(identity, baseline_summaries(store, identity, config.gate)) for identity in identities]
        wanted = Chosen(metric, step, "--metric", "--step")
        shown = [(identity, narrowed(identity, summaries, wanted)) for identity, summaries in answers]
        if plot is not None:
            _draw(plot, store, config, *shown[0])
    for identity, summaries in shown:
        if session.json:
            print_json(baselines_json(identity, summaries))
        else:
            _print(identity, summaries)


def _draw(
    plot: Path, store: MetricHistoryStore, config: Config, identity: SeriesIdentity, summaries: list[BaselineSummary]
) -> None:
    from driftgate.cli.curve_panel import baseline_panel

    past = store.read_past(identity)
    panels = [baseline_panel(past, summary, config.gate, config.trust) for summary in summaries]
    draw(plot, title_of(identity), panels)
    say(f"drawn to {plot}")


def _print(identity: SeriesIdentity, summaries: list[BaselineSummary]) -> None:
    print_text(f"{title_of(identity)}\n")
    for summary in summaries:
        epoch = "" if summary.epoch_id is None else f"  epoch {summary.epoch_id}"
        print_text(f"\n{summary.key.metric_key}  steps {summary.key.steps_key}  {summary.key.constraint_key}{epoch}\n")
        if summary.steps.size:
            _print_columns(summary)
        else:
            say("no trusted run has a value here yet: the next one is a cold start")


def _print_columns(summary: BaselineSummary) -> None:
    import numpy as np

    columns = {"mean": summary.mean, "sd": summary.sd, "lo": summary.lo, "hi": summary.hi}
    if np.any(np.isfinite(summary.anchor_mean)):
        columns["anchor"] = summary.anchor_mean
    rows = [
        (_step_name(step), str(n), *map(number, numbers))
        for step, n, *numbers in zip(
            summary.steps.tolist(), summary.n.tolist(), *(column.tolist() for column in columns.values()), strict=True
        )
    ]
    print_table(("step", "n", *columns), rows)


def _step_name(step: int) -> str:
    return "-" if step == AGGREGATE_STEP else str(step)

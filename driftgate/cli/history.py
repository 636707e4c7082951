"""``driftgate history``: every stored value of a metric."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftgate.cli.output import moment, number, pass_on, print_json, print_table, print_text, say
from driftgate.cli.plots import PlotOption, check_plot, draw
from driftgate.cli.session import Session, command
from driftgate.cli.targets import BackendOption, SuiteOption, only_series
from driftgate.config.model import Config
from gate.errors import ConfigError
from gate.identity import AGGREGATE_STEP, SeriesIdentity

if TYPE_CHECKING:
    import pandas as pd

    from store.contract import MetricHistoryStore


@command
def history(
    session: Session,
    *,
    test: Annotated[Path, typer.Argument(metavar="TEST", help="Test file, as a path from here.")],
    metric: Annotated[str, typer.Option("--metric", metavar="KEY", help="This metric.")],
    step: Annotated[
        int | None, typer.Option("--step", metavar="K", help='Only this step; -1 for "last" and reductions.')
    ] = None,
    backend: BackendOption = None,
    suite: SuiteOption = None,
    plot: PlotOption = None,
    csv: Annotated[bool, typer.Option("--csv", help="Comma-separated values on stdout instead of a table.")] = False,
) -> None:
    """Every stored value of a metric. Oldest first, never sampled.

    A plot shows the value of each run (without --step, the mean over its steps) beside the corridor that the run met.

    Example: driftgate history tests/e2e/test_grpo.py --metric train/ppo_kl --step 3 --plot ppo_kl.png
    """
    from store.documents import history_json
    from store.finding import Chosen, no_history
    from store.frames import frame_csv

    if csv and session.json:
        raise ConfigError("give one of --csv and --json")
    check_plot(plot)
    with session.history() as (config, store):
        identity = only_series(store, config, test, backend=backend, suite=suite)
        frame = store.metric_history(identity, metric, step)
        if frame.empty:
            raise no_history(store, identity, Chosen(metric, step, "--metric", "--step"))
        if plot is not None:
            _draw(plot, store, config, identity, metric, step)
    if session.json:
        print_json(history_json(identity, metric, _records(frame)))
    elif csv:
        pass_on(frame_csv(frame), sys.stdout)
    elif plot is None:
        _print(identity, frame)


def _draw(
    plot: Path, store: MetricHistoryStore, config: Config, identity: SeriesIdentity, metric: str, step: int | None
) -> None:
    from driftgate.cli.trace_panel import trace_panel
    from gate.trace import trace

    past = store.read_past(identity)
    keys = [key for key in store.list_specs(identity) if key.metric_key == metric]
    traces = [trace(past, key, config.gate, step=step, grain=config.trust) for key in keys]
    draw(plot, title_of(identity), [trace_panel(one) for one in traces if one.run_ids])
    say(f"drawn to {plot}")


def title_of(identity: SeriesIdentity) -> str:
    return f"{identity.test_path} on {identity.backend} in {identity.suite}, project {identity.project}"


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """One dict per value; what the frame lacks is None, not NaN."""
    columns = {name: frame[name].astype(object).where(frame[name].notna(), None).tolist() for name in frame.columns}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _print(identity: SeriesIdentity, frame: pd.DataFrame) -> None:
    print_text(f"{title_of(identity)}\n\n")
    rows = ([record[name] for name in _SHOWN] for record in _records(frame))
    print_table(("run", "created", "steps", "step", "value", "state", "commit"), map(_cells, rows))


_SHOWN = ("run_id", "created_at", "steps_key", "step", "value", "trusted", "superseded", "commit_sha")


def _cells(row: Iterable[Any]) -> tuple[str, ...]:
    run_id, created_at, steps_key, step, value, trusted, superseded, commit = row
    state = "superseded" if superseded else "trusted" if trusted else "not trusted"
    where = "-" if step == AGGREGATE_STEP else str(step)
    return (run_id, moment(created_at), steps_key, where, number(value), state, str(commit or "-")[:10])

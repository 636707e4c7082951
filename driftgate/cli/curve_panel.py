"""A picture of a baseline over the steps of a run: corridor, mean, anchor, and the newest runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from driftgate.cli.plots import Panel, name_panel, put_legend
from driftgate.cli.trace_panel import ANCHOR, BAND, LINE, MARKERS, trace_panel
from gate.identity import AGGREGATE_STEP
from gate.past import PastValues, SeriesPast, TrustGrain
from gate.policy import GatePolicy
from gate.summary import BaselineSummary
from gate.trace import trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEWEST_UNTRUSTED = 5
STEEP = 4.0
"""Heights of the corridor that a curve may climb before differences are drawn instead."""


def baseline_panel(series: SeriesPast, summary: BaselineSummary, policy: GatePolicy, grain: TrustGrain) -> Panel:
    """Over the steps where there are several, else run by run."""
    if summary.steps.size > 1:
        return partial(_draw, summary, _untrusted(series, summary))
    step = int(summary.steps[0]) if summary.steps.size else AGGREGATE_STEP
    return trace_panel(trace(series, summary.key, policy, step=step, grain=grain))


def _untrusted(series: SeriesPast, summary: BaselineSummary) -> list[PastValues]:
    """Of the newest runs that came after the newest run of the baseline and are in no baseline."""
    newest = summary.run_ids[0] if summary.run_ids else None
    found: list[PastValues] = []
    for run in reversed(series.runs):
        if run.run_id == newest or len(found) == NEWEST_UNTRUSTED:
            break
        if run.superseded_by is None:
            found += [values for values in run.values if values.key == summary.key]
    return found


def _draw(summary: BaselineSummary, untrusted: Sequence[PastValues], axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    x, zero = summary.steps, _zero(summary)
    axes.fill_between(x, summary.lo - zero, summary.hi - zero, color=BAND, linewidth=0, label="corridor")
    for index, row in enumerate(summary.values):
        label = f"its {len(summary.values)} runs" if index == 0 else None
        axes.plot(x, row - zero, color=LINE, linewidth=0.6, alpha=0.35, label=label)
    axes.plot(x, summary.mean - zero, color=LINE, linewidth=1.8, label="mean of the baseline")
    if np.any(np.isfinite(summary.anchor_mean)):
        axes.plot(x, summary.anchor_mean - zero, color=ANCHOR, linewidth=1.6, linestyle=(0, (4, 3)), label="anchor")
    for index, values in enumerate(untrusted):
        marker = MARKERS["untrusted"] | {"s": 16, "label": "newest runs, not trusted" if index == 0 else None}
        _, at, source = np.intersect1d(x, values.steps, assume_unique=True, return_indices=True)
        axes.scatter(x[at], values.values[source] - zero[at], zorder=3, **marker)
    axes.margins(x=0.01)
    axes.tick_params(labelsize=8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("step", fontsize=8.5)
    if np.any(zero):
        axes.set_ylabel("difference from the mean", fontsize=8.5)
    name_panel(axes, f"{summary.key.metric_key}   steps {summary.key.steps_key}   {summary.key.constraint_key}")
    put_legend(axes)


def _zero(summary: BaselineSummary) -> NDArray[np.float64]:
    """What is drawn as 0: the mean itself where the curve is so steep that its corridor would be a line."""
    band = float(np.median(summary.hi - summary.lo))
    steep = float(np.ptp(summary.mean)) > STEEP * band
    return summary.mean if steep else np.zeros(summary.steps.size)

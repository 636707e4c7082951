"""A picture of one number run by run: what came, what was allowed, and what became of it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from driftgate.cli.plots import Panel, name_panel, put_legend
from gate.trace import RunState, Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAND, LINE, ANCHOR, RED, GREY = "#cfe3f5", "#1f5f99", "#b35c00", "#c62828", "#8a8a8a"
MARKERS: dict[RunState, dict[str, Any]] = {
    "trusted": {"marker": "o", "s": 18, "color": LINE, "label": "trusted run"},
    "untrusted": {"marker": "o", "s": 36, "color": "white", "edgecolors": RED, "label": "not trusted by the gate"},
    "marked": {"marker": "X", "s": 48, "color": RED, "linewidths": 0, "label": "marked untrusted"},
    "superseded": {"marker": "x", "s": 24, "color": GREY, "linewidths": 1.2, "label": "superseded by a rerun"},
}
_ROOM = 0.5
"""Above and below what is expected, in parts of its height; points further out are drawn at the edge."""
_MOST_TICKS = 9


def trace_panel(trace: Trace) -> Panel:
    return partial(_draw, trace)


def _draw(trace: Trace, axes: Axes) -> None:
    columns, x = trace.columns, np.arange(len(trace.run_ids))
    axes.fill_between(x, columns["lo"], columns["hi"], step="mid", color=BAND, linewidth=0, label="corridor")
    axes.step(x, columns["mean"], where="mid", color=LINE, linewidth=1.2, label="mean of its baseline")
    if np.any(np.isfinite(columns["anchor"])):
        axes.step(x, columns["anchor"], where="mid", color=ANCHOR, linewidth=1.4, label="anchor of the epoch")
        for bound in ("anchor_lo", "anchor_hi"):
            label = "corridor of the anchor" if bound == "anchor_lo" else None
            axes.step(x, columns[bound], where="mid", color=ANCHOR, linewidth=1.0, linestyle=(0, (4, 3)), label=label)
    low, high = _limits(trace)
    for state, marker in MARKERS.items():
        at = np.array([known == state for known in trace.states], np.bool_)
        if np.any(at):
            axes.scatter(x[at], np.clip(columns["value"][at], low, high), zorder=3, **marker)
    _mark_far(axes, x, columns["value"], low, high)
    _mark_epochs(axes, trace)
    axes.set_ylim(low, high)
    axes.set_xlim(-0.8, max(len(x) - 0.2, 1))
    _label(axes, trace)
    put_legend(axes)


def _limits(trace: Trace) -> tuple[float, float]:
    """Room for the corridors and every ordinary value, so that a broken run does not flatten the rest."""
    columns = trace.columns
    trusted = np.array([state == "trusted" for state in trace.states], np.bool_)
    expected = [columns["value"][trusted], *(columns[name] for name in ("lo", "hi", "anchor_lo", "anchor_hi"))]
    numbers = np.concatenate(expected)
    if not np.any(np.isfinite(numbers)):
        numbers = columns["value"]
    known = numbers[np.isfinite(numbers)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    room = _ROOM * (high / 2 - low / 2) * 2 or abs(high) * 0.1 or 1.0
    within = columns["value"][(columns["value"] >= low - room) & (columns["value"] <= high + room)]
    pad = 0.06 * (high - low + room)
    return min(low, float(np.min(within, initial=low))) - pad, max(high, float(np.max(within, initial=high))) + pad


def _mark_far(axes: Axes, x: NDArray[np.int64], values: NDArray[np.float64], low: float, high: float) -> None:
    for outside, edge, marker in ((values > high, high, "^"), (values < low, low, "v")):
        for at in np.flatnonzero(outside).tolist():
            axes.scatter([x[at]], [edge], marker=marker, s=70, color=RED, clip_on=False, zorder=4)
            axes.annotate(
                f"{values[at]:.3g}",
                (float(x[at]), edge),
                xytext=(6, -11 if marker == "^" else 4),
                textcoords="offset points",
                fontsize=7.5,
                color=RED,
            )


def _mark_epochs(axes: Axes, trace: Trace) -> None:
    for number, at in enumerate(trace.epochs):
        label = "epoch begins" if number == 0 else None
        axes.axvline(at - 0.5, color="black", linewidth=1.0, linestyle=(0, (1, 2)), label=label)


def _label(axes: Axes, trace: Trace) -> None:
    count = len(trace.run_ids)
    ticks = np.unique(np.linspace(0, max(count - 1, 0), min(_MOST_TICKS, count)).astype(int))
    axes.set_xticks(ticks, [f"{trace.created_at[at]:%Y-%m-%d}" for at in ticks.tolist()], fontsize=8)
    axes.tick_params(axis="y", labelsize=8)
    axes.set_xlabel(f"runs, oldest first ({count})", fontsize=8.5)
    name_panel(axes, f"{trace.key.metric_key}   {_shown(trace)}   {trace.key.constraint_key}")


def _shown(trace: Trace) -> str:
    steps = trace.key.steps_key
    if steps == '"last"' or steps.startswith("{"):
        return f"steps {steps}"
    return f"mean over steps {steps}" if trace.step is None else f"step {trace.step}"

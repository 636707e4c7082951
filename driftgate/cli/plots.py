"""Pictures of histories and baselines, as files. The one place that knows matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftgate.cli.output import say
from gate.errors import ConfigError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PlotOption = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Draw it, e.g. FILE.png; needs the extra `plot`.")
]
Panel = Callable[["Axes"], None]
"""Draws itself."""

MOST_PANELS = 12
_INCHES_WIDE, _INCHES_PER_PANEL, _INCHES_ABOVE = 11.0, 3.6, 0.7
_DPI = 110


def check_plot(path: Path | None) -> None:
    """Before anything is read. Raises ConfigError: no matplotlib, no such kind of file, no such folder."""
    if path is None:
        return
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
    except ImportError:
        raise ConfigError("--plot needs matplotlib: pip install 'driftgate[plot]'") from None
    kinds = sorted(FigureCanvasAgg.get_supported_filetypes())
    if path.suffix.lstrip(".").lower() not in kinds:
        raise ConfigError(f"--plot: {path}: no kind of picture; end the name in .png, .svg or .pdf")
    if not path.absolute().parent.is_dir():
        raise ConfigError(f"--plot: {path.parent}: no such folder; make it first")


def draw(path: Path, title: str, panels: Sequence[Panel]) -> None:
    """One below the other, at most `MOST_PANELS`. Raises ConfigError where the file cannot be written."""
    from matplotlib.figure import Figure

    shown = panels[:MOST_PANELS]
    if len(shown) < len(panels):
        say(f"driftgate: {path} shows {len(shown)} of {len(panels)} gate specs; --metric chooses")
    height = _INCHES_ABOVE + _INCHES_PER_PANEL * max(1, len(shown))
    figure = Figure(figsize=(_INCHES_WIDE, height), layout="constrained")
    figure.suptitle(_plain(title), fontsize=11, x=0.01, ha="left")
    for place, panel in enumerate(shown, 1):
        axes: Any = figure.add_subplot(len(shown), 1, place)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#e6e6e6", linewidth=0.8)
        axes.set_axisbelow(True)
        panel(axes)
    try:
        figure.savefig(path, dpi=_DPI)
    except OSError as error:
        raise ConfigError(f"--plot: {path}: cannot be written: {error.strerror or error}") from None


def name_panel(axes: Any, text: str) -> None:
    """The panel's title; no name from a test is taken for a formula."""
    axes.set_title(_plain(text), loc="left", fontsize=9.5)


def put_legend(axes: Any) -> None:
    """Beside the panel, so that it hides no point."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        axes.legend(handles, labels, loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=8, frameon=False)


def _plain(text: str) -> str:
    return text.replace("$", r"\$")

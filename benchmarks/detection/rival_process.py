"""Runs inside the rivals' own environment: series as JSON on standard input, runs that are red on standard output.

In: ``{"rival": name, "watch_from": run, "histories": [{"series": [metric][run], "stop_from": run or null}, ...]}``.
Out: ``[{"red": [run, ...], "judged": runs, "seconds": s}, ...]``, one per history, red where any of its metrics is;
nothing after the first red run from ``stop_from`` on is judged.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, stdev
from typing import Any

Reds = Callable[[Sequence[float], int], Iterator[int]]
FIRST_RUNS = 20
"""ADWIN expects values of order one: each series is scaled by the mean and sd of so many first runs."""
SAME_CHANGE = 5
"""Otava's change points shift as runs arrive: one this near to an earlier one is the same change."""


def otava_reds(series: Sequence[float], watch_from: int) -> Iterator[int]:
    """Runs after which Otava, asked about the series so far, names a change that it had not named before."""
    from otava.analysis import compute_change_points  # type: ignore[import-not-found]  # noqa: PLC0415 - only this rival's work needs it

    named: list[int] = []
    for run in range(watch_from, len(series)):
        points, _ = compute_change_points(list(series[: run + 1]))
        new = [int(point.index) for point in points]
        new = [index for index in new if all(abs(index - known) > SAME_CHANGE for known in named)]
        if new:
            named += new
            yield run


def adwin_reds(series: Sequence[float], watch_from: int) -> Iterator[int]:
    """Runs at which river's ADWIN, checking every run (clock 1) at its default delta, detects a drift."""
    from river.drift import ADWIN  # type: ignore[import-not-found]  # noqa: PLC0415 - only this rival's work needs it

    detector = ADWIN(clock=1)
    mean, sd = fmean(series[:FIRST_RUNS]), stdev(series[:FIRST_RUNS]) or 1.0
    for run, value in enumerate(series):
        detector.update((value - mean) / sd)
        if detector.drift_detected and run >= watch_from:
            yield run


RIVALS: dict[str, Reds] = {"otava": otava_reds, "adwin": adwin_reds}


def judged(metrics: Sequence[Sequence[float]], reds: Reds, watch_from: int, stop_from: int | None) -> dict[str, Any]:
    started = time.process_time()
    red: set[int] = set()
    end = len(metrics[0])
    for series in metrics:
        for run in reds(series[:end], watch_from):
            red.add(run)
            if stop_from is not None and run >= stop_from:
                end = run + 1
                break
    return {"red": sorted(run for run in red if run < end), "judged": end, "seconds": time.process_time() - started}


def main() -> None:
    asked = json.load(sys.stdin)
    reds = RIVALS[asked["rival"]]
    answers = [
        judged(history["series"], reds, asked["watch_from"], history["stop_from"]) for history in asked["histories"]
    ]
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()

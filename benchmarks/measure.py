"""Timing and the table of results."""

from __future__ import annotations

import gc
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.metadata import version


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. ``ours`` and ``rival`` in ``unit``; ``target`` in words; ``met`` None: nothing to meet."""

    what: str
    ours: float
    unit: str
    target: str
    met: bool | None
    rival: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return None if self.rival is None or self.ours == 0 else self.rival / self.ours


def median_seconds(call: Callable[[], object], *, repeat: int, warm_up: int = 3) -> float:
    """Median wall time of one call; the garbage collector rests while measuring."""
    for _ in range(warm_up):
        call()
    times = []
    gc.disable()
    try:
        for _ in range(repeat):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
    finally:
        gc.enable()
    return statistics.median(times)


def machine() -> str:
    """What was measured on, without naming the machine."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "sqlalchemy", "psycopg", "orjson"))
    return f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, {packages}"


def as_markdown(rows: Iterable[Row]) -> str:
    lines = [
        "| what | driftgate | must reach | met | stand-in of the reference design | ratio | note |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        rival = "" if row.rival is None else f"{row.rival:.4g} {row.unit}"
        ratio = "" if row.ratio is None else f"{row.ratio:.1f}x"
        met = {True: "yes", False: "NO", None: ""}[row.met]
        lines.append(
            f"| {row.what} | {row.ours:.4g} {row.unit} | {row.target} | {met} | {rival} | {ratio} | {row.note} |"
        )
    return "\n".join(lines)


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)

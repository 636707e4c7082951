"""The metrics of one attempt: JSON Lines of one process, merged over processes into a `Record`.

Pure: bytes in, values out. Reading directories and writing the merged file is the harness's work.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from gate.numbers import counted
from gate.wording import clipped

MARKERS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""How non-finite values are written, so that every line is strict JSON."""
STEP_LIMIT = 2**63
LONGEST_DEFECT = 300


@dataclass(frozen=True, slots=True)
class MetricSeries:
    """The points of one metric: ``values`` (NaN and infinities kept) at ``steps`` (None: logged without a step).

    ``defects`` are sentences of the collector or of the reader; one is enough to make the metric ERROR.
    """

    steps: tuple[int | None, ...] = ()
    values: tuple[float, ...] = ()
    defects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Record:
    """Metrics by NFC-normalised name. ``damaged`` says what was lost: every metric is then ERROR.

    Of one file the points are in the file's order; after `merge` they are sorted by step, None last.
    ``notes`` tell what was dropped without harm.
    """

    metrics: Mapping[str, MetricSeries] = field(default_factory=dict)
    damaged: str | None = None
    notes: tuple[str, ...] = ()


def parse(data: bytes, name: str = "record") -> Record:
    """The content of one file, whatever it holds. Never raises; ``name`` appears in notes.

    A last line that was cut short is dropped and noted. Any other line that is no record line is dropped and makes
    the record damaged.
    """
    reader = _Reader()
    garbage: list[int] = []
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line or line.isspace() or reader.take(_load(line)):
            continue
        if number == len(lines) and line.lstrip().startswith(b"{") and _load(line) is None:
            reader.notes.append(f"{name}: line {number} was cut short and is dropped")
        else:
            garbage.append(number)
    if garbage:
        count = "1 line is" if len(garbage) == 1 else f"{len(garbage)} lines are"
        reader.damage.append(f"{name}: {count} no record line, first line {garbage[0]}")
    return reader.record(name)


def merge(files: Sequence[Record]) -> Record:
    """One record of all: per metric the series of all files in the given order, sorted by step, None last, stable."""
    names = dict.fromkeys(name for file in files for name in file.metrics)
    return Record(
        metrics={name: _merged([file.metrics[name] for file in files if name in file.metrics]) for name in names},
        damaged="; ".join(file.damaged for file in files if file.damaged is not None) or None,
        notes=tuple(note for file in files for note in file.notes),
    )


def dump_record(record: Record) -> bytes:
    """The merged file: JSON Lines that `load_record` reads back to an equal record."""
    entries: list[dict[str, Any]] = [{"note": note} for note in record.notes]
    if record.damaged is not None:
        entries.append({"damaged": record.damaged})
    for name, series in record.metrics.items():
        entries.append({"metric": name, "series": _written(series)})
        entries += [{"metric": name, "defect": defect} for defect in series.defects]
    return b"".join(orjson.dumps(entry, option=orjson.OPT_APPEND_NEWLINE) for entry in entries)


def load_record(data: bytes) -> Record:
    """The record in a merged file; reads a single process's file as well."""
    return merge([parse(data)])


def _written(series: MetricSeries) -> list[tuple[int | None, float | str]]:
    return [
        (step, value if math.isfinite(value) else _marker(value))
        for step, value in zip(series.steps, series.values, strict=True)
    ]


def _marker(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _load(line: bytes) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        pass
    try:  # Python's own json writes NaN bare and integers of any length
        return json.loads(line.decode())
    except (ValueError, RecursionError):
        return None


def _merged(parts: Sequence[MetricSeries]) -> MetricSeries:
    points = [point for part in parts for point in zip(part.steps, part.values, strict=True)]
    points.sort(key=_step_order)
    return MetricSeries(
        steps=tuple(step for step, _ in points),
        values=tuple(value for _, value in points),
        defects=tuple(dict.fromkeys(defect for part in parts for defect in part.defects)),
    )


def _step_order(point: tuple[int | None, float]) -> int:
    step = point[0]
    return STEP_LIMIT if step is None else step


def _clean(text: str) -> str:
    """NFC, and nothing that UTF-8 or a database cannot hold."""
    if text.isascii() and "\0" not in text:
        return text
    return unicodedata.normalize("NFC", text.replace("\0", "\ufffd").encode(errors="replace").decode())


class _Points:
    """The points of one metric while a file is read."""

    def __init__(self) -> None:
        self.steps: list[int | None] = []
        self.values: list[float] = []
        self.defects: list[str] = []
        self.ignored = 0

    def take(self, series: Iterable[Any]) -> None:
        for point in series:
            if type(point) is not list or len(point) != 2:
                self.defects.append("expected points of the form [step, value]")
                continue
            step, value = point
            if type(value) is float and type(step) is int and 0 <= step < STEP_LIMIT:
                self.steps.append(step)
                self.values.append(value)
            else:
                self._take_unusual(step, value)

    def _take_unusual(self, step: Any, value: Any) -> None:
        if step is not None and (type(step) is not int or not 0 <= step < STEP_LIMIT):
            self.defects.append(f"expected a step that is an int >= 0 or null, got {_shown(step)}")
            return
        if type(value) is str:
            value = MARKERS.get(value)
        if type(value) not in (int, float):
            self.ignored += 1
            return
        try:
            self.values.append(float(value))
        except OverflowError:
            self.defects.append("expected a number, got an int too large for a double")
        else:
            self.steps.append(step)


def _shown(step: Any) -> str:
    if type(step) is int:
        return "a negative int" if step < 0 else "an int above 2**63 - 1"
    return f"a {type(step).__name__}"


class _Reader:
    """Takes the lines of one file."""

    def __init__(self) -> None:
        self.points: dict[str, _Points] = {}
        self.damage: list[str] = []
        self.notes: list[str] = []

    def take(self, entry: Any) -> bool:
        """Whether ``entry`` is a record line."""
        if type(entry) is not dict:
            return False
        name, series = entry.get("metric"), entry.get("series")
        if type(name) is str and type(series) is list:
            self._of(name).take(series)
            return True
        return self._take_remark(entry)

    def _take_remark(self, entry: dict[str, Any]) -> bool:
        match entry:
            case {"metric": str(name), "defect": str(defect)}:
                self._of(name).defects.append(_defect(defect, entry.get("step")))
            case {"damaged": str(text)}:
                self.damage.append(_clean(text))
            case {"note": str(text)}:
                self.notes.append(_clean(text))
            case _:
                return False
        return True

    def _of(self, name: str) -> _Points:
        key = _clean(name)
        found = self.points.get(key)
        if found is None:
            found = self.points[key] = _Points()
        return found

    def record(self, name: str) -> Record:
        ignored = {metric: points.ignored for metric, points in self.points.items() if points.ignored}
        if ignored:
            example = clipped(next(iter(ignored)))
            self.notes.append(
                f"{name}: ignored, for they are no numbers: {counted(sum(ignored.values()), 'value')} of {example}"
            )
        return Record(
            metrics={
                metric: MetricSeries(tuple(points.steps), tuple(points.values), tuple(dict.fromkeys(points.defects)))
                for metric, points in self.points.items()
            },
            damaged="; ".join(self.damage) or None,
            notes=tuple(self.notes),
        )


def _defect(text: str, step: Any) -> str:
    return _clean(f"{text} at step {step}" if type(step) is int else text)[:LONGEST_DEFECT]

"""From a metric's points to the numbers that are judged: one value per coordinate, and what is wrong with each."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gate.identity import AGGREGATE_STEP
from gate.numbers import counted, written
from gate.points import Points
from gate.record import Record
from gate.reduction import reduced
from gate.spec import ExpectPoints, GateSpec, Reduction
from gate.wording import clipped

NO_STEP = -1
"""In ``at_steps``: the value's point had no step."""
_LAST = Reduction("max", last=1)
_FEW = 5


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The m coordinates of one gate spec in one run.

    ``steps`` int64 (m,) strictly ascending; ``at_steps`` int64 (m,), where each value came from; ``values`` float64
    (m,), NaN where no single number stands for the coordinate. ``errors`` maps a coordinate's index to what is wrong
    with it, ``problems`` says what is wrong with the metric as a whole; neither hides the other coordinates.
    ``points``: distinct points of the metric, selected or not.
    """

    steps: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    at_steps: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    values: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    errors: Mapping[int, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    points: int = 0


def place(spec: GateSpec, step: int) -> str:
    """How sentences name a coordinate: ``train/ppo_kl step 26``, ``train/loss last``, ``reward mean of last 20``."""
    if step != AGGREGATE_STEP:
        return f"{spec.metric_key} step {step}"
    if not isinstance(spec.steps, Reduction):
        return f"{spec.metric_key} last"
    name = f"{spec.metric_key} {spec.steps.reduce}"
    if spec.steps.last is not None:
        name += f" of last {spec.steps.last}"
    return name if spec.steps.from_step is None else f"{name} from step {spec.steps.from_step}"


def select(spec: GateSpec, record: Record) -> Selection:
    """The coordinates that ``spec`` asks for. Whatever is wrong is an error or a problem, never a skip."""
    name = spec.metric_key
    series = record.metrics.get(unicodedata.normalize("NFC", name))
    problems = [f"{name}: {_few(series.defects)}"] if series and series.defects else []
    if record.damaged is not None:
        problems.append(f"{name}: the record is damaged ({record.damaged})")
    if series is None:
        problems.append(f"{name} is missing from the record{_present(record)}")
        return Selection(problems=tuple(problems))
    points = Points.of(series)
    if points.count == 0:
        problems.append(f"{name} has no numeric point in the record")
        return Selection(problems=tuple(problems))
    problems += _count_problems(spec, points)
    if points.loose.size and (spec.steps == "all" or isinstance(spec.steps, tuple)):
        problems.append(f"{name} has {counted(points.loose.size, 'point')} without a step; log each with its step")
    return _coordinates(spec, points, tuple(problems))


def _present(record: Record) -> str:
    names = sorted(clipped(name) for name, series in record.metrics.items() if series.values)
    return f", which holds {_few(names)}" if names else ", which holds no points"


def _few(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _FEW} more" if len(texts) > _FEW else ""
    return ", ".join(texts[:_FEW]) + more


def _count_problems(spec: GateSpec, points: Points) -> list[str]:
    expected = spec.expect_points
    if expected is None or _meets(expected, points.count):
        return []
    wanted = f"at least {expected.count}" if expected.at_least else str(expected.count)
    return [f"{spec.metric_key} has {counted(points.count, 'point')}, expected {wanted}"]


def _meets(expected: ExpectPoints, count: int) -> bool:
    return count >= expected.count if expected.at_least else count == expected.count


def _coordinates(spec: GateSpec, points: Points, problems: tuple[str, ...]) -> Selection:
    if isinstance(spec.steps, tuple):
        return _at_listed(spec, points, np.array(sorted(spec.steps), np.int64), problems)
    if spec.steps == "all":
        return _at_listed(spec, points, points.steps, problems)
    return _single(spec, points, problems)


def _at_listed(spec: GateSpec, points: Points, steps: NDArray[np.int64], problems: tuple[str, ...]) -> Selection:
    """One coordinate per step of ``steps``, present or not."""
    index = np.searchsorted(points.steps, steps)
    found = index < points.steps.size
    found[found] = points.steps[index[found]] == steps[found]
    values = np.full(steps.size, np.nan)
    values[found] = points.values[index[found]]
    clashing = found.copy()
    clashing[found] = points.clashing[index[found]]
    errors: dict[int, str] = {}
    for at in np.flatnonzero(~np.isfinite(values) | clashing).tolist():
        what = _fault(points, int(index[at])) if found[at] else f"missing; {_extent(points)}"
        errors[at] = f"{place(spec, int(steps[at]))}: {what}"
    values[clashing] = np.nan
    return Selection(steps, np.where(found, steps, NO_STEP), values, errors, problems, points.count)


def _extent(points: Points) -> str:
    if not points.steps.size:
        return "no point of the record has a step"
    return f"the record has {counted(points.steps.size, 'step')} from {points.steps[0]} to {points.steps[-1]}"


def _fault(points: Points, at: int) -> str:
    """Why the point at index ``at`` of the distinct steps cannot be judged."""
    if points.clashing[at]:
        return f"logged with different values ({_few(written(*points.values_at(at)))})"
    return f"logged as {_nonfinite(points.values[at])}, not a finite number"


def _nonfinite(value: float) -> str:
    if np.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _single(spec: GateSpec, points: Points, problems: tuple[str, ...]) -> Selection:
    """One coordinate at `AGGREGATE_STEP`: the last point, or a reduction of the points."""
    value, at_step, fault = _single_value(spec, points)
    return Selection(
        steps=np.array([AGGREGATE_STEP], np.int64),
        at_steps=np.array([at_step], np.int64),
        values=np.array([value]),
        errors={0: f"{place(spec, AGGREGATE_STEP)}: {fault}"} if fault else {},
        problems=problems,
        points=points.count,
    )


def _single_value(spec: GateSpec, points: Points) -> tuple[float, int, str]:
    """Value, step it came from, and what is wrong with it or ``""``."""
    if not points.loose.size:
        return _reduced_window(spec, points, points.steps)
    if points.steps.size:
        return np.nan, NO_STEP, "some points have a step and others have none; log every point with its step"
    if isinstance(spec.steps, Reduction) and spec.steps.from_step is not None:
        return np.nan, NO_STEP, f"no point has a step to start from at {spec.steps.from_step}"
    return _reduced_window(spec, points.in_order(), np.full(points.loose.size, NO_STEP))


def _reduced_window(spec: GateSpec, points: Points, at_steps: NDArray[np.int64]) -> tuple[float, int, str]:
    rule = spec.steps if isinstance(spec.steps, Reduction) else _LAST
    start = 0 if rule.from_step is None else int(np.searchsorted(points.steps, rule.from_step))
    available = points.steps.size - start
    if available < (rule.last or 1):
        since = "" if rule.from_step is None else f" from step {rule.from_step} on"
        return np.nan, NO_STEP, f"the record has {counted(available, 'point')}{since}, needs {rule.last or 1}"
    start = start if rule.last is None else points.steps.size - rule.last
    at_step = int(at_steps[-1])
    window = points.values[start:]
    wrong = np.flatnonzero(~np.isfinite(window) | points.clashing[start:])
    if not wrong.size:
        return reduced(rule.reduce, window), at_step, ""
    at = start + int(wrong[0])
    source = "" if at_steps[at] == NO_STEP else f"step {at_steps[at]} was "
    value = points.values[at] if window.size == 1 and not points.clashing[at] else np.nan
    return value, at_step, f"{source}{_fault(points, at)}"

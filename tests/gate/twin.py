"""The gate's rules once more: plain Python over one coordinate at a time, written from the specification, no numpy."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction
from statistics import median

from gate.spec import Reduction

LAST = -1


def verdict(spec, points, rows, policy):
    """Statuses by name for the spec, and per step a dict of statuses; ``rows`` newest first as ({step: value}, points),
    all of them counting runs of the epoch.
    """
    chosen, problems = select(spec, points)
    stored = [values for values, _ in rows]
    anchor = stored[::-1][: policy.anchor_runs]
    means = {step: reference(stored, step, policy.history) for step in chosen}
    anchor_means = {step: reference(anchor, step, policy.anchor_runs) for step in chosen}
    if history_problem(spec, chosen, count(points), means, rows, policy):
        problems = True
    checks = {"corridor": compared(spec, chosen, means, policy, corridor_active(means, policy))}
    if "anchor" in spec.checks:
        active = anchor_active(anchor, anchor_means, policy)
        checks["anchor"] = compared(spec, chosen, anchor_means, policy, active)
    spec_checks = {
        name: quorum(spec, chosen, means if name == "corridor" else anchor_means, policy, statuses)
        for name, statuses in checks.items()
    }
    if "shift" in spec.checks:
        spec_checks["shift"] = shift(spec, chosen, stored, anchor, policy)
    if "spread" in spec.checks:
        spec_checks["spread"] = spread(spec, chosen, stored, anchor, policy)
    if spec.limits is not None:
        checks["limits"] = {step: limits(spec.limits, value) for step, value in chosen.items()}
        spec_checks["limits"] = "fail" if "fail" in checks["limits"].values() else "pass"
    coordinates = {step: {name: statuses[step] for name, statuses in checks.items()} for step in chosen}
    for step, value in chosen.items():
        if value is None:
            coordinates[step]["selection"] = "error"
    if problems or None in chosen.values():
        spec_checks["selection"] = "error"
    return spec_checks, coordinates


def count(points):
    placed = {step for step, _ in points if step is not None}
    return len(placed) + sum(step is None for step, _ in points)


def select(spec, points):
    """({step: value or None where it cannot be judged}, whether the metric as a whole has a problem)."""
    if not points:
        return {}, True
    expected = spec.expect_points
    problem = expected is not None and (
        count(points) < expected.count if expected.at_least else count(points) != expected.count
    )
    at = {}
    for step, value in points:
        at.setdefault(step, []).append(value)
    loose = at.pop(None, [])
    if spec.steps == "last" or isinstance(spec.steps, Reduction):
        return {LAST: single(spec.steps, at, loose)}, problem
    wanted = sorted(at) if spec.steps == "all" else sorted(spec.steps)
    return {step: one(at.get(step, [])) for step in wanted}, problem or bool(loose)


def one(values):
    if not values or any(not math.isfinite(value) for value in values) or any(value != values[0] for value in values):
        return None
    return values[0]


def single(rule, at, loose):
    if loose and (at or (isinstance(rule, Reduction) and rule.from_step is not None)):
        return None
    line = [[value] for value in loose] or [at[step] for step in sorted(at)]
    if rule == "last":
        return one(line[-1])
    if rule.from_step is not None:
        line = [at[step] for step in sorted(at) if step >= rule.from_step]
    if len(line) < (rule.last or 1):
        return None
    line = [one(values) for values in (line if rule.last is None else line[-rule.last :])]
    return None if None in line else reduce(rule.reduce, line)


def reduce(name, values):
    scale = 2.0**-20 if max(map(abs, values)) > 2.0**1000 else 1.0
    scaled = sorted(value * scale for value in values)
    if name == "mean":
        result = math.fsum(scaled) / len(scaled)
    elif name in ("min", "max"):
        result = scaled[0] if name == "min" else scaled[-1]
    else:
        result = quantile(scaled, 0.95 if name == "p95" else 0.5)
    return min(max(result / scale, min(values)), max(values))


def quantile(ascending, q):
    place = q * (len(ascending) - 1)
    low = math.floor(place)
    part = place - low
    a, b = ascending[low], ascending[min(low + 1, len(ascending) - 1)]
    return a + (b - a) * part if part < 0.5 else b - (b - a) * (1 - part)


def reference(stored, step, history):
    """(how many, their mean) of the newest values at ``step``."""
    values = [row[step] for row in stored if step in row][:history]
    if not values:
        return 0, math.nan
    scale = 2.0**-20 if max(map(abs, values)) > 2.0**1000 else 1.0
    total = 0.0
    for value in values:
        total += value * scale
    return len(values), min(max(total / len(values) / scale, min(values)), max(values))


def bands(rule, mean):
    return max(rule.rel_down * abs(mean), rule.abs_floor_down), max(rule.rel_up * abs(mean), rule.abs_floor_up)


def is_outside(rule, value, mean):
    down, up = bands(rule, mean)
    return not mean - down <= value <= mean + up


def is_far(rule, value, mean):
    """|value - mean| > 2 bands, halved on both sides."""
    down, up = bands(rule, mean)
    return abs(value / 2 - mean / 2) > (up if value > mean else down)


def corridor_active(means, policy):
    return {step for step, (n, _) in means.items() if n >= (1 if policy.profile == "strict" else 3)}


def anchor_active(anchor, means, policy):
    """Nowhere before there are K runs, then where at least half of them have the step."""
    if len(anchor) < policy.anchor_runs:
        return set()
    return {step for step, (n, _) in means.items() if n >= Fraction(policy.anchor_runs, 2)}


def compared(spec, chosen, means, policy, active):
    red = "fail" if policy.profile == "strict" else "outside"
    statuses = {}
    for step, value in chosen.items():
        if value is None:
            statuses[step] = "error"
        elif step not in active:
            statuses[step] = "inactive"
        else:
            statuses[step] = red if is_outside(spec.constraint, value, means[step][1]) else "pass"
    return statuses


def quorum(spec, chosen, means, policy, statuses):
    active = [step for step, status in statuses.items() if status not in ("inactive", "error")]
    if not active:
        return "inactive"
    outside = [step for step in active if statuses[step] != "pass"]
    if policy.profile == "strict" or len(active) < 10:
        return "fail" if outside else "pass"
    if len(outside) >= max(2, math.ceil(Fraction(5 * len(active), 100))):
        return "fail"
    return "fail" if any(is_far(spec.constraint, chosen[step], means[step][1]) for step in outside) else "pass"


def shift(spec, chosen, stored, anchor, policy):
    common = shared_steps(chosen, stored, anchor, policy)
    if not common:
        return "inactive"
    newest = stored[: policy.shift_runs - 1]
    levels = [level(row, common, 1.0) for row in [chosen, *newest, *anchor]]
    scale = 1.0 if all(abs(one) <= 2.0**1000 for one in levels) else 2.0**-20
    recent = [level(row, common, scale) for row in [chosen, *newest]]
    moved, noise = move(recent, [level(row, common, scale) for row in anchor], policy)
    allowed = policy.shift_fraction * (mean_band(spec, anchor, common, policy) * scale)
    times_noise = multiplier(policy.anchor_runs, policy.shift_runs)
    return "fail" if abs(moved) > max(times_noise * noise, allowed) else "pass"


def spread(spec, chosen, stored, anchor, policy):
    common = shared_steps(chosen, stored, anchor, policy)
    least = policy.shift_fraction * mean_band(spec, anchor, common, policy) if len(common) >= 8 else 0.0
    if not 0 < least < math.inf:
        return "inactive"
    centres = [reference(anchor, step, policy.anchor_runs)[1] for step in common]

    def number(row, factor=1.0):
        rest = [row[step] / 2 - centre / 2 for step, centre in zip(common, centres, strict=True)]
        largest = max(map(abs, rest))
        variance = statistics.variance([value / largest for value in rest]) if largest else 0.0
        if not variance:
            return math.log(least)
        return max(math.log(2 * factor) + math.log(largest) + math.log(variance) / 2, math.log(least))

    left_out = policy.anchor_runs / (policy.anchor_runs - 1)
    later = len(stored) - len(anchor)
    newest = [number(row, left_out if at >= later else 1.0) for at, row in enumerate(stored[: policy.shift_runs - 1])]
    moved, noise = move([number(chosen), *newest], [number(row, left_out) for row in anchor], policy)
    times_noise = 1.15 * multiplier(policy.anchor_runs, policy.shift_runs)
    return "fail" if abs(moved) > max(times_noise * noise, math.log(1.25)) else "pass"


def shared_steps(chosen, stored, anchor, policy):
    """The steps that a drift check over all of them compares, ascending; none while it is inactive."""
    newest = stored[: policy.shift_runs - 1]
    if multiplier(policy.anchor_runs, policy.shift_runs) is None:
        return []
    if len(anchor) < policy.anchor_runs or len(newest) < policy.shift_runs - 1:
        return []
    common = [step for step in chosen if chosen[step] is not None and all(step in row for row in newest + anchor)]
    return sorted(common) if 2 * len(common) >= len(chosen) else []


def mean_band(spec, anchor, common, policy):
    centres = [reference(anchor, step, policy.anchor_runs)[1] for step in common]
    return reduce("mean", [min(bands(spec.constraint, centre)) for centre in centres])


def move(recent, anchor, policy):
    """(how far the median of the newest numbers is from the anchor's centre, the anchor's noise)."""
    anchor, factor = list(anchor), 1.0
    if (policy.anchor_runs, policy.shift_runs) == (20, 10):
        middle = sum(sorted(anchor)[9:11]) / 2
        furthest = max(range(20), key=lambda index: (abs(anchor[index] - middle), index))
        del anchor[furthest]
        factor = 1.128
    centre = reduce("mean", anchor)
    noise = factor * math.hypot(*(value - centre for value in anchor)) / math.sqrt(len(anchor) - 1)
    return median(recent) - centre, noise


def level(row, common, scale):
    total = 0.0
    for step in sorted(common):
        total += row[step] * scale
    return total / len(common)


def multiplier(anchor_runs, newest):
    if newest >= 10 and anchor_runs >= 10:
        return next(times for least, times in ((30, 1.8), (20, 2.0), (15, 2.3), (10, 2.9)) if anchor_runs >= least)
    if newest >= 5 and anchor_runs >= 20:
        return 2.3 if newest >= 7 else 2.7
    return None


def band_warnings(spec, steps, stored, policy):
    """Of a spec all of whose runs are valid and count, newest first."""
    valid = stored[:20]
    if len(valid) < 8:
        return set()
    means = {step: reference(stored, step, policy.history) for step in steps}
    ratios = []
    ordinary = [row for row in valid if not mostly_outside(spec, row, means)]
    if 4 * (len(valid) - len(ordinary)) > len(valid):
        ordinary = valid
    for step in steps:
        values = [row[step] for row in ordinary if step in row]
        if len(values) >= 8 and max(values) > min(values):
            mean = reduce("mean", values)
            sd = math.hypot(*(value - mean for value in values)) / math.sqrt(len(values) - 1)
            ratios.append(min(bands(spec.constraint, means[step][1])) / sd)
    found = set()
    if ratios and median(ratios) < 4.5:
        found.add("band_too_tight")
    if ratios and median(ratios) > 50:
        found.add("band_blind")
    active = corridor_active(means, policy)
    judged = [compared(spec, {s: row[s] for s in steps if s in row}, means, policy, active) for row in valid]
    red = sum(quorum(spec, row, means, policy, statuses) == "fail" for row, statuses in zip(valid, judged, strict=True))
    return found | ({"red_by_chance"} if red > len(valid) / 4 else set())


def mostly_outside(spec, row, means):
    known = [step for step in means if step in row and means[step][0]]
    return 2 * sum(is_outside(spec.constraint, row[step], means[step][1]) for step in known) > len(known)


def limits(rule, value):
    if value is None:
        return "error"
    low = -math.inf if rule.min is None else rule.min
    return "pass" if low <= value <= (math.inf if rule.max is None else rule.max) else "fail"


def history_problem(spec, chosen, points, means, rows, policy):
    if len(rows) < 3:
        return False
    usual = median(Fraction(points) for _, points in rows[:5])
    if spec.expect_points is None and 0 < points < Fraction(str(policy.min_points_ratio)) * usual:
        return True
    known = sum(means[step][0] > 0 for step in chosen)
    return spec.steps == "all" and 2 * known < len(chosen)

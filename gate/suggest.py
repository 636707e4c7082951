"""Bands taken from the noise of a stored series, with the backtest of exactly these."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from gate.backtest import Backtest, Proposal, backtest
from gate.bands import constraint_for
from gate.canonical import canonical_json
from gate.corridor import Corridor
from gate.history import RunRef, StoredSeries
from gate.identity import SpecKey
from gate.noise import FEWEST_RUNS, Noise, noise_of
from gate.numbers import counted
from gate.past import SeriesPast
from gate.rejudge import claims_of
from gate.spec import DRIFT_CHECKS, Constraint, GateSpec

LOOKED_AT = 100
"""Noise is taken from at most so many of the newest valid runs."""


@dataclass(frozen=True, slots=True, eq=False)
class Suggestion:
    """For one declaration: the declaration to write instead, or why there is none (``spec`` is then as declared).

    ``band_over_sd``: the least over the steps. ``runs`` valid runs were looked at, ``broken`` of them set aside.
    """

    spec: GateSpec
    runs: int
    broken: tuple[str, ...] = ()
    band_over_sd: float | None = None
    reason: str | None = None

    @property
    def constraint(self) -> dict[str, float] | None:
        return None if self.reason else json.loads(self.spec.key.constraint_key)


@dataclass(frozen=True, slots=True, eq=False)
class Suggestions:
    """``backtest`` judges the series by all suggested declarations, and by the others as they are declared."""

    each: tuple[Suggestion, ...]
    backtest: Backtest

    def to_json(self) -> dict[str, Any]:
        return {"specs": [self._spec_json(one) for one in self.each], "backtest": self.backtest.to_json()}

    def _spec_json(self, one: Suggestion) -> dict[str, Any]:
        red = self.backtest.red_by(one.spec.key)
        return {
            **asdict(one.spec.key),
            "constraint": one.constraint,
            "declaration": None if one.reason else declaration(one.spec),
            "valid_runs": one.runs,
            "set_aside": list(one.broken),
            "band_over_sd": one.band_over_sd,
            "reason": one.reason,
            "red": len(red),
            "red_runs": list(red),
        }


def suggest(series: SeriesPast, declared: Proposal, metric: str | None = None) -> Suggestions:
    """For every declaration, or those of one metric. Raises DriftgateError as `backtest` does."""
    wanted = [spec for spec in declared.specs if metric in (None, spec.metric_key)]
    each = tuple(suggest_one(series, spec) for spec in wanted)
    others = [spec for spec in declared.specs if spec not in wanted]
    specs = dict.fromkeys((*(one.spec for one in each), *others))
    return Suggestions(each, backtest(series, replace(declared, specs=tuple(specs))))


def suggest_one(series: SeriesPast, declared: GateSpec) -> Suggestion:
    rows = valid_rows(series, declared)[-LOOKED_AT:]
    noise = noise_of(rows)
    if not noise.steps.size:
        reason = f"{counted(len(rows), 'valid run')}; noise needs {FEWEST_RUNS} that have the same step"
        return Suggestion(declared, len(rows), reason=reason)
    literal = constraint_for(noise)
    if literal is None:
        reason = f"{counted(len(rows), 'valid run')} without any noise to take a band from"
        return Suggestion(declared, len(rows), noise.broken, reason=reason)
    constraint = Constraint(**literal)
    key = SpecKey(declared.key.metric_key, declared.key.steps_key, canonical_json(literal))
    spec = replace(declared, key=key, constraint=constraint)
    return Suggestion(spec, len(rows), noise.broken, _least_ratio(noise, constraint))


def valid_rows(series: SeriesPast, spec: GateSpec) -> list[StoredSeries]:
    """Of the present epoch, oldest first; values of the metric and steps under any constraint."""
    epoch = series.epoch_of(spec.metric_key)
    runs = (run for run in series.runs if epoch is None or run.place >= epoch.place)
    valid = (run for run in runs if not run.has_error and run.marked is None and run.superseded_by is None)
    return [
        StoredSeries(
            RunRef(run.run_id, run.created_at, run.trusted, run.trusted, valid=True),
            values.steps,
            values.values,
            values.points,
        )
        for run in valid
        for _, values in claims_of(run, [spec])
    ]


def declaration(spec: GateSpec) -> str:
    """The ``register_ci_gate`` call to paste. What else was declared comes along."""
    limits, expected = spec.limits, spec.expect_points
    fields = {
        "metric_key": spec.metric_key,
        "steps": json.loads(spec.key.steps_key),
        "constraint": json.loads(spec.key.constraint_key),
        "limits": limits and {name: bound for name, bound in asdict(limits).items() if bound is not None},
        "expect_points": expected and ({"min": expected.count} if expected.at_least else expected.count),
        "enforce": spec.enforce or None,
        "allowlist_reason": spec.allowlist_reason,
        "checks": None if spec.checks == DRIFT_CHECKS else list(spec.checks),
    }
    given = (f"{name}={_literal(value)}" for name, value in fields.items() if value is not None)
    return f"register_ci_gate({', '.join(given)})"


def _literal(value: Any) -> str:
    return repr(value) if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)


def _least_ratio(noise: Noise, constraint: Constraint) -> float:
    noisy = noise.sd > 0
    corridor = Corridor.around(noise.level[noisy], constraint)
    return float(np.min(np.minimum(corridor.up, corridor.down) / noise.sd[noisy], initial=np.inf))

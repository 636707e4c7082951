"""Bands from noise: wide enough, no wider than that, whatever the history has been through."""

from __future__ import annotations

import ast
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.backtest import Proposal
from gate.bands import narrowest
from gate.declarations import parse_declarations
from gate.identity import SeriesIdentity
from gate.noise import noise_of
from gate.past import PastEpoch, PastRun, PastValues, SeriesPast
from gate.policy import GatePolicy
from gate.spec import ExpectPoints, Limits
from gate.suggest import declaration, suggest

START = datetime(2026, 1, 1, tzinfo=UTC)
IDENTITY = SeriesIdentity("default", "tests/test_a.py", "cpu", "stage-a-cpu")
NEEDS = st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), min_size=1, max_size=12)


def series_of(spec, values, **changes):
    """A series of one metric: row by row the values at steps 0, 1, ...; ``changes`` by run number."""
    steps = np.arange(values.shape[1])
    runs = []
    for number, row in enumerate(values):
        stored = PastValues(spec.key, steps, row, trusted=True, points=steps.size)
        facts = {"trusted": True, "gate_trusted": True, "has_error": False} | changes.get(f"r{number}", {})
        runs.append(PastRun(f"r{number}", START + timedelta(days=number), number, values=(stored,), **facts))
    return SeriesPast(IDENTITY, tuple(runs))


def noisy(level, sd, runs=60, seed=1):
    """Normal noise; ``level`` and ``sd`` by step."""
    return np.asarray(level) + np.random.default_rng(seed).normal(size=(runs, len(level))) * sd


def suggested(build, values, spec=None, **changes):
    spec = spec or build.spec()
    return suggest(series_of(spec, values, **changes), Proposal((spec,), GatePolicy()))


@pytest.mark.parametrize("sd", [0.002, 0.01, 3.0])
def test_every_step_has_at_least_4_5_sd_and_the_series_stays_green(build, sd):
    """By the plain sd of the last 20 runs, which lint looks at, too; and hardly more than is needed."""
    values = noisy([1.0] * 20, sd)
    found = suggested(build, values)
    constraint = found.each[0].spec.constraint
    ratio = constraint.abs_floor_up / np.std(values[-20:], axis=0, ddof=1)
    assert 4.5 <= ratio.min() <= found.each[0].band_over_sd * 1.4
    assert constraint.abs_floor_up < 9 * sd
    assert found.backtest.red == ()


def test_noise_that_grows_with_the_mean_gives_a_share_of_it(build):
    """Steps of very different level, each with 2 % noise."""
    level = np.geomspace(0.1, 100, 12)
    (one,) = suggested(build, noisy(level, 0.02 * level)).each
    assert set(one.constraint) == {"rel_up", "rel_down"}
    assert 0.09 <= one.constraint["rel_up"] <= 0.2


def test_a_mean_near_zero_and_noise_that_does_not_grow_give_a_floor(build):
    """A share of nothing is nothing; of a level that noise does not follow it is arbitrary."""
    for level in ([0.0, 0.001, -0.002], [1.0, 5.0, 20.0]):
        (one,) = suggested(build, noisy(level, 0.01)).each
        assert set(one.constraint) == {"abs_floor_up", "abs_floor_down"}


def test_noise_of_both_kinds_gives_both(build):
    """Large steps with relative noise beside steps at zero."""
    level, sd = np.array([0.0] * 6 + [50.0, 100.0] * 3), np.array([0.01] * 6 + [1.0, 2.0] * 3)
    (one,) = suggested(build, noisy(level, sd)).each
    assert set(one.constraint) == {"rel_up", "abs_floor_up", "rel_down", "abs_floor_down"}
    assert one.constraint["abs_floor_up"] < 0.1


@pytest.mark.parametrize("what", ["broken runs", "a single value", "a step", "a drift"])
def test_what_is_no_noise_does_not_widen_the_band(build, what):
    """Broken runs, one odd value, a step and a steady drift of 20 sd in all leave less than a doubled band."""
    values = noisy([1.0] * 10, 0.01, runs=80)
    clean = suggested(build, values).each[0].spec.constraint.abs_floor_up
    match what:
        case "broken runs":
            values[[15, 40, 70]] *= 1.5
        case "a single value":
            values[44, 3] = 9.0
        case "a step":
            values[50:] += 0.2
        case "a drift":
            values += np.linspace(0, 0.2, 80)[:, None]
    (one,) = suggested(build, values).each
    assert one.spec.constraint.abs_floor_up < 2 * clean
    assert one.broken == (("r15", "r40", "r70") if what == "broken runs" else one.broken)


def test_red_runs_count_and_errors_marks_and_reruns_do_not(build):
    """Noise is estimated from valid runs."""
    values = noisy([1.0], 0.01, runs=20)
    red = {f"r{number}": {"trusted": False, "gate_trusted": False} for number in range(20)}
    assert suggested(build, values, **red).each[0].runs == 20
    unusable = {"r3": {"has_error": True}, "r4": {"marked": True}, "r5": {"superseded_by": "r6"}}
    assert suggested(build, values, **unusable).each[0].runs == 17


def test_only_the_present_epoch_speaks(build):
    """Runs before its start had another level."""
    spec = build.spec()
    series = series_of(spec, noisy([1.0], 0.01, runs=30))
    series = replace(series, epochs=(PastEpoch(1, "e", "m", series.runs[20].place),))
    (one,) = suggest(series, Proposal((spec,), GatePolicy())).each
    assert one.runs == 10


@pytest.mark.parametrize(
    ("runs", "sd", "why"), [(7, 0.01, "7 valid runs; noise needs 8"), (20, 0.0, "without any noise")]
)
def test_no_band_without_noise_to_take_it_from(build, runs, sd, why):
    """Too few runs, or every value the same: it is said, and the declaration stays."""
    spec = build.spec()
    (one,) = suggested(build, noisy([1.0], sd, runs=runs), spec).each
    assert why in one.reason
    assert (one.spec, one.constraint) == (spec, None)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("values", [[1e308, -1e308], [5e-324, 1e-320], [-0.0, 0.0]])
def test_extreme_values(build, values):
    """Largest doubles, denormals and signed zeros give a literal that the gate reads, or a reason."""
    found = suggested(build, np.array([values] * 10 + [values[::-1]] * 10))
    assert found.each[0].reason or parsed(declaration(found.each[0].spec))


def test_runs_of_different_length(build):
    """Steps that few runs have are left out; the others keep their noise."""
    values = noisy([1.0] * 6, 0.01, runs=20)
    spec = build.spec()
    series = series_of(spec, values)
    long = series.runs[7]
    longer = replace(long.values[0], steps=np.arange(7), values=np.append(long.values[0].values, 99.0))
    runs = (*series.runs[:7], replace(long, values=(longer,)), *series.runs[8:])
    (one,) = suggest(replace(series, runs=runs), Proposal((spec,), GatePolicy())).each
    assert one.spec.constraint.abs_floor_up < 0.1


def test_the_other_declarations_are_backtested_as_they_are(build):
    """With one metric chosen, the literal of that one changes, and the rest is judged as declared."""
    specs = (build.spec("loss"), build.spec("kl", constraint={"rel_up": 0.5, "rel_down": 0.5}))
    series = series_of(specs[0], noisy([1.0], 0.01, runs=20))
    found = suggest(series, Proposal(specs, GatePolicy()), "loss")
    assert [one.spec.metric_key for one in found.each] == ["loss"]
    assert found.backtest.proposal.specs[1] == specs[1]


def parsed(text):
    specs, problems = parse_declarations("test_a.py", text, {})
    assert problems == ()
    return specs[0]


def test_the_literal_can_be_pasted(build):
    """It parses to exactly the declaration that was backtested, with everything else that was declared."""
    spec = build.spec('odd "näme"', {"reduce": "mean", "last": 3}, limits=(0.0, None), expect=(5, True))
    spec = replace(spec, enforce=True, allowlist_reason="stable", checks=("shift",))
    found = suggest(series_of(spec, noisy([1.0], 0.01, runs=20)), Proposal((spec,), GatePolicy()))
    text = declaration(found.each[0].spec)
    assert ast.parse(text)
    assert replace(parsed(text), line=0) == found.each[0].spec
    assert (parsed(text).limits, parsed(text).expect_points) == (Limits(min=0.0), ExpectPoints(5, at_least=True))


def test_json(build):
    """Plain values: the literal, its declaration, and the backtest of exactly that."""
    found = json.loads(json.dumps(suggested(build, noisy([1.0], 0.01, runs=20)).to_json()))
    (spec,) = found["specs"]
    assert (spec["red"], spec["valid_runs"], spec["reason"]) == (0, 20, None)
    assert json.loads(spec["constraint_key"]) == spec["constraint"]
    assert found["backtest"]["specs"][0]["constraint_key"] == spec["constraint_key"]


@given(rows=NEEDS)
def test_a_side_holds_every_need(rows):
    """Whatever the levels: no band is narrower than what was asked for, and one floor for all is never beaten in width."""
    level, need = (np.array(column) for column in zip(*rows, strict=True))
    side = narrowest(level, need)
    assert np.all(side.band(level) >= need)
    assert side.rel <= 1.0


def test_no_rows_have_no_noise():
    """An empty history is no error."""
    assert noise_of([]).steps.size == 0

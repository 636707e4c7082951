"""Bands out of a metric's own noise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.detection.suggest import suggest_constraint
from gate.corridor import Corridor
from gate.spec import Constraint

RNG = np.random.default_rng(7)
NOISE = RNG.standard_normal((20, 12))


def band_in_sds(values, constraint):
    """The narrower band over the sd (ddof 1) at each step."""
    corridor = Corridor.around(np.nanmean(values, axis=0), Constraint(**constraint))
    return np.minimum(corridor.up, corridor.down) / np.nanstd(values, axis=0, ddof=1)


def test_a_level_noise_gets_floors():
    """Where noise is the same at every step, however high the curve, a floor is the narrowest band."""
    constraint = suggest_constraint(np.linspace(1.0, 50.0, 12) + 0.1 * NOISE)
    assert not {"rel_up", "rel_down"} & set(constraint)
    assert constraint["abs_floor_up"] == pytest.approx(0.5, rel=0.7)


def test_a_noise_that_grows_with_its_level_gets_relative_parts():
    """Where noise is a share of the level, a floor would be too wide for the first steps."""
    constraint = suggest_constraint(np.linspace(1.0, 50.0, 12) * (1 + 0.02 * NOISE))
    assert constraint["rel_up"] == pytest.approx(0.1, rel=0.7)
    assert constraint["abs_floor_up"] < 0.5


@given(st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3), st.integers(4, 30), st.integers(1, 20))
def test_both_sides_cover_the_noise_at_every_step(seed, level, runs, steps):
    """The promise: at least so many sds everywhere, for any curve with any noise at each step."""
    rng = np.random.default_rng(seed)
    noise = rng.permuted(np.tile(np.linspace(-1.0, 1.0, runs)[:, None], steps), axis=0)
    values = level * (rng.uniform(-1, 1, steps) + rng.uniform(0.01, 1, steps) * noise)
    constraint = suggest_constraint(values, 3.0)
    assert np.all(band_in_sds(values, constraint) >= 3.0 * (1 - 1e-9))
    assert {"abs_floor_up", "abs_floor_down"} <= set(constraint)


def test_a_broken_run_does_not_widen_the_band():
    """One run of twenty far off leaves the suggestion nearly as it was."""
    clean = 1.0 + 0.01 * NOISE
    broken = clean.copy()
    broken[3] = 30.0
    ratio = suggest_constraint(broken)["abs_floor_up"] / suggest_constraint(clean)["abs_floor_up"]
    assert ratio == pytest.approx(1.0, rel=0.2)


def test_a_skewed_noise_gets_more_room_on_its_longer_side():
    """KL is skewed: the upper side must be wider than the lower one."""
    constraint = suggest_constraint(0.01 * np.exp(0.4 * NOISE))
    corridor = Corridor.around(np.array([0.01]), Constraint(**constraint))
    assert corridor.up[0] > corridor.down[0]


def test_absent_steps_are_left_out():
    """A step that one run alone has shows no noise."""
    values = 1.0 + 0.01 * NOISE
    values[1:, -1] = np.nan
    assert suggest_constraint(values) == suggest_constraint(values[:, :-1])


@pytest.mark.parametrize("values", [np.ones((20, 3)), np.ones((1, 3)), np.empty((0, 0))])
def test_without_noise_nothing_is_suggested(values):
    """A band made of nothing would turn every run red."""
    with pytest.raises(ValueError, match="never vary"):
        suggest_constraint(values)

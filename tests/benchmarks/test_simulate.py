"""The simulator: what it promises of its noise and of its changes."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.detection.scenarios import scenarios
from benchmarks.detection.simulate import AR_COEFFICIENT, Change, Layout, Noise, changed_runs, simulate

NORMAL, STILL = Noise(), Change()
LONG = Layout(runs=4000, metrics=1, steps=10)
SHORT = Layout(runs=60)
SEED = ("a test", 0)


def simulated(noise=NORMAL, change=STILL, layout=LONG, seed=SEED):
    return simulate(noise, change, layout, seed)


def moved(change, noise=NORMAL, layout=SHORT):
    """What the change alone adds: the same noise with it and without."""
    return simulate(noise, change, layout, SEED) - simulate(noise, STILL, layout, SEED)


def test_equal_seeds_give_equal_histories_and_others_do_not():
    """A table can be made again: name and index of a history fix every value."""
    layout = Layout(runs=5)
    once, again = (simulated(layout=layout) for _ in range(2))
    np.testing.assert_array_equal(once, again)
    assert not np.array_equal(once, simulated(layout=layout, seed=("a test", 1)))
    assert not np.array_equal(once, simulated(layout=layout, seed=("another", 0)))


@pytest.mark.parametrize("shape", ["normal", "t3", "ar", "lognormal"])
def test_noise_has_the_level_and_the_sd_that_were_asked(shape):
    """``sigma`` means the same for every shape, so that bands in sds can be compared."""
    values = simulated(Noise(shape, sigma=0.01, shared=0.0))
    assert values.mean() == pytest.approx(0.05, abs=0.001)
    assert values.std(ddof=1) == pytest.approx(0.01, rel=0.15)


@pytest.mark.parametrize("shared", [0.0, 0.5, 0.9])
def test_steps_share_as_much_noise_as_was_asked(shared):
    """``shared`` is the correlation of two steps of one run."""
    values = simulated(Noise(shared=shared))
    assert np.corrcoef(values[:, 0, 0], values[:, 0, 9])[0, 1] == pytest.approx(shared, abs=0.06)


def test_autoregressive_noise_correlates_from_night_to_night():
    """The shape ``ar`` differs from ``normal`` by exactly that."""
    for shape, expected in (("ar", AR_COEFFICIENT), ("normal", 0.0)):
        nights = simulated(Noise(shape))[:, 0, 0]
        assert np.corrcoef(nights[1:], nights[:-1])[0, 1] == pytest.approx(expected, abs=0.06)


def test_bounded_noise_never_passes_its_bound():
    """A reward ends at 1 and reaches it."""
    values = simulated(Noise("bounded", sigma=0.01), layout=Layout(runs=200, level=0.98))
    assert values.max() == 1.0


def test_a_ramp_moves_one_metric_from_its_run_on():
    """Its first run has moved by one size, the tenth by ten, the other metrics not at all."""
    move = moved(Change("ramp", at=40, size=0.001))
    np.testing.assert_allclose(move[[39, 40, 49], 0, 0], [0.0, 0.001, 0.01], atol=1e-12)
    assert not move[:, 1:].any()


def test_a_step_is_counted_in_sds_and_a_late_one_spares_the_first_steps():
    """Size 3 moves by three sigma: everywhere, or in the last fifth of the steps alone."""
    noise = Noise(sigma=0.01)
    np.testing.assert_allclose(moved(Change("step", size=3.0), noise)[40:, 0], 0.03, atol=1e-12)
    late = moved(Change("late_step", size=3.0), noise)[50, 0]
    np.testing.assert_allclose(late, [0.0] * 40 + [0.03] * 10, atol=1e-12)


def test_outliers_are_single_runs():
    """Only every tenth run is off, and `changed_runs` names just those."""
    change = Change("outliers", at=40, size=8.0)
    assert np.flatnonzero(moved(change)[:, 0, 0]).tolist() == changed_runs(change, 60).tolist() == [40, 50]


def test_a_spread_widens_the_noise_alone():
    """The level stays, the sd grows by the factor."""
    values = simulated(change=Change("spread", at=2000, size=3.0))
    before, after = values[:2000], values[2000:]
    assert after.std(ddof=1) / before.std(ddof=1) == pytest.approx(3.0, rel=0.05)
    assert after.mean() == pytest.approx(before.mean(), abs=0.001)


def test_varying_length_takes_last_steps_of_all_metrics():
    """A run is shorter at its end, and no step lacks in between."""
    absent = np.isnan(simulated(layout=Layout(varying_length=True)))
    assert {int(count) for count in absent[:, 0].sum(axis=1)} == {0, 1, 2, 3}
    assert np.all(absent[:, :, 1:] >= absent[:, :, :-1])


def test_scenarios_have_names_of_their_own():
    """The name is part of the seed: two scenarios of one name would share their noise."""
    names = [scenario.name for scenario in scenarios()]
    assert len(set(names)) == len(names)

"""Lint: bands, starvation and orphaned histories, none of which fails a run."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.history import History, RunRef, SpecHistory

EXTREME = st.sampled_from([1e308, -1e308, 1.7e308, -1.7e308, 0.0, -0.0, 5e-324, 2.3e-308, 1.0, 1.01, 0.99])


def _noisy(build, sd, runs=20, steps=(0,)):
    """Runs whose values at each step alternate around 1 with sample sd ``sd``."""
    half = sd * ((runs - 1) / runs) ** 0.5
    return build.rows([dict.fromkeys(steps, 1 + half * (-1) ** number) for number in range(runs)])


def _notices(build, history, value=1.0, policy=None, steps=(0,), **spec):
    found, trusted = _judged(build, history, value, policy, steps, **spec)
    assert trusted
    return found


def _judged(build, history, value=1.0, policy=None, steps=(0,), **spec):
    record = build.record(m=dict.fromkeys(steps, value))
    verdict = build.judge(build.spec(**spec), record, build.reader(m=history), policy or build.BALANCED)
    return {notice.kind: notice.text for notice in verdict.warnings}, verdict.trusted


@pytest.mark.parametrize(
    ("sd", "kind"),
    [(0.1 / 4.4, "band_too_tight"), (0.1 / 4.6, None), (0.1 / 49, None), (0.1 / 51, "band_blind")],
)
def test_a_band_is_too_tight_or_blind(build, sd, kind):
    """The band is 0.1; below 4.5 sd noise alone is red, above 50 nothing would be seen."""
    assert set(_notices(build, build.past(_noisy(build, sd)))) == ({kind} if kind else set())


def test_what_is_said_of_a_tight_band(build):
    """How many sd, from how many runs, and what to do."""
    assert _notices(build, build.past(_noisy(build, 0.05)))["band_too_tight"] == (
        "m: the band is 2 times the sd of the last 20 valid runs; below 4.5 noise alone turns runs red: widen it"
    )


def test_the_median_speaks_for_the_steps_and_the_tightest_is_named(build):
    """One noisy step of five makes no warning; three do, and the worst is named."""
    quiet, loud, louder = 0.01, 0.04, 0.05

    def history(sds):
        return build.past(build.rows([{step: 1 + sd * (-1) ** n for step, sd in enumerate(sds)} for n in range(20)]))

    steps = range(5)
    assert "band_too_tight" not in _notices(build, history([quiet] * 4 + [louder]), steps=steps)
    text = _notices(build, history([quiet, quiet, loud, louder, loud]), steps=steps)["band_too_tight"]
    assert text.startswith("m: the band is 2.4 times the sd of the last 20 valid runs, in the median of 5 steps")
    assert "(least, 1.9, at m step 3)" in text


@pytest.mark.parametrize(("sd", "kinds"), [(0.01, set()), (0.05, {"band_too_tight"})])
def test_a_broken_run_is_no_example_of_noise(build, sd, kinds):
    """With most of its steps outside it does not make a good band look tight, nor a tight one look good."""
    steps = range(6)
    usual = [dict.fromkeys(steps, 1 + sd * (-1) ** n) for n in range(19)]
    broken = {step: 1.9 if step < 4 else 1.0 for step in steps}
    assert set(_notices(build, build.past(build.rows([*usual, broken])), steps=steps)) == kinds


@pytest.mark.parametrize("widths", [0.2, 0.5, 1.0, 3.0])
def test_the_worst_bands_are_told_with_their_number(build, widths):
    """Where noise puts most coordinates of many runs outside, it is the band that is wrong, and no run is set aside."""
    noise = np.random.default_rng(7).normal(0.0, 0.1 / widths, (20, 6))
    rows = build.rows([dict(enumerate((1 + row).tolist())) for row in noise])
    found, _ = _judged(build, build.past(rows), steps=range(6), constraint={"abs_floor_up": 0.1, "abs_floor_down": 0.1})
    told = float(found["band_too_tight"].split("the band is ")[1].split()[0])
    assert told == pytest.approx(np.median(0.1 / noise.std(axis=0, ddof=1)), rel=0.06)


@pytest.mark.parametrize("runs", [1, 7])
def test_few_valid_runs_say_nothing(build, runs):
    """Noise is not estimated from fewer than 8."""
    assert _notices(build, build.past(_noisy(build, 0.05, runs))) == {}


def test_a_constant_metric_is_not_warned_of(build):
    """Without noise there is no number of sd; a deterministic metric is no reason to nag every night."""
    assert _notices(build, build.past(build.rows([{0: 1.0}] * 20))) == {}


def test_red_runs_are_valid_runs_too(build):
    """6 of 20 valid runs outside today's corridor are more than a quarter, 5 are not."""
    for red, warned in ((5, False), (6, True)):
        stored = build.rows([{0: 1.5}] * red + [{0: 1.0}] * 20)
        history = SpecHistory(stored[red:], stored[:-21:-1], stored[:20], "e1")
        texts = _notices(build, history)
        assert ("red_by_chance" in texts) == warned
        if warned:
            assert texts["red_by_chance"].startswith("m: 6 of the last 20 valid runs are red by the corridor alone")


def test_a_quorum_makes_a_valid_run_red(build):
    """As the profile judges: one step of 40 outside in each run is no red run."""
    past = dict.fromkeys(range(40), 1.0)
    stored = build.rows([past | {number: 1.15} for number in range(20)])
    assert "red_by_chance" not in _notices(build, build.past(stored), steps=range(40))
    strict = build.judge(build.spec(), build.record(m=past), build.reader(m=build.past(stored)), build.STRICT)
    assert "red_by_chance" in {notice.kind for notice in strict.warnings}


def test_a_band_beyond_all_measure_is_blind(build):
    """The largest relative band over the least noise: no number of sd, a warning all the same."""
    history = build.past(build.rows([{0: 1e300 + (number % 2) * 1e285} for number in range(20)]))
    constraint = {"rel_up": 1e300, "rel_down": 1e300}
    assert "band_blind" in _notices(build, history, value=1e300, constraint=constraint)


@given(st.lists(EXTREME, min_size=8, max_size=20), st.booleans())
def test_lint_takes_any_history(build, values, gaps):
    """Largest doubles, denormals, -0, steps that come and go: at most warnings, no NaN in them."""
    stored = build.rows([{0: value, 1 + (gaps and number % 3): -value} for number, value in enumerate(values)])
    record = build.record(m={0: values[0], 1: -values[0]})
    verdict = build.judge(build.spec(), record, build.reader(m=build.past(stored)), build.BALANCED)
    assert all("nan" not in notice.text for notice in verdict.warnings)


@given(
    values=st.lists(st.tuples(st.floats(0.5, 1.5), st.floats(0.9, 1.1)), min_size=1, max_size=24),
    gaps=st.frozensets(st.tuples(st.integers(0, 23), st.integers(0, 11)), max_size=30),
    band=st.sampled_from([0.001, 0.05, 0.3, 3.0, 60.0]),
    judged=st.tuples(st.integers(1, 12), st.sampled_from(["strict", "balanced"])),
)
def test_twin_agrees_on_lint(build, twin, values, gaps, band, judged):
    """The same warnings about bands, whatever runs and steps there are; some steps never change."""
    size, profile = judged
    runs = [
        {s: (level, other, 1.0)[s % 3] for s in range(size) if (number, s) not in gaps} or {99: 1.0}
        for number, (level, other) in enumerate(values)
    ]
    spec = build.spec(constraint={"abs_floor_up": band, "abs_floor_down": 2 * band})
    policy = type(build.STRICT)(profile=profile)
    history = build.past(build.rows(runs, [size] * len(runs)))
    record = build.record(m=dict.fromkeys(range(size), 1.0))
    verdict = build.judge(spec, record, build.reader(m=history), policy)
    kinds = {notice.kind for notice in verdict.warnings} - {"few_points", "shift_incomparable"}
    assert kinds == twin.band_warnings(spec, range(size), runs, policy)


def _ref(build, number, trusted):
    (stored,) = build.rows([{0: 1.0}])
    return RunRef(f"{number:032x}", stored.run.created_at, trusted=trusted, counting=trusted, valid=True)


@pytest.mark.parametrize(
    ("trusted", "warned"),
    [
        ([False] * 5 + [True], True),
        ([False] * 4 + [True] * 2, False),
        ([False] * 4, False),
        ([True] + [False] * 9, False),
        ([], False),
    ],
)
def test_a_series_whose_last_five_runs_are_untrusted_is_starved(build, trusted, warned):
    """Of the stored runs, newest first, whatever became of the older ones."""
    runs = tuple(_ref(build, number, flag) for number, flag in enumerate(trusted))
    verdict = build.judge(build.spec(), build.record(m={0: 1.0}), build.Reader(History(recent_runs=runs)))
    texts = [notice.text for notice in verdict.warnings if notice.kind == "starved"]
    assert bool(texts) == warned
    assert verdict.trusted
    if warned:
        assert texts[0].startswith(
            f"the last 5 runs of this series are all untrusted, since run {4:032x} of 2026-01-02"
        )
        assert "driftgate mark-untrusted --run-id" in texts[0]
        assert f"driftgate epoch start TEST --from-run {4:032x} --reason" in texts[0]


def test_a_cold_declaration_with_a_past_elsewhere_is_told(build):
    """An edited band: the mean under the old declaration and how far this value is from it; the furthest step."""
    others = build.rows([{0: 1.0, 1: 2.0}] * 3)
    texts = _notices(build, SpecHistory(others=others), value=1.5, steps=(0, 1, 2))
    assert texts["orphaned_history"].startswith("m: no history under this declaration, but some under another")
    assert texts["orphaned_history"].endswith(
        "m step 0 is 1.5, 0.5 above 1, its mean of 3 runs; the furthest of 2 steps"
    )


def test_an_equal_value_is_told_as_equal(build):
    """Nothing moved."""
    texts = _notices(build, SpecHistory(others=build.rows([{0: 1.0}])))
    assert texts["orphaned_history"].endswith("m step 0 is 1, equal to its mean of 1 run")


def test_a_warm_or_a_new_declaration_is_not_orphaned(build):
    """With a history of its own, or where no other declaration has the step."""
    others = build.rows([{0: 1.0}])
    assert _notices(build, SpecHistory(build.rows([{0: 1.0}] * 3), others=others)) == {}
    assert _notices(build, SpecHistory(others=build.rows([{7: 1.0}]))) == {}
    assert _notices(build, SpecHistory()) == {}

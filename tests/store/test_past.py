"""A whole series at once, as the contract promises it."""

from __future__ import annotations

import numpy as np


def test_everything_of_a_series_oldest_first(build, store):
    """Runs by (created_at, arrival), each with its values, its verdict and what became of its trust."""
    other = build.key("kl")
    store.write_run(build.run(3, build.values({0: 3.0, 2: 0.1}), build.values({-1: 0.5}, other, trusted=False)))
    store.write_run(build.run(1, hours=1, trusted=False, has_error=True, facts={"ci_run_attempt": 1}))
    store.write_run(build.run(1, hours=2, facts={"ci_run_attempt": 2}))
    store.mark_untrusted(ci_run_id=3, **build.BY)
    past = store.read_past(build.IDENTITY)
    first, second, third = past.runs
    assert [run.ci_run_id for run in past.runs] == [1, 1, 3]
    assert (first.trusted, first.has_error, first.superseded_by) == (False, True, second.run_id)
    assert (third.gate_trusted, third.trusted, third.marked) == (True, False, False)
    assert third.untrusted_reason == "bad driver"
    assert third.verdict == build.run(3).verdict
    assert [values.key for values in third.values] == [build.key(), other]
    assert [values.trusted for values in third.values] == [True, False]
    assert third.values[0].steps.tolist() == [0, 2]
    assert third.values[0].values.tolist() == [3.0, 0.1]
    assert past.epochs == ()


def test_equal_step_sets_share_one_array(build, store):
    """So that readers recognise them without a look."""
    store.write_run(build.run(1))
    store.write_run(build.run(2))
    first, second = store.read_past(build.IDENTITY).runs
    assert first.values[0].steps is second.values[0].steps
    assert not np.array_equal(first.values[0].values, second.values[0].values)


def test_other_series_do_not_exist(build, store):
    """Neither an unknown series nor one of another project shows anything."""
    identity = build.SeriesIdentity("other", build.IDENTITY.test_path, "cuda", "nightly-8-gpu")
    store.write_run(build.run(1))
    assert store.read_past(identity).runs == ()

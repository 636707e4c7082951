"""Check 2: how far each value has moved since the epoch began."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.verdict import Status
from gate.verdict_json import to_json

KL = {"rel_up": 0.5, "abs_floor_up": 0.02, "rel_down": 0.8, "abs_floor_down": 0.02}
FINITE = st.floats(allow_nan=False, allow_infinity=False)


def _walked(build, value, anchor, recent, constraint=None, policy=None, **spec):
    """One coordinate judged after runs at ``anchor`` and then at ``recent`` (both oldest first)."""
    stored = build.rows([{0: level} for level in reversed([*anchor, *recent])])
    declared = build.spec(constraint=constraint or build.TENTH, **spec)
    reader = build.reader(m=build.past(stored))
    return build.judge(declared, build.record(m={0: value}), reader, policy or build.STRICT).specs[0]


@pytest.mark.parametrize(("runs", "status"), [(0, "inactive"), (19, "inactive"), (20, "fail"), (21, "fail")])
def test_it_is_inactive_until_the_anchor_is_full(build, runs, status):
    """K = 20 runs, no fewer; until then there is no corridor, and ``n`` says how many there are."""
    column = _walked(build, 1.2, [1.0] * runs, []).columns["anchor"]
    assert Status(column.status[0]).label == status
    assert column.n[0] == min(runs, 20)
    assert math.isnan(column.mean[0]) == (runs < 20)


@pytest.mark.parametrize(("having", "status"), [(9, Status.INACTIVE), (10, Status.FAIL)])
def test_a_coordinate_needs_half_of_the_anchor(build, having, status):
    """A step that fewer than 10 of the 20 runs have is not judged; the others are."""
    stored = build.rows([{0: 1.0, 1: 1.0}] * having + [{0: 1.0}] * (20 - having))
    judged = build.judge(build.spec(), build.record(m={0: 1.2, 1: 1.2}), build.reader(m=build.past(stored)))
    assert judged.specs[0].columns["anchor"].status.tolist() == [Status.FAIL, status]


def test_a_walk_that_the_rolling_mean_follows_is_caught(build):
    """0.003 per run: always inside the corridor of the newest 20, no longer inside that of the first 20."""
    levels = [1 + 0.003 * number for number in range(80)]
    caught = []
    for number in range(20, 80):
        judged = _walked(build, levels[number], levels[:20], levels[20:number], checks=("anchor",))
        assert judged.checks["corridor"].status is Status.PASS
        caught.append(judged.checks["anchor"].status is Status.FAIL)
    # the anchor's mean is 1.0285: the first level above 1.1285 is that of run 43
    assert caught.index(True) == 43 - 20
    assert all(caught[43 - 20 :])


def test_the_sentence_of_the_specification(build):
    """In units of the metric, and with the corridor of recent runs where that says otherwise."""
    judged = _walked(build, 0.0414, [0.0202] * 20, [0.03] * 20, KL)
    assert judged.columns["anchor"].reasons == {
        0: "m step 0: 0.0414 is 1.1 bands above the epoch's anchor 0.0202 (allowed to 0.0402); "
        "within the corridor of recent runs"
    }


def test_the_corridor_of_recent_runs_is_named_only_where_it_is_true(build):
    """Outside of both, and below: no such clause, and the lower bound."""
    judged = _walked(build, 0.7, [1.0] * 20, [])
    assert (
        judged.columns["anchor"].reasons[0] == "m step 0: 0.7 is 3 bands below the epoch's anchor 1 (allowed from 0.9)"
    )


@pytest.mark.parametrize(("outside", "status"), [(1, Status.PASS), (2, Status.FAIL)])
def test_the_quorum_holds_for_the_anchor_too(build, outside, status):
    """``balanced``: one of forty outside is chance, two are not; the coordinates are ``outside``."""
    past = dict.fromkeys(range(40), 1.0)
    stored = build.rows([dict.fromkeys(range(40), 1.06)] * 20 + [past] * 20)
    record = build.record(m=dict.fromkeys(range(40), 1.06) | dict.fromkeys(range(outside), 1.12))
    judged = build.judge(build.spec(checks=("anchor",)), record, build.reader(m=build.past(stored)), build.BALANCED)
    check = judged.specs[0].checks["anchor"]
    assert (check.status, check.facts) == (status, {"outside": outside, "of": 40})
    assert judged.specs[0].columns["anchor"].status.tolist().count(Status.OUTSIDE) == outside
    assert judged.specs[0].checks["corridor"].status is Status.PASS
    if status is Status.FAIL:
        assert check.reason == "2 of 40 outside the anchor's corridor, at most 1 may be"


def test_the_declaration_can_leave_it_out(build):
    """``checks=[]`` and ``checks=["shift"]``: no such check and, without any drift check, no anchor."""
    for checks, named in (((), 0), (("shift",), 20), (("anchor",), 20)):
        judged = _walked(build, 1.05, [1.0] * 20, [], checks=checks)
        assert ("anchor" in judged.checks, "shift" in judged.checks) == ("anchor" in checks, "shift" in checks)
        assert len(judged.anchor) == named


def test_the_verdict_names_the_runs_of_the_anchor(build):
    """Oldest first, the first 20 of the epoch, once for all gate specs that share them."""
    stored = build.rows([{0: 1.0}] * 25)
    reader = build.reader(a=build.past(stored), b=build.past(stored))
    verdict = build.judge([build.spec("a"), build.spec("b")], build.record(a={0: 1.0}, b={0: 1.0}), reader)
    document = to_json(verdict)
    assert [spec["anchor"] for spec in document["specs"]] == ["a0", "a0"]
    assert document["run_lists"]["a0"] == [f"{number:032x}" for number in range(1, 21)]


@pytest.mark.parametrize(("left", "ever", "warned"), [(17, 20, True), (17, 19, False), (20, 20, False), (0, 20, True)])
def test_a_lost_anchor_is_warned_of(build, left, ever, warned):
    """Fewer than K remain after there had been enough."""
    history = build.past(build.rows([{0: 1.0}] * left), anchor_ever=ever)
    verdict = build.judge(build.spec(), build.record(m={0: 1.0}), build.reader(m=history))
    texts = [notice.text for notice in verdict.warnings if notice.kind == "anchor_lost"]
    assert bool(texts) == warned
    if warned:
        assert texts == [
            f"m: anchor lost: of its 20 runs only {left} still count; the drift checks are inactive until there are 20 again"
        ]


def test_a_declaration_without_drift_checks_is_not_warned(build):
    """Nothing is lost to it."""
    history = build.past(build.rows([{0: 1.0}] * 3), anchor_ever=20)
    verdict = build.judge(build.spec(checks=()), build.record(m={0: 1.0}), build.reader(m=history))
    assert verdict.warnings == ()


def test_fewer_anchor_runs_can_be_asked_for(build):
    """A weekly test: K = 5 is a matter of configuration; shift has no multiplier for so few and stays inactive."""
    policy = replace(build.STRICT, anchor_runs=5)
    stored = build.rows([{0: 1.0}] * 12)
    reader = build.reader(m=build.past(stored, 5))
    judged = build.judge(build.spec(), build.record(m={0: 1.2}), reader, policy).specs[0]
    assert (judged.checks["anchor"].status, judged.checks["shift"].status) == (Status.FAIL, Status.INACTIVE)


@given(value=FINITE, level=FINITE, recent=FINITE)
def test_every_stated_comparison_is_visibly_true(build, value, level, recent):
    """The value printed lies beyond the bound printed, on the side that is stated."""
    judged = _walked(build, value, [level] * 20, [recent] * 3, KL)
    for reason in judged.columns["anchor"].reasons.values():
        told = re.fullmatch(
            r"m step 0: (\S+) is (?:(\S+) bands )?(above|below) the epoch's anchor (\S+) \(allowed (to|from) (\S+)\)"
            r"(; within the corridor of recent runs)?",
            reason,
        )
        stated, bands, side, mean, bound_word, bound, _ = told.groups()
        assert (side, bound_word) in {("above", "to"), ("below", "from")}
        assert float(stated) > float(bound) >= float(mean) if side == "above" else float(stated) < float(bound)
        assert bands is None or float(bands) > 1
    assert bool(judged.columns["anchor"].reasons) == (judged.checks["anchor"].status is Status.FAIL)

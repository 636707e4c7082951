"""The JSON form: its shape, its size, and back."""

from __future__ import annotations

import json
import math

import numpy as np
import orjson
import pytest

from gate.errors import DriftgateError
from gate.provenance import Provenance
from gate.verdict import Written
from gate.verdict_json import from_json, to_json, to_stored


@pytest.fixture
def verdict(build):
    """Every kind of answer at once: pass, fail, inactive, error, limits, a reduction, a missing metric."""
    specs = [
        build.spec("a", limits=(0.0, 2.0), enforce=True, allowlist_reason="stable", line=7),
        build.spec("b", {"reduce": "mean", "last": 2}, expect=(2, True), checks=("shift",)),
        build.spec("gone"),
    ]
    record = build.record(a={0: 1.0, 1: 1.5, 2: math.inf, 3: 1.0}, b={0: 1.0, 1: 1.0})
    rows = build.rows([{0: 1.0, 1: 1.0}] * 2, [4, 4])
    last = build.rows([{-1: 1.0}] * 2, [2, 2])
    provenance = Provenance(tested_sha="f" * 40, ci_run_id=3, packages={"torch": "2.9"})
    return build.judge(specs, record, build.reader(a=rows, b=last), provenance=provenance)


def test_the_shape(verdict):
    """The documented keys, and nothing that json cannot write."""
    document = json.loads(json.dumps(to_json(verdict), allow_nan=False))
    assert (document["schema"], document["verdict"], document["mode"], document["reason"]) == (
        1,
        "not_trusted",
        "shadow",
        None,
    )
    assert document["series"]["test_path"] == "tests/e2e/test_a.py"
    assert (document["provenance"]["commit_sha"], document["provenance"]["ci_run_id"]) == ("f" * 40, 3)
    assert document["written"] is None
    assert (document["compared"], document["coordinates_total"]) == (3, 5)
    first, second, third, fourth, reduced = document["coordinates"]
    assert first["checks"] == {
        "corridor": {"status": "pass", "n": 2, "mean": 1.0, "lo": 0.9, "hi": 1.1, "reason": ""},
        "anchor": {"status": "inactive", "n": 0, "mean": None, "lo": None, "hi": None, "reason": ""},
        "limits": {"status": "pass", "reason": ""},
    }
    assert (first["metric_key"], first["steps_key"], first["step"], first["at_step"]) == ("a", '"all"', 0, 0)
    assert (second["trusted"], second["checks"]["corridor"]["status"]) == (False, "fail")
    assert (third["value"], third["checks"]["selection"]["status"]) == (None, "error")
    assert "Infinity" in third["checks"]["selection"]["reason"]
    assert fourth["checks"]["corridor"] == {
        "status": "inactive",
        "n": 0,
        "mean": None,
        "lo": None,
        "hi": None,
        "reason": "",
    }
    assert (reduced["step"], reduced["at_step"]) == (-1, 1)


def test_the_specs_of_the_shape(verdict):
    """Per gate spec its checks, its baseline by name, and the declaration's policy."""
    document = to_json(verdict)
    spec = document["specs"][0]
    assert document["run_lists"][spec["baseline"]] == [f"{2:032x}", f"{1:032x}"]
    assert (spec["anchor"], spec["epoch_id"], spec["points"], spec["line"]) == (None, "e1", 4, 7)
    assert spec["checks"]["corridor"] == {
        "status": "fail",
        "outside": 1,
        "of": 2,
        "reason": "1 of 2 outside the corridor",
    }
    assert (spec["limits"], spec["enforce"], spec["allowlist_reason"]) == ({"min": 0.0, "max": 2.0}, True, "stable")
    assert (document["specs"][1]["expect_points"], document["specs"][1]["drift_checks"]) == ({"min": 2}, ["shift"])
    assert document["specs"][2]["checks"]["selection"]["status"] == "error"


def test_equal_run_lists_are_written_once(verdict):
    """Two specs with the same baseline share its name."""
    document = to_json(verdict)
    assert [spec["baseline"] for spec in document["specs"]] == ["b0", "b0", "b1"]


def test_round_trip(verdict):
    """Reading and writing again gives the same document, declarations included."""
    document = orjson.loads(orjson.dumps(to_json(verdict)))
    again = from_json(document)
    assert to_json(again) == document
    assert [spec.spec for spec in again.specs] == [spec.spec for spec in verdict.specs]
    assert (again.identity, again.policy, again.provenance) == (verdict.identity, verdict.policy, verdict.provenance)


def test_round_trip_of_a_written_and_of_an_unjudged_verdict(build, verdict):
    """``written`` and ``reason`` come back."""
    from dataclasses import replace

    written = replace(verdict, mode="enforced", written=Written("r1", trusted=True, repeat=False))
    for one in (written, build.judge([], build.record())):
        assert to_json(from_json(to_json(one))) == to_json(one)


def test_stored_keeps_what_deviates_only(verdict):
    """A coordinate that passes or is cold is recomputed from the stored rows."""
    kept = to_stored(verdict)["coordinates"]
    assert [(row["metric_key"], row["step"]) for row in kept] == [("a", 1), ("a", 2)]
    assert to_json(from_json(to_stored(verdict)))["coordinates"] == kept


def test_outside_is_kept(build):
    """Also where ``balanced`` lets it pass."""
    points = dict.fromkeys(range(20), 1.0)
    reader = build.reader(m=build.rows([points] * 3))
    verdict = build.judge(build.spec(), build.record(m=points | {4: 1.15}), reader, build.BALANCED)
    assert verdict.trusted
    assert [row["step"] for row in to_stored(verdict)["coordinates"]] == [4]


def test_a_stored_verdict_is_small(build):
    """At most 20 bytes per value: 5 metrics of 100 steps, 20 runs of history and as many of an anchor, as JSON text."""
    names = [f"train/metric_{number}" for number in range(5)]
    points = dict.fromkeys(range(100), 1.0)
    reader = build.reader(**{name: build.past(build.rows([points] * 40)) for name in names})
    specs = [build.spec(name) for name in names]
    verdict = build.judge(specs, build.record(**dict.fromkeys(names, points)), reader)
    assert verdict.coordinates_total == 500
    assert [len(run_ids) for run_ids in to_stored(verdict)["run_lists"].values()] == [20, 20]
    assert len(orjson.dumps(to_stored(verdict))) <= 20 * 500


def test_ten_thousand_coordinates_keep_no_reasons_for_those_that_pass(build):
    """The columns hold arrays; sentences exist for deviations only."""
    points = dict.fromkeys(range(10_000), 1.0)
    verdict = build.judge(build.spec(), build.record(m=points | {7: 2.0}), build.reader(m=build.rows([points])))
    column = verdict.specs[0].columns["corridor"]
    assert list(column.reasons) == [7]
    assert isinstance(column.status, np.ndarray)


@pytest.mark.parametrize("document", [{}, {"schema": 2}, {"schema": 1}, {"schema": 1, "coordinates": 3}])
def test_what_is_no_verdict_is_refused_in_one_line(document):
    """A store of a newer driftgate, or somebody else's JSON."""
    with pytest.raises(DriftgateError) as refused:
        from_json(document)
    assert "\n" not in str(refused.value)

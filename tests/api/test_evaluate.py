"""A verdict over HTTP without a trace."""

import math

import orjson
import pytest

from driftgate.harness.merge import merge_attempt
from gate.evaluate import evaluate
from gate.policy import GatePolicy
from gate.verdict_json import to_json
from store.contract import RunFilter

SERIES = {"test_path": "tests/test_ppo.py", "backend": "cuda", "suite": "nightly-8-gpu"}
TENTH = {"abs_floor_down": 0.1, "abs_floor_up": 0.1}
DECLARATION = {"metric_key": "loss", "steps": "all", "constraint": TENTH}


def asked(value=1.0, **changes):
    points = [[step, value] for step in range(3)]
    return {"series": SERIES, "declarations": [DECLARATION], "metrics": {"loss": points}} | changes


@pytest.mark.parametrize(("value", "verdict"), [(1.0, "trusted"), (9.0, "not_trusted")])
def test_it_is_the_gates_verdict(client, store, judging, tmp_path, value, verdict):
    """As `driftgate gate --json` prints it of the same record; nothing is written."""
    judging.nights(store, [1.0, 1.0])
    answer = client.post("/v1/evaluate", json=asked(value)).json()
    line = orjson.dumps({"metric": "loss", "series": [[step, value] for step in range(3)]})
    (tmp_path / "1.jsonl").write_bytes(line)
    expected = evaluate(
        [judging.spec()],
        merge_attempt(tmp_path),
        identity=judging.IDENTITY,
        policy=GatePolicy(),
        reader=store,
    )
    (spec,) = answer["specs"]
    assert spec.pop("line") == 1
    document = orjson.loads(orjson.dumps(to_json(expected)))
    del document["specs"][0]["line"]
    assert answer == document
    assert (answer["verdict"], answer["written"]) == (verdict, None)
    assert len(store.list_runs("default", RunFilter())) == 2
    assert client.post("/v1/evaluate", json=asked(metrics=None, record=line.decode())).json() == answer | {
        "specs": [spec | {"line": 1}]
    }


def test_what_json_has_no_number_for(client):
    """NaN and infinities come as words and go out as null, named in the reason."""
    answer = client.post("/v1/evaluate", json=asked("NaN")).json()
    assert answer["verdict"] == "not_trusted"
    assert {row["value"] for row in answer["coordinates"]} == {None}
    assert "logged as NaN" in answer["coordinates"][0]["checks"]["selection"]["reason"]


def test_a_hand_written_nan_in_a_record_is_read_as_the_collector_means_it(client):
    """The record is text: what is wrong in it is a defect of the metric."""
    record = '{"metric": "loss", "series": [[0, NaN]]}'
    answer = client.post("/v1/evaluate", json=asked(metrics=None, record=record))
    assert (answer.status_code, answer.json()["verdict"]) == (200, "not_trusted")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"metrics": None}, "give one of record and metrics"),
        ({"record": ""}, "give one of record and metrics"),
        ({"declarations": [DECLARATION | {"steps": "al"}]}, "declarations:1: register_ci_gate steps: found 'al'"),
        ({"declarations": [DECLARATION, DECLARATION]}, "same metric, steps and constraint as in line 1"),
        ({"declarations": [DECLARATION | {"step": 1}]}, "unknown argument (did you mean 'steps'?)"),
        ({"declarations": [{"metric_key": "loss"}]}, "has no default; give steps and constraint"),
        ({"declarations": [{"steps": "all", "constraint": TENTH}]}, "name the metric to judge"),
        ({"declarations": [DECLARATION | {"constraint": {}}]}, "band of zero"),
        ({"declarations": [DECLARATION | {"constraint": TENTH | {"rel_up": "a" * 99}}]}, "rel_up"),
        ({"declarations": ["loss"]}, "declarations.0"),
        ({"series": SERIES | {"test_path": ""}}, "test_path is empty"),
        ({"provenance": {"pr": "7"}}, "provenance.pr"),
    ],
)
def test_what_cannot_be_judged(client, changes, words):
    """422: each mistake of a declaration as in a test file."""
    answer = client.post("/v1/evaluate", json=asked(**changes))
    assert (answer.status_code, words in answer.json()["detail"]) == (422, True), answer.text


def listed(count):
    return DECLARATION | {"steps": list(range(count))}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"declarations": [listed(100_001)]}, "100001 coordinates; one request may have 100000 judged"),
        ({"declarations": [listed(60_000), listed(60_001)]}, "120001 coordinates"),
        ({"declarations": [listed(6_000)]}, "the verdict on 6000 coordinates is longer than 64 MiB"),
        (
            {
                "declarations": [DECLARATION | {"steps": {"reduce": "mean", "last": n}} for n in range(1, 102)],
                "metrics": {"loss": [[0, 1.0]] * 10_000},
            },
            "read 1010000 points together; one request may have 1000000 read",
        ),
        (
            {
                "metrics": {"lo\N{COMBINING ACUTE ACCENT}ss": [[0, 1.0]] * 100_001},
                "declarations": [DECLARATION | {"metric_key": "l\N{LATIN SMALL LETTER O WITH ACUTE}ss"}],
            },
            "100001 coordinates",
        ),
    ],
)
def test_what_is_too_much(client, changes, words):
    """A short question does not keep the service busy, nor fill its memory with the answer."""
    answer = client.post("/v1/evaluate", json=asked(**changes))
    assert (answer.status_code, words in answer.json()["detail"]) == (422, True), answer.text[:300]


def test_what_is_just_not_too_much(client):
    """Negative control: steps by the hundred, of a metric that has none of them."""
    assert client.post("/v1/evaluate", json=asked(declarations=[listed(2_000)])).status_code == 200


@pytest.mark.parametrize("depth", [10, 254, 1000])
@pytest.mark.parametrize("where", ["metrics", "declarations", "steps"])
def test_depth(client, depth, where):
    """Of points, of arguments: told, never an error of the service."""
    deep = b"[" * depth + b"]" * depth
    changes = {
        "metrics": {"metrics": {"loss": ["@"]}},
        "declarations": {"declarations": [DECLARATION | {"constraint": "@"}]},
        "steps": {"declarations": [DECLARATION | {"steps": "@"}]},
    }
    content = orjson.dumps(asked(**changes[where])).replace(b'"@"', deep)
    answer = client.post("/v1/evaluate", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == (200 if (where, depth) == ("metrics", 10) else 422), answer.text[:300]


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_has_not(client, number):
    """422 where they stand bare in the body."""
    content = orjson.dumps(asked(5.5)).replace(b"5.5", number.encode())
    answer = client.post("/v1/evaluate", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422


def test_any_points_give_a_verdict(client):
    """Points of no form are defects of the metric, never an error of the service."""
    for points in ([1], [[0]], [["a", 1]], [[0, None]], [[0, [1]]], [[-1, 1.0]], [[0, 1e308], [0, -1e308]], [[1.5, 1]]):
        answer = client.post("/v1/evaluate", json=asked(metrics={"loss": points}))
        assert (answer.status_code, answer.json()["verdict"]) == (200, "not_trusted"), points
    assert math.isfinite(answer.json()["compared"])

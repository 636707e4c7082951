"""The gate's one read over HTTP."""

import pytest

from gate.history import last_trusted_run
from store.wire import history_from, key_json
from store.wire_runs import stored_run_from

SERIES = {"test_path": "tests/test_ppo.py", "backend": "cuda", "suite": "nightly-8-gpu"}


def query(judging, **changes):
    return {"series": SERIES, "specs": [key_json(judging.spec().key)]} | changes


def test_it_is_what_the_store_gives(client, store, judging):
    """Baseline, anchor, valid and recent runs, without the CI run that is left out."""
    judging.nights(store, [1.0, 1.05, 9.0])
    answer = client.post("/v1/history:query", json=query(judging, exclude_ci_run_id=2, anchor_runs=5))
    found = history_from(answer.json())
    key = judging.spec().key
    expected = store.read_history(judging.IDENTITY, [key], 20, 5, 2)
    assert found.recent_runs == expected.recent_runs
    for name in ("baseline", "anchor", "valid"):
        rows = [(row.run, row.steps.tolist(), row.values.tolist(), row.points) for row in getattr(found.of(key), name)]
        assert rows == [
            (row.run, row.steps.tolist(), row.values.tolist(), row.points) for row in getattr(expected.of(key), name)
        ]


def test_what_nobody_knows_has_no_past(client, judging):
    """No error: the first run of a series asks as any other."""
    found = history_from(client.post("/v1/history:query", json=query(judging)).json())
    assert (found.of(judging.spec().key).baseline, found.recent_runs) == ((), ())


def test_what_a_gate_call_asks_next_comes_along(client, store, judging):
    """The newest trusted run and the enforcement switch, only where they are asked for."""
    ids = judging.nights(store, [1.0, 1.0, 9.0])
    store.set_enforcement(project="default", on=False, reason="quiet", actor="a")
    plain = client.post("/v1/history:query", json=query(judging)).json()
    along = client.post("/v1/history:query", json=query(judging, for_gate_call=True)).json()
    assert set(along) - set(plain) == {"last_trusted", "enforcement"}
    assert stored_run_from(along["last_trusted"]) == store.get_run("default", ids[1]).run
    assert along["last_trusted"]["run_id"] == last_trusted_run(history_from(along))
    assert (along["enforcement"]["enforcement"], along["enforcement"]["reason"]) == ("off", "quiet")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"limit": 0}, "limit"),
        ({"limit": 501}, "limit"),
        ({"limit": True}, "limit"),
        ({"anchor_runs": -1}, "anchor_runs"),
        ({"exclude_ci_run_id": "1"}, "exclude_ci_run_id"),
        ({"specs": [{"metric_key": "a"}]}, "specs.0.steps_key"),
        ({"specs": [{"metric_key": "a\0", "steps_key": "s", "constraint_key": "c"}]}, "NUL"),
        ({"specs": [{"metric_key": "a", "steps_key": "s", "constraint_key": "c"}] * 10_001}, "specs"),
        ({"series": SERIES | {"suite": ""}}, "suite is empty"),
        ({"series": SERIES | {"suite": "s" * 3000}}, "exceed"),
        ({"since": 1}, "since"),
    ],
)
def test_what_cannot_be_asked(client, judging, changes, words):
    """422 with the place and the fault."""
    answer = client.post("/v1/history:query", json=query(judging, **changes))
    assert (answer.status_code, words in answer.json()["detail"]) == (422, True), answer.text

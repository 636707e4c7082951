"""What Prometheus gets: counts by few labels, and nothing that a request could make up."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

import driftgate
from store.errors import StoreUnavailable
from store.wire_runs import new_run_json


@pytest.fixture
def samples(client):
    """The samples by name and labels."""

    def read():
        text = client.get("/metrics").text
        families = list(text_string_to_metric_families(text))
        return {(one.name, *sorted(one.labels.items())): one.value for family in families for one in family.samples}

    return read


def requests(found):
    """How many, by method, route and status."""
    return {
        tuple(dict(labels)[name] for name in ("method", "route", "status")): value
        for (name, *labels), value in found.items()
        if name == "driftgate_requests_total"
    }


def test_requests_by_template_and_status(client, samples, bearer):
    """Each answer is counted once, with its duration, whoever gave it: route, router, guard or dependency."""
    client.get("/healthz")
    client.get("/v1/series?project=a")
    client.get("/v1/series?nonsense=1")
    client.get("/v1/series", headers={"Host": "evil.example"})
    client.post("/v1/epochs/some-id:undo", json={"reason": "r"})
    client.post("/v1/epochs/other-id:undo", json={"reason": "r"}, headers=bearer("operate"))
    for path in ("/nowhere", "/v1/tests%2Ftest_a.py", "/wp-login.php"):
        client.get(path)
    client.request("BREW", "/healthz")
    found = samples()
    assert requests(found) == {
        ("GET", "/healthz", "200"): 1,
        ("GET", "/v1/series", "200"): 1,
        ("GET", "/v1/series", "422"): 1,
        ("GET", "none", "421"): 1,
        ("POST", "/v1/epochs/{epoch_id}:undo", "401"): 1,
        ("POST", "/v1/epochs/{epoch_id}:undo", "404"): 1,
        ("GET", "none", "404"): 3,
        ("other", "/healthz", "405"): 1,
    }
    durations = {key: value for key, value in found.items() if key[0] == "driftgate_request_duration_seconds_count"}
    assert sum(durations.values()) == 10
    assert requests(samples())["GET", "/metrics", "200"] == 1


def test_runs_and_verdicts_by_outcome(client, samples, bearer, store, judging):
    """Trusted or not as it is stored, repeats, conflicts; a repeat has no verdict of its own."""
    nights = [judging.judged(store, 1, 1.0), judging.judged(store, 2, 1.0), judging.judged(store, 1, 2.0)]
    headers = bearer("write")
    answers = [client.post("/v1/runs", headers=headers, json=new_run_json(nights[one])) for one in (0, 0, 1, 2)]
    assert [answer.status_code for answer in answers] == [201, 200, 201, 409]
    found = samples()
    assert {
        dict(labels)["outcome"]: n for (name, *labels), n in found.items() if name == "driftgate_runs_written_total"
    } == {
        "untrusted": 2,
        "repeat": 1,
        "conflict": 1,
    }
    assert found["driftgate_verdicts_total", ("verdict", "trusted")] == 2


def test_what_else_is_told(client, samples, monkeypatch):
    """The version, the process, verdicts of nobody's making, and what the store failed."""
    service = client.app.state.service
    for outcome in ("not_trusted", "made up", None, {}):
        service.metrics.verdict(outcome)

    def gone(*_):
        raise StoreUnavailable("gone")

    monkeypatch.setattr(service.store._connections, "_run", gone)
    assert client.get("/v1/series").status_code == 503
    found = samples()
    assert found["driftgate_verdicts_total", ("verdict", "not_trusted")] == 1
    assert found["driftgate_verdicts_total", ("verdict", "other")] == 3
    assert found["driftgate_store_errors_total", ("kind", "StoreUnavailable")] == 1
    assert found["driftgate_build_info", ("version", driftgate.__version__)] == 1
    assert found["process_resident_memory_bytes",] > 0


def test_the_type_is_prometheus(client):
    """As scrapers expect it."""
    assert client.get("/metrics").headers["content-type"].startswith("text/plain; version=")

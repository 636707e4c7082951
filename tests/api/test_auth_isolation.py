"""Another project's rows do not exist: neither by their ids nor in any list."""

import pytest
from fastapi.routing import iter_route_contexts

from api.app import create_app
from api.callers import scope_of
from api.settings import ServiceSettings
from store.contract import RunFilter

SERIES = {"test_path": "tests/test_ppo.py", "backend": "cuda", "suite": "nightly-8-gpu"}
AT = "2024-01-09T00:00:00Z"
BODIES = {
    "/v1/attempts": lambda series: {
        "attempts": [
            {"series": series, "test_attempt": 1, "attempt_class": "pass", "duration_s": 1.0, "started_at": AT}
        ]
    },
    "/v1/evaluate": lambda series: {"series": series, "declarations": [], "record": ""},
    "/v1/history:query": lambda series: {"series": series, "specs": []},
    "/v1/runs": lambda series: {
        "series": series,
        "created_at": AT,
        "series_values": [],
        "provenance": {"ci_run_id": 9, "ci_run_attempt": 1, "test_attempt": 1},
    },
}
"""By path, a body that names a series, and with it a project."""


def application():
    app = create_app(ServiceSettings("sqlite://"))
    app.state.service.store.close()
    return app


def guarded():
    """(method, path) of every route that needs a scope."""
    app = application()
    contexts = [one for one in iter_route_contexts(app.routes) if scope_of(one.original_route)]
    return sorted((method, one.path) for one in contexts for method in one.methods)


BY_ID = [(method, path) for method, path in guarded() if "{" in path]
LISTS = [path for method, path in guarded() if "{" not in path and method == "GET"]


@pytest.fixture
def stored(store, judging):
    """Ids of what the project ``default`` has, by the name of the path parameter."""
    runs = judging.nights(store, [1.0, 1.0, 1.0])
    store.mark_untrusted(project="default", run_id=runs[0], reason="r", actor="a")
    epoch = store.start_epoch(judging.IDENTITY, reason="r", actor="a")
    return {"run_id": runs[1], "epoch_id": epoch.epoch_id}


def ask(client, method, path, ids, headers):
    sent = {} if method == "GET" else {"json": {"reason": "r"}}
    return client.request(method, path.format(**ids), headers=headers, **sent)


@pytest.mark.parametrize(("method", "path"), BY_ID)
def test_by_id(client, stored, bearer, method, path):
    """404 and the same words as for an id that nobody has; its own project finds it. A new kind of id fails here."""
    other, own = bearer("operate", project="other"), bearer("operate")
    answer = ask(client, method, path, stored, other)
    unknown = ask(client, method, path, dict.fromkeys(stored, "0" * 32), other)
    assert (answer.status_code, unknown.status_code) == (404, 404)
    words = answer.json()["detail"]
    for one in stored.values():
        words = words.replace(one, "0" * 32)
    assert words == unknown.json()["detail"]
    assert ask(client, method, path, stored, own).status_code == 200


@pytest.mark.parametrize("path", LISTS)
def test_in_lists(client, stored, bearer, path):
    """Whoever asks for another project sees none of its ids, though every required name is one that is there."""
    described = client.app.openapi()["paths"].get(path, {"get": {}})["get"].get("parameters", ())
    named = SERIES | {"metric_key": "loss"}
    query = {one["name"]: named[one["name"]] for one in described if one["required"]}
    answer = client.get(path, params=query, headers=bearer("read", project="other"))
    assert answer.status_code in (200, 404)
    assert not [one for one in stored.values() if one in answer.text]


def test_lists_show_the_own(client, stored, bearer):
    """Negative control of the above."""
    own = bearer("read")
    assert stored["run_id"] in client.get("/v1/runs", headers=own).text
    assert stored["epoch_id"] in client.get("/v1/epochs", headers=own).text
    assert client.get("/v1/series", headers=own).json()["series"] != []
    assert client.get("/v1/series", headers=bearer("read", project="other")).json()["series"] == []


def test_bodies_that_name_a_project():
    """The table of them is whole: a route that is added to them fails here."""
    schema = application().openapi()

    def reaches(node):
        if isinstance(node, list):
            return any(map(reaches, node))
        if not isinstance(node, dict):
            return False
        name = node.get("$ref", "").rpartition("/")[2]
        return name == "SeriesBody" or any(map(reaches, (schema["components"]["schemas"].get(name), *node.values())))

    found = {
        path
        for path, methods in schema["paths"].items()
        if any(reaches(operation.get("requestBody")) for operation in methods.values())
    }
    assert {"/v1/runs", "/v1/history:query"} <= found <= set(BODIES)


@pytest.mark.parametrize("path", sorted({path for method, path in guarded() if method == "POST"} & set(BODIES)))
def test_in_bodies(client, store, stored, bearer, path):
    """Another project's series in a body is not there, and nothing is written; the own may be named."""
    scope = "read" if path in ("/v1/evaluate", "/v1/history:query") else "write"
    body = BODIES[path](SERIES | {"project": "default"})
    before = store.list_runs("default", RunFilter())
    answer = client.post(path, json=body, headers=bearer(scope, project="other"))
    assert (answer.status_code, "no project 'default'" in answer.json()["detail"]) == (404, True)
    assert store.list_runs("default", RunFilter()) == before
    assert store.list_series("other") == []
    assert client.post(path, json=body, headers=bearer(scope)).status_code in (200, 201)


@pytest.mark.parametrize("selector", ["run_id", "ci_run_id"])
def test_marks(client, store, stored, bearer, selector):
    """By another project's run: not there; by a CI run: none of its runs."""
    before = store.list_runs("default", RunFilter())
    value = stored["run_id"] if selector == "run_id" else before[0].provenance.ci_run_id
    answer = client.post(
        "/v1/runs:mark-untrusted", json={selector: value, "reason": "r"}, headers=bearer("operate", project="other")
    )
    assert answer.status_code == 404 if selector == "run_id" else answer.json()["changed"] == 0
    assert store.list_runs("default", RunFilter()) == before

"""One error shape on every route, and requests read strictly."""

import pytest


@pytest.mark.parametrize(
    ("method", "path", "status", "detail"),
    [
        ("GET", "/nowhere", 404, "Not Found"),
        ("POST", "/healthz", 405, "Method Not Allowed"),
        ("GET", "/v1/series?projekt=a", 422, "unknown query parameter 'projekt' (did you mean 'project'?)"),
        ("GET", "/v1/series?project=a&project=b", 422, "query parameter project is given 2 times"),
    ],
)
def test_a_refusal_is_a_problem_document(client, method, path, status, detail):
    """RFC 9457 with status and words, whoever refused: router, route or dependency."""
    answer = client.request(method, path)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["status"] == status
    assert detail in answer.json()["detail"]


def test_health_and_an_empty_list(client):
    """Liveness needs nobody; reading is open on loopback."""
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/v1/series").json() == {"schema": 1, "series": [], "next_cursor": None}

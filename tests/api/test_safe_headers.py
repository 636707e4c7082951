"""What every answer says beside what it holds."""

import pytest
from starlette.responses import Response

from api.safe_headers import SafeHeaders


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/healthz", {}, 200),
        ("GET", "/v1/series", {}, 200),
        ("GET", "/docs", {}, 200),
        ("GET", "/metrics", {}, 200),
        ("GET", "/session", {}, 200),
        ("GET", "/nowhere", {}, 404),
        ("DELETE", "/v1/series", {}, 405),
        ("GET", "/v1/series?unknown=1", {}, 422),
        ("GET", "/v1/series", {"Host": "evil.example"}, 421),
        ("GET", "/v1/series", {"Authorization": "Bearer dg_x"}, 401),
        ("POST", "/v1/runs", {"Content-Length": "9000000"}, 413),
    ],
)
def test_no_cache_gives_it_to_somebody_else(client, method, path, headers, status):
    """Nor does a browser take it for another type; told once, also where something is refused."""
    answer = client.request(method, path, headers=headers)
    assert answer.status_code == status
    assert answer.headers.get_list("cache-control") == ["no-store"]
    assert answer.headers.get_list("x-content-type-options") == ["nosniff"]


def test_after_an_error_of_our_own(client, store, monkeypatch):
    """The answer is made elsewhere then."""
    monkeypatch.setattr(store.pages, "series", lambda *_: 1 / 0)
    answer = client.get("/v1/series")
    assert (answer.status_code, answer.headers["cache-control"]) == (500, "no-store")


@pytest.mark.anyio
async def test_who_says_how_long_is_believed():
    """A file that never changes may be kept."""
    sent = []

    async def send(message):
        sent.append(message)

    await SafeHeaders(Response("", headers={"Cache-Control": "max-age=9"}))({"type": "http"}, None, send)
    assert [value for name, value in sent[0]["headers"] if name == b"cache-control"] == [b"max-age=9"]

"""Reads that cannot be answered: refused in one shape, in words, and never with a 5xx."""

import base64
import json

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.settings import ServiceSettings

SERIES = {"test_path": "tests/test_ppo.py", "backend": "cuda", "suite": "nightly-8-gpu"}
LISTINGS = {
    "/v1/series": {},
    "/v1/runs": {},
    "/v1/epochs": {},
    "/v1/attempts": {},
    "/v1/trust-events": {},
    "/v1/history": SERIES | {"metric_key": "loss"},
}
READS = LISTINGS | {"/v1/baselines": SERIES}
BAD_IDS = [
    "x",
    "0" * 32,
    "0" * 31,
    "A" * 32,
    "1' OR '1'='1",
    "%27%3B%20DROP%20TABLE%20runs%3B--",
    "..%2F..%2Fetc%2Fpasswd",
    "%2e%2e",
    "%00",
    "0" * 31 + "%00",
    "%ff%fe",
    "%",
    "%zz",
    "ü",
    "%F0%9F%98%80",
    "0" * 32 + "%0A",
    "a" * 10_000,
]
BAD_TIMES = [
    "",
    "2024",
    "2024-01-01",
    "2024-01-01T00:00:00",
    "2024-01-01 00:00:00",
    "2024-13-01T00:00:00Z",
    "2024-02-30T00:00:00Z",
    "2024-01-01T25:00:00Z",
    "2024-01-01T00:00:00+99:00",
    "0001-01-01T00:00:00+23:00",
    "9999-12-31T23:59:59-23:00",
    "1704067200",
    "yesterday",
    "2024-W01-1T00:00:00Z",
    "20240101T000000Z",
    "٢٠٢٤-01-01T00:00:00Z",
    "2024-01-01T00:00:00Z\0",
    "2024-01-01T00:00:00ZZ",
    "1e9",
    "NaN",
]


def refused(answer, status):
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
    document = answer.json()
    assert (document["status"], "\n" in document["detail"]) == (status, False)
    assert len(document["detail"]) < 3000
    return document["detail"]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """One for all: nothing here changes anything."""
    settings = ServiceSettings(f"sqlite:///{tmp_path_factory.mktemp('reads')}/history.db")
    with TestClient(create_app(settings), base_url="http://localhost:8321", raise_server_exceptions=False) as client:
        yield client


@pytest.fixture(scope="module")
def nights(client, judging):
    return judging.nights(client.app.state.service.store, [1.0, 1.01, 0.99])


@pytest.mark.parametrize("bad", BAD_IDS)
@pytest.mark.parametrize("path", ["/v1/runs/{}", "/v1/runs/{}/verdict"])
def test_an_id_that_there_is_not(nights, client, path, bad):
    """404, however it is written."""
    refused(client.get(path.format(bad)), 404)


def test_a_path_that_ends_in_a_slash(client):
    """Names nothing: an empty id is no id."""
    refused(client.get("/v1/runs/"), 404)


@pytest.mark.parametrize("limit", ["0", "-1", "1001", "1000000000", "1e9", "9" * 30, "1.5", "true", "", "ten", "NaN"])
@pytest.mark.parametrize("path", READS)
def test_a_limit_out_of_range(client, path, limit):
    """From 1 to 1000, as OpenAPI says."""
    assert "limit" in refused(client.get(path, params=READS[path] | {"limit": limit}), 422)


@pytest.mark.parametrize("path", ["/v1/history", "/v1/attempts"])
@pytest.mark.parametrize("since", BAD_TIMES)
def test_a_time_in_a_wrong_form(client, path, since):
    """Refused with the form that is right; a time without a zone too."""
    detail = refused(client.get(path, params=READS[path] | {"since": since}), 422)
    assert "write 2026-01-31T07:00:00Z" in detail


@pytest.mark.parametrize(
    ("path", "change"),
    [
        ("/v1/baselines", {"step": "9" * 20}),
        ("/v1/baselines", {"step": "1.5"}),
        ("/v1/baselines", {"test_path": "a\0b"}),
        ("/v1/baselines", {"test_path": "a" * 10_000}),
        ("/v1/baselines", {"suite": None}),
        ("/v1/history", {"format": "xml"}),
        ("/v1/history", {"metric_key": "a\0"}),
        ("/v1/history", {"metric_key": None}),
        ("/v1/runs", {"ci_run_id": "0"}),
        ("/v1/runs", {"ci_run_id": str(2**63)}),
        ("/v1/runs", {"trusted": "perhaps"}),
        ("/v1/runs", {"commit_sha": "a" * 100}),
        ("/v1/series", {"search": "\0"}),
        ("/v1/attempts", {"newest": "0"}),
        ("/v1/trust-events", {"run_id": "a" * 10_000}),
        ("/v1/epochs", {"run": "1"}),
    ],
)
def test_a_parameter_that_cannot_be(nights, client, path, change):
    """422, naming it."""
    query = {name: value for name, value in (READS[path] | change).items() if value is not None}
    assert next(iter(change)) in refused(client.get(path, params=query), 422)


HOSTILE = ["' OR 1=1 --", "%", "_", "\\", "..", "a\nb", "<script>", "😀", "::error::x"]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("path", READS)
def test_hostile_names_match_nothing(nights, client, path, text):
    """They are data: no such series, or no such row."""
    name = {"/v1/trust-events": "run_id", "/v1/history": "metric_key"}.get(path, "suite")
    answer = client.get(path, params=READS[path] | {name: text})
    if path in ("/v1/history", "/v1/baselines"):
        refused(answer, 404)
    else:
        assert answer.status_code == 200
        assert not any(rows for key, rows in answer.json().items() if isinstance(rows, list))


class TestCursors:
    @pytest.fixture
    def cursor(self, client, nights):
        assert len(nights) == 3
        return client.get("/v1/runs", params={"limit": 1}).json()["next_cursor"]

    @pytest.mark.parametrize(
        "change",
        [{"suite": "other"}, {"trusted": "true"}, {"project": "other"}, {"ci_run_id": 1}],
    )
    def test_of_another_query(self, client, cursor, change):
        """Refused: its pages would not fit together."""
        detail = refused(client.get("/v1/runs", params=change | {"cursor": cursor}), 422)
        assert detail.startswith("cursor: is of another query; take the next_cursor of")

    @pytest.mark.parametrize("path", [path for path in LISTINGS if path != "/v1/runs"])
    def test_of_another_listing(self, client, cursor, path):
        """Refused, too."""
        assert "another query" in refused(client.get(path, params=LISTINGS[path] | {"cursor": cursor}), 422)

    def test_another_page_size(self, client, cursor, nights):
        """Is no other query."""
        answer = client.get("/v1/runs", params={"cursor": cursor, "limit": 50})
        assert [run["run_id"] for run in answer.json()["runs"]] == nights[1::-1]

    @pytest.mark.parametrize(
        "bad", ["", "x", "AAAA", "é", "\0", "a" * 4000, "a" * 20_000, "1", "null", "../..", "=" * 8, "-_-_"]
    )
    def test_nonsense(self, client, bad):
        """Refused."""
        assert "cursor" in refused(client.get("/v1/runs", params={"cursor": bad}), 422)

    @pytest.mark.parametrize(
        "place",
        [
            None,
            {},
            [],
            [1],
            ["2024-01-01T00:00:00+00:00"],
            ["2024-01-01", 1],
            ["0001-01-01T00:00:00+23:00", 1],
            ["x", 1],
            ["2024-01-01T00:00:00+00:00", True],
            ["2024-01-01T00:00:00+00:00", None],
            ["2024-01-01T00:00:00+00:00", 2**80],
            ["2024-01-01T00:00:00+00:00", 1.5],
            [["2024-01-01T00:00:00+00:00"], 1],
            "2024",
        ],
    )
    def test_a_forged_place(self, client, cursor, place):
        """Refused, though its seal is right."""
        seal = base64.urlsafe_b64decode(cursor)[:9]
        forged = base64.urlsafe_b64encode(seal + json.dumps(place).encode()).decode()
        refused(client.get("/v1/runs", params={"cursor": forged}), 422)

    def test_the_place_may_be_any_in_the_listing(self, client, cursor):
        """Negative control: a place that could have been given out is answered."""
        seal = base64.urlsafe_b64decode(cursor)[:9]
        place = json.dumps(["2030-01-01T00:00:00+00:00", 1]).encode()
        answer = client.get("/v1/runs", params={"cursor": base64.urlsafe_b64encode(seal + place).decode()})
        assert len(answer.json()["runs"]) == 3


@pytest.mark.parametrize("path", LISTINGS)
def test_limits_stand_in_openapi(client, path):
    """With their bounds, and the cursor beside them."""
    document = client.get("/openapi.json").json()
    parameters = {one["name"]: one["schema"] for one in document["paths"][path]["get"]["parameters"]}
    assert (parameters["limit"]["minimum"], parameters["limit"]["maximum"]) == (1, 1000)
    assert "cursor" in parameters
    assert "application/problem+json" in document["paths"][path]["get"]["responses"]["422"]["content"]

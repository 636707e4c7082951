"""Bad input, on every route where it applies. Routes are read from OpenAPI: one that is added is in it by itself."""

from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta

import orjson
import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.callers import SCOPES
from api.settings import ServiceSettings
from store.tokens import NewToken


@dataclass(frozen=True)
class Operation:
    """One method of one route, as OpenAPI describes it."""

    name: str
    method: str
    path: str
    scope: str | None
    query: frozenset
    body: str | None

    def __str__(self):
        return self.name


def _document():
    app = create_app(ServiceSettings("sqlite://"))
    app.state.service.store.close()
    return app.openapi()


DOCUMENT = _document()
MODELS = DOCUMENT["components"]["schemas"]


def _operations():
    for path, methods in DOCUMENT["paths"].items():
        for method, raw in methods.items():
            query = frozenset(one["name"] for one in raw.get("parameters", ()) if one["in"] == "query")
            content = raw.get("requestBody", {}).get("content", {})
            body = content["application/json"]["schema"]["$ref"].rpartition("/")[2] if content else None
            yield Operation(raw["operationId"], method, path, raw["x-scope"], query, body)


ALL = tuple(_operations())
WITH_BODY = [one for one in ALL if one.body]
WITH_ID = [one for one in ALL if "{" in one.path]


def places(wanted, name, above=()):
    """Where in a body of the model ``name`` fields stand that ``wanted`` says yes to: the keys that lead there."""
    for key, field in MODELS[name].get("properties", {}).items():
        kinds = field.get("anyOf", [field])
        if any(wanted(key, kind) for kind in kinds):
            yield (*above, key)
        for kind in kinds:
            inside = kind.get("items", kind)
            if "$ref" in inside:
                index = (0,) if "items" in kind else ()
                yield from places(wanted, inside["$ref"].rpartition("/")[2], (*above, key, *index))


def in_bodies(wanted):
    return [(one, place) for one in WITH_BODY for place in places(wanted, one.body)]


TIMES_IN_BODIES = in_bodies(lambda _, kind: kind.get("format") == "date-time")
LIMITS_IN_BODIES = in_bodies(lambda key, _: key == "limit")
CURSORS_IN_BODIES = in_bodies(lambda key, _: key == "cursor")
NUMBERS_IN_BODIES = in_bodies(lambda _, kind: kind.get("type") in ("integer", "number"))
EACH = pytest.mark.parametrize("operation", ALL, ids=str)
EACH_WITH_BODY = pytest.mark.parametrize("operation", WITH_BODY, ids=str)


class Asking:
    """A service over three nights, and good requests to spoil."""

    def __init__(self, client, run_ids, good_request):
        self.client = client
        tokens = client.app.state.service.store.tokens
        self._secrets = {
            scope: tokens.create(NewToken("default", scope, scope, timedelta(hours=1)))[1] for scope in SCOPES
        }
        ids = {"RUN": run_ids[-1], "EPOCH": "0" * 32, "LOGIN_KEY": "dgk_" + "a" * 43, "TOKEN": self._secrets["read"]}
        self._good = {one.name: good_request(one.name, ids) for one in ALL}

    def good(self, operation):
        """Query, body and parts of the path, to be changed at will."""
        return {"query": {}, "body": {}, "path_parameters": {}} | deepcopy(self._good[operation.name])

    def ask(self, operation, *, path_parameters=None, query=None, headers=None, **content):
        """The answer to the good request, but for what is given; ``content`` as httpx takes it."""
        good = self.good(operation)
        path = operation.path.format(**(path_parameters or good["path_parameters"]))
        credentials = {"Authorization": f"Bearer {self._secrets[operation.scope]}"} if operation.scope else {}
        if operation.body and not content:
            content = {"content": orjson.dumps(good["body"])}
        kind = {"Content-Type": "application/json"} if operation.body else {}
        return self.client.request(
            operation.method,
            path,
            params=good["query"] if query is None else query,
            headers=kind | credentials | (headers or {}),
            follow_redirects=False,
            **content,
        )

    def ask_with(self, operation, place, value):
        """With another value at that place of the body; places on the way that are not there are made."""
        body = self.good(operation)["body"]
        inside = body
        for key in place[:-1]:
            inside = inside.setdefault(key, {}) if isinstance(inside, dict) else inside[key]
        inside[place[-1]] = value
        return self.ask(operation, content=orjson.dumps(body))


@pytest.fixture(scope="module")
def asking(tmp_path_factory, judging, good_requests):
    """One for all: every request here is refused."""
    settings = ServiceSettings(f"sqlite:///{tmp_path_factory.mktemp('bad')}/history.db", open_reading=False)
    with TestClient(create_app(settings), base_url="http://localhost", raise_server_exceptions=False) as client:
        run_ids = judging.nights(client.app.state.service.store, [1.0, 1.01, 0.99])
        yield Asking(client, run_ids, good_requests.good_request)


def refused(answer, status):
    """In the one shape; the words, which are one line and short."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text[
        :500
    ]
    detail = answer.json()["detail"]
    assert "\n" not in detail
    assert len(detail) < 3000
    return detail


@EACH
def test_a_body_of_100_mb(asking, operation):
    """Refused by what it announces, on routes that take none, too."""
    answer = asking.ask(operation, content=b"", headers={"Content-Length": str(100 * 2**20)})
    assert "8388608 bytes" in refused(answer, 413)


@EACH
def test_a_query_parameter_given_twice(asking, operation):
    """Whichever it is: nobody guesses which one counts."""
    good = asking.good(operation)["query"]
    for name in operation.query:
        query = [*good.items(), (name, "1"), *([] if name in good else [(name, "1")])]
        assert refused(asking.ask(operation, query=query), 422) == f"query parameter {name} is given 2 times; keep one"


@EACH
def test_a_query_parameter_that_there_is_not(asking, operation):
    """Refused, with those that there are."""
    detail = refused(asking.ask(operation, query=asking.good(operation)["query"] | {"metrc": "1"}), 422)
    assert detail.startswith("unknown query parameter 'metrc'")


@pytest.mark.parametrize(
    "kind", ["text/plain", "", "application/x-www-form-urlencoded", "multipart/form-data", "text/json"]
)
@EACH_WITH_BODY
def test_a_content_type_that_is_not_json(asking, operation, kind):
    """Refused before the body is looked at."""
    assert "application/json" in refused(asking.ask(operation, headers={"Content-Type": kind}), 415)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 10_000 + b"]" * 10_000,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
        b"",
        b"{",
        b"null",
        b"[]",
        b'"{}"',
        b"\xff\xfe{}",
        b"\xef\xbb\xbf{}",
        b'{"\\ud800": 1}',
        b"NaN",
    ],
    ids=["deep lists", "deep objects", "nothing", "half", "null", "list", "text", "UTF-16", "BOM", "surrogate", "NaN"],
)
@EACH_WITH_BODY
def test_a_body_that_is_no_object(asking, operation, content):
    """Refused in words, however deep it is."""
    refused(asking.ask(operation, content=content), 422)


@EACH_WITH_BODY
def test_a_key_that_nobody_reads(asking, operation):
    """Refused: it was meant to matter."""
    assert "surprise" in refused(asking.ask_with(operation, ("surprise",), 1), 422)


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"9" * 400, b"true", b'"1"'])
@pytest.mark.parametrize(("operation", "place"), NUMBERS_IN_BODIES, ids=str)
def test_a_number_that_is_none(asking, operation, place, number):
    """Wherever a body takes a number."""
    mark = "a number, please"
    body = asking.good(operation)["body"]
    inside = body
    for key in place[:-1]:
        inside = inside.setdefault(key, {}) if isinstance(inside, dict) else inside[key]
    inside[place[-1]] = [mark] if isinstance(inside.get(place[-1]), list) else mark
    refused(asking.ask(operation, content=orjson.dumps(body).replace(f'"{mark}"'.encode(), number)), 422)


BAD_IDS = [
    "x",
    "1' OR '1'='1",
    "%27%3B%20DROP%20TABLE%20runs%3B--",
    "..%2F..%2Fetc%2Fpasswd",
    "%2e%2e",
    "%00",
    "0" * 31 + "%00",
    "%ff%fe",
    "%zz",
    "%F0%9F%98%80",
    "0" * 32 + "%0A",
    "*",
    "a" * 10_000,
]


@pytest.mark.parametrize("bad", BAD_IDS)
@pytest.mark.parametrize("operation", WITH_ID, ids=str)
def test_an_id_that_there_is_not(asking, operation, bad):
    """With characters of SQL, of paths or of nobody's alphabet: nothing is there."""
    names = [part.partition("}")[0] for part in operation.path.split("{")[1:]]
    refused(asking.ask(operation, path_parameters=dict.fromkeys(names, bad)), 404)


BAD_LIMITS = ["0", "-1", "1000000000", "1e9", "1.5", "true", "", "9" * 400]


@pytest.mark.parametrize("limit", BAD_LIMITS)
@pytest.mark.parametrize("operation", [one for one in ALL if "limit" in one.query], ids=str)
def test_a_limit_in_a_query(asking, operation, limit):
    """From 1 to 1000."""
    assert "limit" in refused(asking.ask(operation, query=asking.good(operation)["query"] | {"limit": limit}), 422)


@pytest.mark.parametrize("limit", [0, -1, 10**9, 1e9, 1.5, True, "10", [10]])
@pytest.mark.parametrize(("operation", "place"), LIMITS_IN_BODIES, ids=str)
def test_a_limit_in_a_body(asking, operation, place, limit):
    """An integer within its bounds, nothing that could be taken for one."""
    assert "limit" in refused(asking.ask_with(operation, place, limit), 422)


BAD_TIMES = [
    "",
    "2024",
    "2024-01-01",
    "2024-01-01T00:00:00",
    "2024-13-01T00:00:00Z",
    "2024-02-30T00:00:00Z",
    "2024-01-01T25:00:00Z",
    "2024-01-01T00:00:00+99:00",
    "0001-01-01T00:00:00+23:00",
    "9999-12-31T23:59:59-23:00",
    "1704067200",
    "yesterday",
    "2024-01-01T00:00:00Z\0",
    "2024-01-01T00:00:00ZZ",
    "1e9",
    "NaN",
]


@pytest.mark.parametrize("at", BAD_TIMES)
@pytest.mark.parametrize("operation", [one for one in ALL if "since" in one.query], ids=str)
def test_a_time_in_a_query(asking, operation, at):
    """A time with its zone, or a refusal that shows one."""
    detail = refused(asking.ask(operation, query=asking.good(operation)["query"] | {"since": at}), 422)
    assert "2026-01-31T07:00:00Z" in detail


@pytest.mark.parametrize("at", [*BAD_TIMES, 1704067200, 1e9, True, None, ["2024-01-01T00:00:00Z"]])
@pytest.mark.parametrize(("operation", "place"), TIMES_IN_BODIES, ids=str)
def test_a_time_in_a_body(asking, operation, place, at):
    """Likewise; a number is no time."""
    assert place[-1] in refused(asking.ask_with(operation, place, at), 422)


@pytest.fixture(scope="module")
def foreign_cursor(asking):
    """Of a listing of runs with a filter that no good request has."""
    (runs,) = (one for one in ALL if one.name == "list_runs")
    answer = asking.ask(runs, query={"limit": 1, "backend": "cuda"})
    return answer.json()["next_cursor"]


@pytest.mark.parametrize("operation", [one for one in ALL if "cursor" in one.query], ids=str)
def test_a_cursor_of_another_query(asking, operation, foreign_cursor):
    """Its pages would not fit together."""
    query = asking.good(operation)["query"] | {"cursor": foreign_cursor}
    assert "is of another query" in refused(asking.ask(operation, query=query), 422)


@pytest.mark.parametrize(("operation", "place"), CURSORS_IN_BODIES, ids=str)
def test_a_cursor_of_another_query_in_a_body(asking, operation, place, foreign_cursor):
    """Likewise."""
    assert "is of another query" in refused(asking.ask_with(operation, place, foreign_cursor), 422)


def test_the_enumeration_finds_what_it_is_for():
    """Negative control: an empty list of routes would make every test above pass."""
    assert {"list_series", "list_runs", "history"} <= {one.name for one in ALL if "cursor" in one.query}
    assert {"write_run", "evaluate", "put_enforcement"} <= {one.name for one in WITH_BODY}
    assert {"show_run", "undo_epoch"} <= {one.name for one in WITH_ID}
    found = {(one.name, place) for one, place in TIMES_IN_BODIES}
    assert found == {("write_run", ("created_at",)), ("record_attempts", ("attempts", 0, "started_at"))}
    assert {one.name for one, _ in CURSORS_IN_BODIES} == {"query_runs"}
    assert {one.name for one, _ in LIMITS_IN_BODIES} == {"query_runs", "query_history"}
    assert ("write_run", ("provenance", "ci_run_id")) in {(one.name, place) for one, place in NUMBERS_IN_BODIES}

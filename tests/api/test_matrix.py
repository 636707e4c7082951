"""Every route for every kind of caller. Routes that are added later are in it by themselves."""

from datetime import timedelta

import pytest
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.testclient import TestClient

from api.app import create_app
from api.authentication import COOKIE, CSRF_HEADER, SAFE_METHODS, csrf_token_for
from api.callers import GRANTS, SCOPES, scope_of
from api.settings import ServiceSettings
from store.tokens import NewToken, utc_now

OPEN_TO_ALL = {("GET", "/healthz"), ("GET", "/readyz"), ("GET", "/login"), ("POST", "/login")}
"""Whoever asks. Everything else names the scope that it needs."""
OWN, OTHER = "own", "other"
LET_IN, UNKNOWN, TOO_LITTLE, NOT_THERE = "let in", 401, 403, 404


def contexts():
    app = create_app(ServiceSettings("sqlite://"))
    app.state.service.store.close()
    return list(iter_route_contexts(app.routes))


def routes():
    """(method, path, scope) of every route."""
    return sorted(
        (method, context.path, scope_of(context.original_route) or "")
        for context in contexts()
        for method in context.methods
    )


GUARDED = [(method, path, scope) for method, path, scope in routes() if scope]


def service(tmp_path, *, open_reading):
    settings = ServiceSettings(f"sqlite:///{tmp_path}/history.db", OWN, open_reading=open_reading)
    return TestClient(create_app(settings), base_url="http://localhost:8321", raise_server_exceptions=False)


@pytest.fixture(scope="module", params=[False, True], ids=["guarded", "open reading"])
def openness(request):
    return request.param


@pytest.fixture(scope="module")
def client(tmp_path_factory, openness):
    with service(tmp_path_factory.mktemp("matrix"), open_reading=openness) as client:
        yield client


@pytest.fixture(scope="module")
def headers(client):
    """By who is asking, what they present."""
    tokens = client.app.state.service.store.tokens

    def made(scope, project=OWN):
        return tokens.create(NewToken(project, f"{scope} of {project}", scope, timedelta(days=1)))

    secrets = {scope: made(scope)[1] for scope in SCOPES}
    secrets |= {f"{OTHER} {scope}": made(scope, OTHER)[1] for scope in SCOPES}
    for scope in SCOPES:
        token, secrets[f"revoked {scope}"] = made(scope)
        tokens.revoke(OWN, token.token_id)
        tokens.now = lambda: utc_now() - timedelta(days=2)
        secrets[f"expired {scope}"] = made(scope)[1]
        tokens.now = utc_now
    secrets["wrong"] = "dg_" + "a" * 43
    found = {name: {"Authorization": f"Bearer {secret}"} for name, secret in secrets.items()}
    return found | {"nobody": {}, "basic": {"Authorization": "Basic YTpi"}}


def expected(needed, who, openness):
    """What the rules of the service say."""
    if who == "nobody":
        return LET_IN if openness and needed == "read" else UNKNOWN
    kind, _, scope = who.rpartition(" ")
    if kind in ("revoked", "expired") or who in ("wrong", "basic"):
        return UNKNOWN
    if needed not in GRANTS[scope]:
        return TOO_LITTLE
    return NOT_THERE if kind == OTHER else LET_IN


CALLERS = ["nobody", "basic", "wrong"]
CALLERS += [f"{kind}{scope}" for kind in ("", "other ", "revoked ", "expired ") for scope in SCOPES]


def ask(client, method, path, headers):
    """With an id that does not exist and, where something is sent, an empty object."""
    filled = path
    while "{" in filled:
        before, _, rest = filled.partition("{")
        filled = before + "0" * 32 + rest.partition("}")[2]
    body = {} if method in ("GET", "HEAD") else {"json": {}}
    return client.request(method, f"{filled}?project={OWN}", headers=headers, **body, follow_redirects=False)


EACH_ROUTE = pytest.mark.parametrize(("method", "path", "needed"), GUARDED, ids=str)


@EACH_ROUTE
def test_who_may_what(client, headers, openness, method, path, needed):
    """Exactly as the scopes say; a refusal has the one shape and tells nothing of what is there."""
    wrong = {}
    for who in CALLERS:
        answer = ask(client, method, path, headers[who])
        wanted = expected(needed, who, openness)
        if not fits(answer, wanted):
            wrong[who] = (wanted, answer.status_code, answer.text)
    assert wrong == {}


def fits(answer, wanted):
    if wanted == LET_IN:
        return answer.status_code not in (401, 403) and answer.status_code < 500
    shape = answer.headers["content-type"] == "application/problem+json"
    challenged = ("www-authenticate" in answer.headers) == (wanted == UNKNOWN)
    told = wanted != NOT_THERE or answer.json()["detail"] == f"no project '{OWN}' for this token"
    return answer.status_code == wanted and shape and challenged and told


@EACH_ROUTE
def test_a_session_may_what_its_token_may(client, method, path, needed):
    """Whatever is sent with a cookie alone is refused; with its CSRF token as with the token itself."""
    store, found = client.app.state.service.store, {}
    for scope in SCOPES:
        token, _ = store.tokens.create(NewToken(OWN, "page", scope, timedelta(days=1)))
        secret = store.sessions.start(token)
        headers = {"Cookie": f"{COOKIE}={secret}"}
        alone = ask(client, method, path, headers).status_code
        together = ask(client, method, path, headers | {CSRF_HEADER: csrf_token_for(secret)}).status_code
        found[scope] = (alone == TOO_LITTLE, together == TOO_LITTLE)
    assert found == {
        scope: (needed not in GRANTS[scope] or method not in SAFE_METHODS, needed not in GRANTS[scope])
        for scope in SCOPES
    }


def test_open_routes_are_exactly_these():
    """A route that forgets its scope is found here; so is one that no longer needs to be open."""
    assert {(method, path) for method, path, scope in routes() if not scope} <= OPEN_TO_ALL
    assert {("GET", "/healthz"), ("POST", "/login")} <= {(method, path) for method, path, _ in routes()}


def test_every_route_is_one_that_can_name_its_scope():
    """A mounted application or a bare Starlette route would pass by the rules."""
    assert [context.path for context in contexts() if not isinstance(context.original_route, APIRoute)] == []


def test_the_matrix_sees_an_open_route():
    """Negative control: a route without a scope."""
    app = create_app(ServiceSettings("sqlite://"))
    app.state.service.store.close()

    @app.get("/forgotten")
    def forgotten() -> None: ...

    found = {context.path for context in iter_route_contexts(app.routes) if not scope_of(context.original_route)}
    assert "/forgotten" in found


def test_expectations():
    """The table itself, in the cases that matter most."""
    rows = [
        ("read", "nobody", True, LET_IN),
        ("read", "nobody", False, UNKNOWN),
        ("write", "nobody", True, UNKNOWN),
        ("operate", "nobody", True, UNKNOWN),
        ("operate", "write", True, TOO_LITTLE),
        ("write", "operate", False, TOO_LITTLE),
        ("write", "write", False, LET_IN),
        ("read", "other operate", True, NOT_THERE),
        ("read", "expired read", True, UNKNOWN),
    ]
    assert [expected(needed, who, openness) for needed, who, openness, _ in rows] == [row[3] for row in rows]

"""Credentials: what is read from a request, and who that is."""

from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.callers import Caller
from api.problems import Refused
from api.settings import ServiceSettings
from store.errors import StoreUnavailable
from store.tokens import NewToken

READ = "/v1/series"


def make_client(tmp_path, **settings):
    given = ServiceSettings(f"sqlite:///{tmp_path}/history.db", **settings)
    base_url = f"http://{given.allowed_hosts[0]}:8321"
    return TestClient(create_app(given), base_url=base_url, raise_server_exceptions=False)


@pytest.fixture
def guarded(tmp_path):
    """A service that nobody reads without a token."""
    with make_client(tmp_path, open_reading=False) as client:
        yield client


def secret_of(client, scope="read", **more):
    new = NewToken("default", "ana", scope, timedelta(hours=1), **more)
    return client.app.state.service.store.tokens.create(new)[1]


@pytest.mark.parametrize("open_reading", [True, False])
@pytest.mark.parametrize(
    ("value", "status", "told"),
    [
        ("", 401, "not a bearer token"),
        (" ", 401, "not a bearer token"),
        ("Bearer", 401, "not a bearer token"),
        ("Bearer ", 401, "not a bearer token"),
        ("Bearer a b", 401, "not a bearer token"),
        ("Basic YW5hOmE=", 401, "not a bearer token"),
        ("Token dg_aaaa", 401, "not a bearer token"),
        ("dg_aaaa", 401, "not a bearer token"),
        ("Bearer dg_é", 401, "not a bearer token"),
        ("Bearer dg_\xff", 401, "not a bearer token"),
        ("Bearer ../../etc/passwd;--", 401, "not a bearer token"),
        ("Bearer dg_aaaa", 401, "unknown, expired or revoked"),
        ("Bearer eyJh.eyJh.sig", 401, "unknown, expired or revoked"),
        ("Bearer " + "a" * 1_000_000, 400, "exceeds 16384 characters"),
        ("a" * 16_385, 400, "exceeds 16384 characters"),
    ],
)
def test_wrong_credentials_are_refused_in_the_one_shape(tmp_path, open_reading, value, status, told):
    """Also where reading is open: who presents something wants it to hold. Nothing of it is repeated."""
    with make_client(tmp_path, open_reading=open_reading) as client:
        answer = client.get(READ, headers={"Authorization": value.encode("latin-1")})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert told in answer.json()["detail"]
    assert "dg_" not in answer.text
    assert (answer.headers.get("www-authenticate") == "Bearer") == (status == 401)


def test_several_headers(guarded):
    """Which one would hold is anybody's guess."""
    headers = [("Authorization", f"Bearer {secret_of(guarded)}")] * 2
    answer = guarded.get(READ, headers=headers)
    assert (answer.status_code, answer.json()["detail"]) == (400, "2 Authorization headers; send one")


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER   "])
def test_a_token_lets_in(guarded, scheme):
    """The scheme in any case, as the standard has it; its use is noted."""
    assert guarded.get(READ).status_code == 401
    assert guarded.get(READ, headers={"Authorization": scheme + secret_of(guarded)}).status_code == 200
    (token,) = guarded.app.state.service.store.tokens.of_project("default")
    assert token.last_used_at is not None


@pytest.mark.parametrize("project", ["a%00b", "%00"])
def test_a_project_that_no_database_can_hold(client, project):
    """Does not exist, as any other that does not."""
    answer = client.get(f"{READ}?project={project}")
    assert (answer.status_code, "no project" in answer.json()["detail"]) == (404, True)


@pytest.mark.parametrize("may_trust", [True, False])
def test_the_caller_of_a_token(guarded, may_trust):
    """Its project, its scope, a name for the trust log, and whether its runs may enter baselines."""
    secret = secret_of(guarded, "write", may_trust=may_trust)
    assert guarded.app.state.service._bearer(secret) == Caller("default", "write", "token ana", may_trust=may_trust)


class TestIdentityTokens:
    @staticmethod
    def verify(token):
        if token.startswith("bad"):
            raise Refused(401, "not signed by anybody we know")
        return Caller("default", "write", "ci")

    def test_another_token_is_for_the_verifier(self, tmp_path):
        """It says who that is, or why nobody."""
        with make_client(tmp_path, open_reading=False, verify_identity_token=self.verify) as client:
            assert client.get(READ, headers={"Authorization": "Bearer good.identity.token"}).status_code == 200
            answer = client.get(READ, headers={"Authorization": "Bearer bad"})
            assert (answer.status_code, answer.json()["detail"]) == (401, "not signed by anybody we know")

    def test_our_own_never_get_there(self, tmp_path):
        """A revoked token of ours is no identity token, whatever a verifier would say."""
        with make_client(tmp_path, open_reading=False, verify_identity_token=self.verify) as client:
            answer = client.get(READ, headers={"Authorization": "Bearer dg_" + "a" * 43})
            assert answer.json()["detail"] == "this token is unknown, expired or revoked"
            assert client.get(READ, headers={"Authorization": f"Bearer {secret_of(client)}"}).status_code == 200


def test_a_page_of_the_api_asks_for_credentials(guarded):
    """Both the page and the description."""
    headers = {"Authorization": f"Bearer {secret_of(guarded)}"}
    for path in ("/docs", "/openapi.json"):
        assert guarded.get(path).status_code == 401
        assert guarded.get(path, headers=headers).status_code == 200
    schema = guarded.get("/openapi.json", headers=headers).json()
    assert schema["components"]["securitySchemes"]["HTTPBearer"]["scheme"] == "bearer"
    assert schema["paths"]["/v1/series"]["get"]["security"] == [{"HTTPBearer": []}]


@pytest.mark.parametrize(("method", "path"), [("GET", READ), ("POST", "/login")])
def test_a_stranger_is_not_told_where_the_store_is(guarded, method, path):
    """503 to come again, as from readiness; the log knows more."""
    service = guarded.app.state.service
    sent = {"headers": {"Authorization": "Bearer dg_x"}} if method == "GET" else {"json": {"token": "dg_x"}}
    service.store.tokens.verify = failing
    answer = guarded.request(method, path, **sent)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["detail"] == "the store cannot be used; the log says why"


def failing(_):
    raise StoreUnavailable("postgresql://ana@db.internal/driftgate: no such host")

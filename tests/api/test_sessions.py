"""Sessions of browsers: begun with a link or a token, ended, and what a change needs on top of the cookie."""

from datetime import timedelta

import pytest
from starlette.testclient import TestClient

from api.app import create_app
from api.authentication import COOKIE, SECURE_COOKIE, csrf_token_for
from api.sessions import login_link
from api.settings import ServiceSettings
from store.tokens import NewToken, utc_now

READ, CHANGE = "/v1/series", "/logout"


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


def logged_in(client, scope="operate"):
    """The CSRF token of the session that the client's cookie now is."""
    answer = client.post("/login", json={"token": secret_of(client, scope)})
    assert answer.status_code == 200
    return answer.json()["csrf_token"]


class TestLoginLink:
    def test_it_begins_a_session(self, client):
        """The address goes on without the key; the cookie is out of reach for scripts and other sites."""
        link = login_link(client.app.state.service, "http://localhost:8321/")
        assert link.startswith("http://localhost:8321/login?key=dgl_")
        answer = client.get(link, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, "/docs")
        assert (answer.headers["cache-control"], answer.headers["referrer-policy"]) == ("no-store", "no-referrer")
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith(f"{COOKIE}=dgs_")
        assert {part.strip().lower() for part in cookie.split(";")[1:]} == {
            "httponly",
            "samesite=strict",
            "path=/",
            "max-age=86400",
        }

    def test_it_is_opened_more_than_once_for_a_day(self, client):
        """Two browsers, a reload; the day after nobody comes in."""
        service = client.app.state.service
        link = login_link(service, "http://localhost:8321")
        assert [client.get(link, follow_redirects=False).status_code for _ in range(2)] == [303, 303]
        service.store.sessions.now = lambda: utc_now() + timedelta(days=1)
        answer = client.get(link, follow_redirects=False)
        assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)
        assert "older than a day" in answer.json()["detail"]

    @pytest.mark.parametrize(
        ("query", "status"), [("key=wrong", 401), ("", 422), ("key=" + "a" * 201, 422), ("key=a&key=b", 422)]
    )
    def test_a_wrong_one(self, client, query, status):
        """No cookie, one shape."""
        answer = client.get(f"/login?{query}", follow_redirects=False)
        assert (answer.status_code, "set-cookie" in answer.headers) == (status, False)
        assert answer.headers["content-type"] == "application/problem+json"

    def test_a_token_is_no_link(self, client):
        """Or else people would put tokens into addresses."""
        assert client.get(f"/login?key={secret_of(client)}", follow_redirects=False).status_code == 401

    def test_its_session_operates_in_the_services_project(self, guarded):
        """And writes no runs."""
        service = guarded.app.state.service
        secret = service.store.sessions.start_by_key(service.store.sessions.create_login_key("default"))
        guarded.cookies.set(COOKIE, secret)
        assert guarded.get(READ).status_code == 200
        assert guarded.get(f"{READ}?project=other").status_code == 404
        session = service.store.sessions.verify(secret)
        assert (session.scope, session.token) == ("operate", None)

    def test_from_the_link_to_a_change(self, guarded):
        """What a page does: the CSRF token is asked for with the cookie."""
        service = guarded.app.state.service
        guarded.get(login_link(service, str(guarded.base_url)), follow_redirects=False)
        who = guarded.get("/session").json()
        assert who == {
            "actor": "login link",
            "project": "default",
            "scope": "operate",
            "may_trust": False,
            "csrf_token": csrf_token_for(guarded.cookies[COOKIE]),
        }
        words = {"commit_sha": "a" * 40, "reason": "r"}
        headers = {"X-CSRF-Token": who["csrf_token"]}
        assert guarded.post("/v1/runs:mark-untrusted", json=words).status_code == 403
        assert guarded.post("/v1/runs:mark-untrusted", json=words, headers=headers).status_code == 200
        (event,) = service.store.trust_events("default")
        assert event.actor == "login link"


class TestWhoAmI:
    @pytest.mark.parametrize("scope", ["read", "write", "operate"])
    def test_by_token(self, guarded, scope):
        """No browser, no CSRF token; the answer is kept nowhere. A cookie beside it is of no account."""
        guarded.cookies.set(COOKIE, "dgs_stale")
        answer = guarded.get("/session", headers={"Authorization": f"Bearer {secret_of(guarded, scope)}"})
        assert answer.headers["cache-control"] == "no-store"
        who = {"actor": "token ana", "project": "default", "scope": scope, "may_trust": False, "csrf_token": None}
        assert answer.json() == who

    def test_by_cookie(self, guarded):
        """The same as the login itself has told."""
        token = secret_of(guarded, "write", may_trust=True)
        told = guarded.post("/login", json={"token": token}).json()
        assert guarded.get("/session").json() == told
        assert (told["actor"], told["scope"], told["may_trust"]) == ("token ana", "write", True)
        assert len(told["csrf_token"]) == 64

    @pytest.mark.parametrize("cookie", [{}, {"Cookie": f"{COOKIE}=dgs_stale"}])
    def test_nobody(self, client, guarded, cookie):
        """Where reading is open: whoever; elsewhere not even that is told."""
        who = {"actor": "anonymous", "project": None, "scope": "read", "may_trust": False, "csrf_token": None}
        assert client.get("/session", headers=cookie).json() == who
        assert guarded.get("/session", headers=cookie).status_code == 401


class TestSession:
    def test_a_token_becomes_a_cookie(self, guarded):
        """With the same rights, and an end."""
        csrf_token = logged_in(guarded)
        assert guarded.get(READ).status_code == 200
        answer = guarded.post("/logout", headers={"X-CSRF-Token": csrf_token})
        assert answer.status_code == 204
        assert not guarded.cookies
        assert guarded.get(READ).status_code == 401

    def test_logging_out_ends_it_everywhere(self, guarded):
        """A copy of the cookie is worth nothing afterwards."""
        csrf_token = logged_in(guarded)
        copy = guarded.cookies[COOKIE]
        guarded.post("/logout", headers={"X-CSRF-Token": csrf_token})
        guarded.cookies.set(COOKIE, copy)
        assert guarded.get(READ).status_code == 401

    def test_logging_out_ends_each_that_the_browser_holds(self, guarded):
        """Of plain HTTP and of TLS: both cookies go, so neither session is left without anybody who could end it."""
        sessions, tokens = (getattr(guarded.app.state.service.store, name) for name in ("sessions", "tokens"))
        token = tokens.verify(secret_of(guarded))
        cookies = {COOKIE: sessions.start(token), SECURE_COOKIE: sessions.start(token)}
        headers = {"X-CSRF-Token": csrf_token_for(cookies[SECURE_COOKIE])}
        headers["Cookie"] = "; ".join(f"{name}={secret}" for name, secret in cookies.items())
        assert guarded.post("/logout", headers=headers).status_code == 204
        assert [sessions.verify(secret) for secret in cookies.values()] == [None, None]

    def test_revoking_the_token_ends_it(self, guarded):
        """At once."""
        logged_in(guarded)
        tokens = guarded.app.state.service.store.tokens
        tokens.revoke("default", tokens.of_project("default")[0].token_id)
        assert guarded.get(READ).status_code == 401

    @pytest.mark.parametrize(
        "given",
        [{"token": "dg_wrong"}, {"token": "a" * 201}, {"token": 1}, {"token": None}, {}, {"token": "x", "more": 1}, []],
    )
    def test_a_wrong_login(self, guarded, given):
        """No cookie, one shape."""
        answer = guarded.post("/login", json=given)
        assert answer.status_code == (401 if given == {"token": "dg_wrong"} else 422)
        assert answer.headers["content-type"] == "application/problem+json"
        assert "set-cookie" not in answer.headers

    @pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded"])
    def test_another_site_cannot_log_a_browser_in(self, guarded, kind):
        """A form of theirs sends these types without asking; JSON they may not send."""
        body = f'{{"token": "{secret_of(guarded)}"}}'
        headers = {} if kind is None else {"Content-Type": kind}
        assert guarded.post("/login", content=body, headers=headers).status_code == 415

    @pytest.mark.parametrize(
        "presented",
        [
            {},
            {"headers": {"X-CSRF-Token": ""}},
            {"headers": {"X-CSRF-Token": "0" * 64}},
            {"headers": {"X-CSRF-Token": "é".encode("latin-1")}},
            {"data": {"csrf_token": "0" * 64}},
            {"data": {"csrf_tokens": "{csrf}"}},
            {"params": {"csrf_token": "{csrf}"}},
            {"json": {"csrf_token": "{csrf}"}},
            {"headers": {"X-CSRF-Token": "{cookie}"}},
            {"headers": {"X-CSRF-Token": "{other}"}},
            {"data": {"csrf_token": "{csrf}", "more": "a" * 70_000}},
        ],
    )
    def test_a_change_without_its_csrf_token(self, guarded, presented):
        """The cookie goes along with whatever a browser is made to send; it is not enough. The session stays."""
        words = {"csrf": logged_in(guarded), "cookie": guarded.cookies[COOKIE], "other": csrf_token_for("dgs_other")}
        filled = {
            kind: {
                name: value if isinstance(value, bytes) else value.format(**words) if "{" in value else value
                for name, value in fields.items()
            }
            for kind, fields in presented.items()
        }
        answer = guarded.post(CHANGE, **filled)
        assert answer.status_code == (422 if "params" in presented else 403)
        assert answer.headers["content-type"] == "application/problem+json"
        assert guarded.get(READ).status_code == 200

    def test_with_it_in_a_form(self, guarded):
        """For pages without JavaScript."""
        csrf_token = logged_in(guarded)
        assert guarded.post(CHANGE, data={"reason": "ä", "csrf_token": csrf_token}).status_code == 204

    def test_a_bearer_needs_none(self, guarded):
        """No browser sends a token by itself; a stale cookie beside it is of no account."""
        guarded.cookies.set(COOKIE, "dgs_stale")
        headers = {"Authorization": f"Bearer {secret_of(guarded)}"}
        assert guarded.post(CHANGE, headers=headers).status_code == 204

    @pytest.mark.parametrize("cookie", ["", "x", "dgs_" + "a" * 43, "dg_" + "a" * 43, "%00", "a" * 10_000])
    def test_a_cookie_that_is_no_session(self, client, guarded, cookie):
        """Is no credentials: nobody, or whoever may read anyway."""
        headers = {"Cookie": f"{COOKIE}={cookie}"}
        assert client.get(READ, headers=headers).status_code == 200
        assert guarded.get(READ, headers=headers).status_code == 401

    @pytest.mark.parametrize(
        ("host", "scheme", "secure"),
        [
            ("localhost", "http", False),
            ("127.0.0.1", "http", False),
            ("[::1]:8321", "http", False),
            ("localhost", "https", True),
            ("gate.example", "http", True),
            ("gate.example", "https", True),
        ],
    )
    def test_outside_of_loopback_only_tls_carries_it(self, tmp_path, host, scheme, secure):
        """There the cookie is for this very host, and no neighbour's can take its place."""
        settings = {"allowed_hosts": ("localhost", "127.0.0.1", "::1", "gate.example"), "open_reading": False}
        with make_client(tmp_path, **settings) as client:
            answer = client.post(f"{scheme}://{host}/login", json={"token": secret_of(client)}, headers={"Host": host})
            cookie = answer.headers["set-cookie"]
            assert ("secure" in cookie.lower().split("; ")) == secure
            assert cookie.startswith(f"{SECURE_COOKIE if secure else COOKIE}=dgs_")
            secret = cookie.partition("=")[2].partition(";")[0]
            by_cookie = {"Cookie": f"{COOKIE}=dgs_tossed; {SECURE_COOKIE}={secret}"}
            if secure:
                assert client.get(READ, headers=by_cookie).status_code == 200

    def test_it_sees_what_anybody_sees(self, client, guarded):
        """Where reading is open another project is there for a browser, logged in or not; it changes only its own."""
        for service, status in ((client, 200), (guarded, 404)):
            csrf_token = logged_in(service)
            assert service.get(f"{READ}?project=other").status_code == status
            words = {"commit_sha": "a" * 40, "reason": "r"}
            headers = {"X-CSRF-Token": csrf_token}
            answer = service.post("/v1/runs:mark-untrusted?project=other", json=words, headers=headers)
            assert (answer.status_code, "no project 'other'" in answer.json()["detail"]) == (404, True)
            bearer = {"Authorization": f"Bearer {secret_of(service)}"}
            assert service.get(f"{READ}?project=other", headers=bearer).status_code == 404

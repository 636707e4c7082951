"""Who stands in between: names that are rebound, proxies that are believed or not, secrets in addresses."""

import ipaddress
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from starlette.testclient import TestClient

from api.app import create_app
from api.hosts import Guard, host_name, is_loopback, networks
from api.settings import ServiceSettings
from gate.errors import ConfigError

SECRET = "dg_" + "aB-_" * 11


def heard(answer):
    return answer.status_code, answer.headers["content-type"], answer.json()["detail"]


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost", "localhost"),
        ("LocalHost:8321", "localhost"),
        ("gate.example.", "gate.example"),
        ("127.0.0.1:1", "127.0.0.1"),
        ("[::1]:8321", "::1"),
        ("[::1]", "::1"),
        ("", None),
        (" ", None),
        (":8321", None),
        ("a b", None),
        ("a:b", None),
        ("a:123456", None),
        ("user@localhost", None),
        ("localhost/", None),
        ("localhost, evil.example", None),
        ("::1", None),
        ("é", None),
    ],
)
def test_the_name_in_a_host_header(header, name):
    """In one spelling, or none at all."""
    assert host_name(header) == name


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("localhost", True),
        ("LOCALHOST", True),
        ("::1", True),
        ("[::1]", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", False),  # noqa: S104 - what is asked about
        ("::", False),
        ("", False),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("gate.example", False),
    ],
)
def test_what_is_loopback(host, expected):
    """Every address that this machine alone reaches; no name but the one."""
    assert is_loopback(host) == expected


@pytest.mark.parametrize("host", ["localhost", "localhost:8321", "127.0.0.1:9", "[::1]:8321", "LOCALHOST."])
def test_its_own_names(client, host):
    """With whatever port: that may be another one outside of a container."""
    assert client.get("/v1/series", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil-localhost", "0.0.0.0", "[::2]:8321"])  # noqa: S104 - names
def test_a_foreign_name_is_misdirected(client, host):
    """A page that had its own name lead to this machine reads nothing."""
    status, kind, detail = heard(client.get("/v1/series", headers={"Host": host}))
    assert (status, kind) == (421, "application/problem+json")
    assert detail.startswith("this service is not called ")


@pytest.mark.parametrize(
    "hosts", [[""], ["a b"], ["localhost", "localhost"], ["localhost", "evil.example"], ["x" * 9999 + "/"]]
)
def test_no_single_name(client, hosts):
    """Which of two is meant, anybody may read in his own way."""
    answer = client.get("/v1/series", headers=[("Host", host) for host in hosts])
    assert heard(answer) == (
        400,
        "application/problem+json",
        "the Host header does not hold one name; send exactly one",
    )


def test_health_by_any_name(client):
    """A load balancer asks by address."""
    assert client.get("/healthz", headers={"Host": "10.0.0.7:8321"}).status_code == 200


FORWARDED = [
    ("Forwarded", "for=203.0.113.9"),
    ("X-Forwarded-For", "203.0.113.9"),
    ("x-forwarded-proto", "https"),
    ("X-Forwarded-Host", "gate.example"),
    ("X-Forwarded-Anything", ""),
]


@pytest.mark.parametrize("header", FORWARDED, ids=lambda header: header[0])
def test_a_proxy_before_an_open_service_is_refused(client, header):
    """It would open to others what is for this machine alone."""
    status, _, detail = heard(client.get("/v1/series", headers=dict([header])))
    assert status == 400
    assert "came through a proxy" in detail
    assert detail.startswith(repr(header[0].lower()))


@pytest.mark.parametrize("header", FORWARDED, ids=lambda header: header[0])
def test_elsewhere_it_is_only_not_believed(tmp_path, header):
    """Anybody may send such a header; a token is needed either way."""
    settings = ServiceSettings(f"sqlite:///{tmp_path}/history.db", open_reading=False)
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        assert client.get("/v1/series", headers=dict([header])).status_code == 401


PROXIES = ("10.0.0.0/8", "192.0.2.7", "fd00::/8")


def seen(peer, headers, *, open_reading=False):
    """(client, scheme) as a route sees them."""
    settings = ServiceSettings("sqlite://", proxies=PROXIES, open_reading=open_reading)
    scope = {
        "type": "http",
        "client": (peer, 4711),
        "scheme": "http",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
    }
    Guard(None, settings, networks(PROXIES))._believe(scope, Headers(scope=scope))
    return scope["client"][0], scope["scheme"]


@pytest.mark.parametrize(
    ("peer", "headers", "expected"),
    [
        ("10.1.2.3", [("X-Forwarded-For", "203.0.113.9"), ("X-Forwarded-Proto", "https")], ("203.0.113.9", "https")),
        ("10.1.2.3", [], ("10.1.2.3", "http")),
        ("10.1.2.3", [("X-Forwarded-For", "198.51.100.1, 203.0.113.9")], ("203.0.113.9", "http")),
        ("10.1.2.3", [("X-Forwarded-For", "203.0.113.9, 10.9.9.9, 192.0.2.7")], ("203.0.113.9", "http")),
        ("10.1.2.3", [("X-Forwarded-For", "10.0.0.4")], ("10.0.0.4", "http")),
        ("10.1.2.3", [("X-Forwarded-For", "1.1.1.1"), ("X-Forwarded-For", "203.0.113.9")], ("203.0.113.9", "http")),
        ("10.1.2.3", [("X-Forwarded-For", "203.0.113.9, nonsense")], ("10.1.2.3", "http")),
        ("10.1.2.3", [("X-Forwarded-For", "nonsense, 10.0.0.4")], ("10.0.0.4", "http")),
        ("10.1.2.3", [("X-Forwarded-For", "")], ("10.1.2.3", "http")),
        ("10.1.2.3", [("X-Forwarded-For", "[2001:db8::1]")], ("2001:db8::1", "http")),
        ("fd00::1", [("X-Forwarded-For", "2001:db8::1")], ("2001:db8::1", "http")),
        ("::ffff:10.1.2.3", [("X-Forwarded-For", "203.0.113.9")], ("203.0.113.9", "http")),
        ("10.1.2.3", [("X-Forwarded-Proto", "https, http")], ("10.1.2.3", "http")),
        ("10.1.2.3", [("X-Forwarded-Proto", "javascript")], ("10.1.2.3", "http")),
        ("10.1.2.3", [("Forwarded", "for=203.0.113.9;proto=https")], ("10.1.2.3", "http")),
        ("203.0.113.5", [("X-Forwarded-For", "127.0.0.1"), ("X-Forwarded-Proto", "https")], ("203.0.113.5", "http")),
        ("testclient", [("X-Forwarded-For", "127.0.0.1")], ("testclient", "http")),
    ],
)  # fmt: skip
def test_whom_a_proxy_names(peer, headers, expected):
    """The nearest hop that is none of ours; nothing from a peer that is no proxy."""
    assert seen(peer, headers) == expected


@given(st.lists(st.one_of(st.ip_addresses().map(str), st.text(alphabet="0123456789.:[], é", max_size=20))))
def test_nobody_forges_what_a_proxy_appends(forged):
    """Law: whatever a caller sends before, the address that the proxy itself saw wins."""
    headers = [("X-Forwarded-For", hop) for hop in [*forged, "203.0.113.9"]]
    assert seen("10.1.2.3", headers)[0] == "203.0.113.9"


@pytest.mark.parametrize("proxy", ["10.0.0.1/8", "proxy.example", "", "10.0.0.0/33", "10.0.0"])
def test_a_proxy_that_is_none(tmp_path, proxy):
    """Told when the service starts, not at the first request."""
    with pytest.raises(ConfigError, match=r"is no address and no range of addresses; give e\.g\. 10\.0\.0\.7"):
        create_app(ServiceSettings(f"sqlite:///{tmp_path}/history.db", proxies=(proxy,)))


def test_addresses_and_ranges():
    """Of both kinds."""
    assert networks(PROXIES) == tuple(map(ipaddress.ip_network, PROXIES))


@pytest.mark.parametrize(
    "target",
    [
        f"/v1/series?token={SECRET}",
        f"/v1/series?access_token={SECRET}&project=a",
        f"/v1/series?{SECRET}",
        f"/v1/series?a={quote(SECRET).replace('_', '%5F')}",
        f"/v1/runs/{SECRET}",
        "/v1/series?token=eyJhbGciOi.eyJpc3MiOi.c2ln",
        f"/login/{SECRET}",
        f"/healthz?{SECRET}",
    ],
)
def test_a_secret_in_the_address_is_refused(client, target):
    """Whether it holds or not, and it is not repeated."""
    status, kind, detail = heard(client.get(target))
    assert (status, kind) == (400, "application/problem+json")
    assert detail.startswith("a token in the address ends up in logs: revoke it")

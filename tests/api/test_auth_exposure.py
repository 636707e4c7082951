"""Where a service may listen before anybody has been let in."""

from dataclasses import replace
from datetime import timedelta

import pytest

from api.app import create_app
from api.callers import Caller
from api.exposure import check_exposure
from api.settings import ServiceSettings
from gate.errors import ConfigError
from store.tokens import NewToken, utc_now

ANYWHERE = "0.0.0.0"  # noqa: S104 - what is asked about


@pytest.fixture
def make(tmp_path):
    """Makes a service over one store."""
    opened = []

    def make(**settings):
        given = ServiceSettings(f"sqlite:///{tmp_path}/history.db", open_reading=False)
        opened.append(create_app(replace(given, **settings)).state.service)
        return opened[-1]

    yield make
    for service in opened:
        service.store.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
@pytest.mark.parametrize("open_reading", [True, False])
def test_loopback_needs_nothing(make, host, open_reading):
    """The machine is its user's."""
    check_exposure(make(open_reading=open_reading), host)


@pytest.mark.parametrize("host", [ANYWHERE, "::", "", "10.0.0.1", "gate.example"])
def test_elsewhere_somebody_must_be_able_to_come_in(make, host):
    """Refused until there is a token; the message says how."""
    service = make()
    with pytest.raises(ConfigError, match=r"nobody could come in: make a token first \(driftgate token create"):
        check_exposure(service, host)
    service.store.tokens.create(NewToken("any", "n", "read", timedelta(days=1)))
    check_exposure(service, host)


def test_a_token_that_no_longer_holds_is_none(make):
    """Neither an expired one nor a revoked one."""
    service = make()
    tokens = service.store.tokens
    token, _ = tokens.create(NewToken("any", "n", "read", timedelta(days=1)))
    tokens.revoke("any", token.token_id)
    tokens.now = lambda: utc_now() - timedelta(days=2)
    tokens.create(NewToken("any", "n", "read", timedelta(days=1)))
    tokens.now = utc_now
    with pytest.raises(ConfigError, match="nobody could come in"):
        check_exposure(service, ANYWHERE)


def test_an_identity_rule_will_do(make):
    """CI without any secret."""
    check_exposure(make(verify_identity_token=lambda _: Caller("p", "read", "ci")), ANYWHERE)


def test_open_reading_needs_the_word(make):
    """Tokens or not: whoever reaches it would read."""
    service = make(open_reading=True)
    service.store.tokens.create(NewToken("any", "n", "read", timedelta(days=1)))
    with pytest.raises(ConfigError, match="everybody could read"):
        check_exposure(service, ANYWHERE)
    check_exposure(service, ANYWHERE, insecure=True)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_behind_a_proxy_loopback_is_no_shelter(make, host):
    """Whoever reaches the proxy reaches the service: a token comes first, and nobody reads without."""
    service = make(proxies=("127.0.0.1",))
    with pytest.raises(ConfigError, match=f"on {host} behind a proxy nobody could come in"):
        check_exposure(service, host)
    service.store.tokens.create(NewToken("any", "n", "read", timedelta(days=1)))
    check_exposure(service, host)
    with pytest.raises(ConfigError, match="everybody could read"):
        check_exposure(make(proxies=("127.0.0.1",), open_reading=True), host)

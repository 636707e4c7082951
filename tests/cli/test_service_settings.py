"""The configuration as the settings of a service."""

import socket

import pytest
from identity_issuer import AUDIENCE, PINNED

from api.problems import Refused
from driftgate.cli.service_settings import service_settings
from driftgate.config.load import load_config
from gate.errors import ConfigError

CONFIG = f"""
project = "miles"
[store]
url = "sqlite://"
[service]
host = "0.0.0.0"
allowed_hosts = ["gate.example"]
proxies = ["10.0.0.0/8"]
[service.oidc.github]
audience = "{AUDIENCE}"
[service.oidc.github.rules.nightly]
scope = "write"
[service.oidc.github.rules.nightly.claims]
""" + "\n".join(f'{name} = "{value}"' for name, value in PINNED.items())
READERS = '\n[service.oidc.github.rules.readers]\nproject = "other"\nclaims.repository_id = 74'


@pytest.fixture
def load(tmp_path):
    def load(text):
        (tmp_path / "driftgate.toml").write_text(text)
        return load_config(file=None, start=tmp_path, env={}, options={})

    return load


def test_what_the_service_is_told(load):
    """Names and proxies of the file, besides those of the machine; open to this machine alone, or where asked for."""
    settings = service_settings(load(CONFIG), host="203.0.113.7")
    assert {"localhost", "203.0.113.7", socket.gethostname(), "gate.example"} <= set(settings.allowed_hosts)
    assert (settings.project, settings.proxies, settings.open_reading) == ("miles", ("10.0.0.0/8",), False)
    direct = load(CONFIG.replace('proxies = ["10.0.0.0/8"]', ""))
    assert service_settings(direct, host="203.0.113.7", insecure=True).open_reading
    assert service_settings(direct, host="::1").open_reading


def test_behind_a_proxy(load):
    """Others reach it, wherever it listens: nobody reads without a token, and the word for that is refused."""
    assert not service_settings(load(CONFIG), host="::1").open_reading
    with pytest.raises(ConfigError, match=r"--insecure and service\.proxies contradict each other"):
        service_settings(load(CONFIG), host="::1", insecure=True)


@pytest.mark.parametrize("text", ["", '[service.oidc.github]\naudience = "a"'])
def test_without_a_rule_no_token_is_looked_at(load, text):
    """An issuer alone lets nobody in, and does not count as a way in off loopback."""
    assert service_settings(load(text), host="localhost").verify_identity_token is None


def test_rules_reach_the_verifier(load):
    """With the project of the file where they name none, and the schedule alone where they write."""
    verifier = service_settings(load(CONFIG + READERS), host="localhost").verify_identity_token
    (issuer,) = verifier._issuers.values()
    assert (issuer.url, issuer.audience) == ("https://token.actions.githubusercontent.com", AUDIENCE)
    assert issuer.keys._url == "https://token.actions.githubusercontent.com/.well-known/jwks"
    found = [(rule.name, rule.scope, rule.project, rule.claims, rule.events) for rule in issuer.rules]
    assert found == [
        ("nightly", "write", "miles", PINNED, frozenset({"schedule"})),
        ("readers", "read", "other", {"repository_id": "74"}, None),
    ]


def test_a_stranger_is_refused_before_anything_is_fetched(load, issuer):
    """The issuer's address comes from the configuration, never from a token."""
    verifier = service_settings(load(CONFIG), host="localhost").verify_identity_token
    with pytest.raises(Refused, match="nobody here believes its issuer"):
        verifier(issuer.token())
    assert issuer.fetches == 0


def test_a_rule_is_a_way_in(serve, tmp_path, issuer):
    """Beyond this machine a service needs no token of its own then; whom the rules do not know gets nowhere."""
    (tmp_path / "driftgate.toml").write_text(CONFIG.replace('[store]\nurl = "sqlite://"', ""))
    service = serve()
    assert service.announced["login_link"] is None
    with service.client() as stranger:
        answers = [
            stranger.get("/v1/series"),
            stranger.get("/v1/series", headers={"Authorization": f"Bearer {issuer.token()}"}),
            stranger.get("/v1/series", headers={"Host": "gate.example"}),
            stranger.get("/v1/series", headers={"Host": "other.example"}),
        ]
        assert [answer.status_code for answer in answers] == [401, 401, 401, 421]
        assert "nobody here believes its issuer" in answers[1].json()["detail"]
    assert service.stop() == 0
    assert "eyJ" not in service.log_path.read_text()

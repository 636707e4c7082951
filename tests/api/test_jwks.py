"""The issuer's keys: by id, kept through outages, and never fetched more often than agreed."""

import base64
import itertools
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from identity_issuer import key
from joserfc.jwk import ECKey, OctKey, RSAKey

from api import jwks
from api.jwks import FETCH_TIMEOUT_S, FRESH_S, KEPT_S, MAX_DOCUMENT_BYTES, MAX_KEYS, PAUSE_S, IssuerKeys, keys_in
from api.problems import Refused
from gate.errors import ConfigError


class Clock:
    """Stands still until it is moved."""

    def __init__(self):
        self.time = 1000.0

    def __call__(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def keys(issuer, clock):
    return IssuerKeys(issuer.keys_url, allow_http=True, now=clock)


def status_of(keys, kid):
    """200 where the key is found."""
    try:
        keys.find(kid)
    except Refused as refused:
        return int(refused.status)
    return 200


class TestFetching:
    def test_keys_are_fetched_once_and_used_for_an_hour(self, issuer, keys, clock):
        """Then anew; nothing is fetched before somebody asks."""
        assert issuer.fetches == 0
        assert keys.find("first").thumbprint() == key("first").thumbprint()
        clock.time += FRESH_S - 1
        assert (status_of(keys, "first"), issuer.fetches) == (200, 1)
        clock.time += 1
        assert (status_of(keys, "first"), issuer.fetches) == (200, 2)

    def test_an_unknown_key_is_refused_and_cannot_make_us_hammer(self, issuer, keys, clock):
        """One fetch per pause, whatever ids tokens come up with."""
        assert {status_of(keys, f"made up {number}") for number in range(200)} == {401}
        assert issuer.fetches == 1
        clock.time += PAUSE_S - 0.1
        assert (status_of(keys, "made up"), issuer.fetches) == (401, 1)
        clock.time += 0.1
        assert (status_of(keys, "made up"), issuer.fetches) == (401, 2)

    def test_a_rotation_is_noticed(self, issuer, keys, clock):
        """A new key works with the next fetch; one that was taken back works no longer than a fetch."""
        assert status_of(keys, "first") == 200
        issuer.served = ["second"]
        clock.time += PAUSE_S
        assert [status_of(keys, kid) for kid in ("second", "first")] == [200, 401]

    def test_many_at_once_fetch_once(self, issuer, keys):
        """The others wait for the first."""
        start = threading.Barrier(8)

        def ask(_):
            start.wait()
            return status_of(keys, "first")

        with ThreadPoolExecutor(8) as pool:
            assert set(pool.map(ask, range(8))) == {200}
        assert issuer.fetches == 1

    def test_who_has_the_key_does_not_wait_for_a_fetch(self, issuer, keys, clock):
        """A slow issuer slows nobody down whose key is known."""
        assert status_of(keys, "first") == 200
        clock.time += FRESH_S
        with keys._fetching:
            assert (status_of(keys, "first"), issuer.fetches) == (200, 1)

    def test_who_has_no_key_waits_no_longer_than_a_fetch(self, keys, monkeypatch):
        """And is told to come back."""
        monkeypatch.setattr(jwks, "FETCH_TIMEOUT_S", 0.01)
        with keys._fetching, pytest.raises(Refused, match="still being fetched") as caught:
            keys.find("first")
        assert (caught.value.status, caught.value.headers) == (503, {"Retry-After": "5"})


class TestOutage:
    def test_known_keys_go_on_for_a_day(self, issuer, keys, clock):
        """Then nobody can be told from anybody: 503, in words."""
        assert status_of(keys, "first") == 200
        issuer.status = 500
        clock.time += KEPT_S
        assert (status_of(keys, "first"), issuer.fetches) == (200, 2)
        clock.time += 1
        with pytest.raises(Refused) as caught:
            keys.find("first")
        assert (caught.value.status, caught.value.headers) == (503, {"Retry-After": "5"})
        assert "the keys of their issuer could not be fetched (ValueError: HTTP 500); try again" in str(caught.value)

    def test_an_unknown_key_may_be_a_new_one(self, issuer, keys, clock):
        """503, not 401: the job should try again."""
        assert status_of(keys, "first") == 200
        issuer.status = 503
        clock.time += PAUSE_S
        assert [status_of(keys, kid) for kid in ("second", "first")] == [503, 200]

    def test_a_failing_issuer_is_not_hammered_either(self, issuer, keys, clock):
        """And is believed again when it is back."""
        issuer.status = 500
        assert {status_of(keys, "first") for _ in range(50)} == {503}
        assert issuer.fetches == 1
        issuer.status = 200
        clock.time += PAUSE_S
        assert (status_of(keys, "first"), issuer.fetches) == (200, 2)

    @pytest.mark.parametrize(
        ("status", "body", "told"),
        [
            (302, b"", "HTTP 302"),
            (404, b"", "HTTP 404"),
            (200, b"", "JSONDecodeError"),
            (200, b"<html>", "JSONDecodeError"),
            (200, b"[" * 100_000, "JSONDecodeError"),
            (200, b"[]", "no RSA key for signatures in it"),
            (200, b'{"keys": []}', "no RSA key for signatures in it"),
            (200, b'{"keys": {"a": 1}}', "no RSA key for signatures in it"),
            (200, b" " * (MAX_DOCUMENT_BYTES + 1), "more than 1048576 bytes or 5 s"),
        ],
    )  # fmt: skip
    def test_an_answer_that_is_none(self, issuer, keys, status, body, told):
        """A redirect is not followed; nothing too long is read to its end."""
        issuer.status, issuer.body = status, body
        with pytest.raises(Refused, match=told):
            keys.find("first")
        assert issuer.fetches == 1

    def test_an_answer_that_trickles_in(self, issuer):
        """The whole answer has the time, not each of its parts."""
        times = itertools.count(0.0, FETCH_TIMEOUT_S + 1)
        with pytest.raises(ValueError, match="or 5 s"):
            jwks._downloaded(issuer.keys_url, lambda: next(times))

    def test_nobody_there(self, clock):
        """As when it answers with an error."""
        keys = IssuerKeys("http://127.0.0.1:9/jwks", allow_http=True, now=clock)
        with pytest.raises(Refused, match="ConnectError") as caught:
            keys.find("first")
        assert caught.value.status == 503


@pytest.mark.parametrize("url", ["http://issuer.example/jwks", "http://127.0.0.1/jwks", "file:///etc/passwd", "jwks"])
def test_keys_come_over_https_alone(url):
    """Whoever could change them on the way would be anybody."""
    with pytest.raises(ConfigError, match="https"):
        IssuerKeys(url)


def test_the_permission_for_tests_is_for_this_machine():
    """Negative control of the setting itself."""
    with pytest.raises(ConfigError, match="https"):
        IssuerKeys("http://issuer.example/jwks", allow_http=True)


def modulus(bits):
    return base64.urlsafe_b64encode(b"\xff" * (bits // 8)).decode().rstrip("=")


class TestDocument:
    def test_only_rsa_keys_for_signatures_count(self):
        """Neither a shared secret nor a key for something else could ever check a token."""
        good = key("first").as_dict(private=False)
        rows = [
            OctKey.generate_key(256, {"kid": "secret"}).as_dict(),
            ECKey.generate_key("P-256", {"kid": "curve"}).as_dict(private=False),
            good | {"kid": "encryption", "use": "enc"},
            good | {"kid": "other algorithm", "alg": "RS512"},
            good | {"kid": ""},
            good | {"kid": 3},
            {"kty": "RSA", "kid": "short", "n": modulus(1024), "e": "AQAB"},
            {"kty": "RSA", "kid": "endless", "n": modulus(16_000), "e": "AQAB"},
            {"kty": "RSA", "kid": "no number", "n": "ä", "e": "AQAB"},
            {"kty": "RSA", "kid": "half", "n": good["n"]},
            {"kty": "RSA", "kid": "no exponent", "n": good["n"], "e": ""},
            "no object",
            {"kty": "RSA", "kid": "plain", "n": good["n"], "e": good["e"]},
            {"kty": "RSA", "kid": "long enough", "n": modulus(2048), "e": "AQAB"},
            good,
        ]
        assert set(keys_in(json.dumps({"keys": rows}).encode())) == {"plain", "long enough", "first"}

    def test_a_private_key_becomes_a_public_one(self):
        """Should an issuer ever blunder, nothing of it is kept."""
        document = json.dumps({"keys": [key("first").as_dict(private=True)]}).encode()
        assert not keys_in(document)["first"].is_private

    def test_an_id_given_twice_keeps_its_first_key(self):
        """And no more keys are read than any issuer has."""
        first, second = key("first").as_dict(private=False), key("second").as_dict(private=False) | {"kid": "first"}
        assert (
            keys_in(json.dumps({"keys": [first, second]}).encode())["first"].thumbprint() == key("first").thumbprint()
        )
        many = json.dumps({"keys": [first | {"kid": f"{number}"} for number in range(MAX_KEYS + 5)]}).encode()
        assert len(keys_in(many)) == MAX_KEYS


def test_the_keys_of_this_test_are_keys():
    """Negative control: the helper's key checks what it signs."""
    assert isinstance(key("first"), RSAKey)
    assert key("first").thumbprint() != key("second").thumbprint()

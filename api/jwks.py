"""The keys that an issuer signs identity tokens with: fetched rarely, kept through an outage, never hammered."""

from __future__ import annotations

import base64
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Any

import httpx2
import orjson
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from api.authentication import CHALLENGE
from api.hosts import is_loopback
from api.problems import RETRY_AFTER_S, Refused
from gate.errors import ConfigError
from gate.wording import clipped

FETCH_TIMEOUT_S = 5.0
FRESH_S = 3600.0
"""Keys are fetched anew when they are older, and when a token names one that is not among them."""
PAUSE_S = 30.0
"""Between two fetches, whatever tokens name."""
KEPT_S = 86_400.0
"""Where the issuer cannot be reached, its last keys hold for so long."""
MAX_DOCUMENT_BYTES = 1 << 20
MAX_KEYS = 100
KEY_BITS = range(2048, 8193)
"""A shorter key can be broken; a longer one costs time with every token."""

_LOG = logging.getLogger("driftgate.api.jwks")


@dataclass(frozen=True, slots=True)
class _Known:
    """The newest keys by id, and how it went. Times in seconds of a monotonic clock."""

    keys: Mapping[str, RSAKey] = field(default_factory=dict)
    fetched_at: float | None = None
    tried_at: float | None = None
    failure: str = ""


class IssuerKeys:
    """The keys behind one https address. Threads share it.

    ``allow_http``: for tests, whose issuer listens on this machine without TLS. Raises ConfigError for another address.
    """

    def __init__(self, url: str, *, allow_http: bool = False, now: Callable[[], float] = time.monotonic) -> None:
        parts = httpx2.URL(url)
        if parts.scheme != "https" and not (allow_http and is_loopback(parts.host)):
            raise ConfigError(f"{clipped(url)}: keys are fetched over https alone")
        self._url = url
        self._now = now
        self._known = _Known()
        self._fetching = threading.Lock()

    def find(self, kid: str) -> RSAKey:
        """The key called ``kid``. Raises Refused: 401 where the issuer has none, 503 where it cannot be asked."""
        if self._is_due(kid):
            self._refresh(kid)
        known = self._known
        if not self._holds(known):
            raise self._unreachable(known)
        if kid in known.keys:
            return known.keys[kid]
        if known.failure:
            raise self._unreachable(known)
        text = "identity token: its issuer has no such key"
        raise Refused(HTTPStatus.UNAUTHORIZED, text, CHALLENGE)

    def _holds(self, known: _Known) -> bool:
        return known.fetched_at is not None and self._now() - known.fetched_at <= KEPT_S

    def _is_due(self, kid: str) -> bool:
        known, now = self._known, self._now()
        if known.tried_at is not None and now - known.tried_at < PAUSE_S:
            return False
        return kid not in known.keys or known.fetched_at is None or now - known.fetched_at >= FRESH_S

    def _refresh(self, kid: str) -> None:
        """Fetch, or wait for whoever does; with the key in hand nobody waits."""
        in_hand = kid in self._known.keys and self._holds(self._known)
        patience_s = 0.0 if in_hand else FETCH_TIMEOUT_S
        if not self._fetching.acquire(timeout=patience_s):
            return
        try:
            if self._is_due(kid):
                self._fetch()
        finally:
            self._fetching.release()

    def _fetch(self) -> None:
        try:
            keys = keys_in(_downloaded(self._url, self._now))
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
            failure = clipped(f"{type(error).__name__}: {error}")
            _LOG.warning("the keys at %s could not be fetched: %s", self._url, failure)
            self._known = replace(self._known, tried_at=self._now(), failure=failure)
        else:
            self._known = _Known(keys, self._now(), self._now())

    def _unreachable(self, known: _Known) -> Refused:
        text = (
            "identity tokens cannot be checked: the keys of their issuer could not be fetched "
            f"({known.failure or 'still being fetched'}); try again, or use a token of driftgate token create"
        )
        return Refused(HTTPStatus.SERVICE_UNAVAILABLE, text, {"Retry-After": str(RETRY_AFTER_S)})


def keys_in(document: bytes) -> dict[str, RSAKey]:
    """The RSA keys for signatures in a JSON web key set, by id; what is something else is passed over.

    Raises ValueError where there is none.
    """
    listed = orjson.loads(document)
    rows = listed.get("keys") if isinstance(listed, dict) else None
    found: dict[str, RSAKey] = {}
    for row in rows[:MAX_KEYS] if isinstance(rows, list) else ():
        key = _key(row) if isinstance(row, dict) else None
        if key is not None:
            found.setdefault(row["kid"], key)
    if not found:
        raise ValueError("no RSA key for signatures in it")
    return found


def _key(row: Mapping[str, Any]) -> RSAKey | None:
    fits = row.get("kty") == "RSA" and row.get("use", "sig") == "sig" and row.get("alg", "RS256") == "RS256"
    kid, modulus, exponent = row.get("kid"), row.get("n"), row.get("e")
    if not (fits and kid and isinstance(kid, str) and isinstance(modulus, str) and isinstance(exponent, str)):
        return None
    try:
        bits = int.from_bytes(base64.urlsafe_b64decode(modulus + "=" * (-len(modulus) % 4))).bit_length()
        return RSAKey.import_key({"kty": "RSA", "n": modulus, "e": exponent}) if bits in KEY_BITS else None
    except (JoseError, ValueError, TypeError):
        return None


def _downloaded(url: str, now: Callable[[], float]) -> bytes:
    """The body of a plain 200. Raises ValueError for another answer, one that is too long or takes too long."""
    until, body = now() + FETCH_TIMEOUT_S, bytearray()
    headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
    with (
        httpx2.Client(timeout=FETCH_TIMEOUT_S, follow_redirects=False, headers=headers) as client,
        client.stream("GET", url) as answer,
    ):
        if answer.status_code != HTTPStatus.OK:
            raise ValueError(f"HTTP {answer.status_code}")
        for chunk in answer.iter_raw():
            body += chunk
            if len(body) > MAX_DOCUMENT_BYTES or now() > until:
                raise ValueError(f"more than {MAX_DOCUMENT_BYTES} bytes or {FETCH_TIMEOUT_S:g} s")
    return bytes(body)

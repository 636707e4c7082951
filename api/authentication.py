"""What a request presents as its credentials, read strictly: one bearer token, or a session's cookie."""

from __future__ import annotations

import hashlib
import hmac
import re
from http import HTTPStatus
from urllib.parse import parse_qs

from fastapi import Request
from starlette.requests import HTTPConnection

from api.problems import Refused

MAX_TOKEN_CHARACTERS = 16_384
"""An identity token of a CI service has a few thousand."""
CHALLENGE = {"WWW-Authenticate": "Bearer"}
COOKIE, SECURE_COOKIE = "driftgate", "__Host-driftgate"
"""A browser takes the second only over TLS and from this very host, never from a neighbour below the same domain."""
CSRF_HEADER, CSRF_FIELD = "X-CSRF-Token", "csrf_token"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_FORM = "application/x-www-form-urlencoded"
_MAX_FORM_BYTES = 65_536
_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*)", re.IGNORECASE)


def bearer_token(request: HTTPConnection) -> str | None:
    """The token of the ``Authorization`` header, None where the request has no such header.

    Raises Refused: 400 for several headers or an endless one, 401 for anything but one bearer token.
    """
    given = request.headers.getlist("authorization")
    if not given:
        return None
    if len(given) > 1:
        raise Refused(HTTPStatus.BAD_REQUEST, f"{len(given)} Authorization headers; send one")
    if len(given[0]) > MAX_TOKEN_CHARACTERS:
        raise Refused(HTTPStatus.BAD_REQUEST, f"the Authorization header exceeds {MAX_TOKEN_CHARACTERS} characters")
    found = _BEARER.fullmatch(given[0].strip())
    if found is None:
        raise Refused(HTTPStatus.UNAUTHORIZED, "not a bearer token; send Authorization: Bearer TOKEN", CHALLENGE)
    return found[1]


def session_secret(request: HTTPConnection) -> str | None:
    """Of the cookie that `api.sessions.remember` sets; the one that only TLS can set goes first."""
    return request.cookies.get(SECURE_COOKIE) or request.cookies.get(COOKIE)


def csrf_token_for(secret: str) -> str:
    """What a page sends along with a change, to show that it is one of ours: other sites cannot read it."""
    return hmac.new(secret.encode("utf-8", "surrogatepass"), b"csrf", hashlib.sha256).hexdigest()


def is_csrf_token_for(secret: str, given: str | None) -> bool:
    """In constant time."""
    return given is not None and hmac.compare_digest(csrf_token_for(secret).encode(), given.encode())


async def csrf_token_of(request: Request) -> str | None:
    """The CSRF token that a request presents: its header, or a field of its form. Only cookies ask for one."""
    if request.method in SAFE_METHODS or session_secret(request) is None:
        return None
    given = request.headers.get(CSRF_HEADER)
    if given is not None or request.headers.get("content-type", "").partition(";")[0].strip() != _FORM:
        return given
    length = request.headers.get("content-length", "")
    if not length.isascii() or not length.isdigit() or int(length) > _MAX_FORM_BYTES:
        return None
    fields = parse_qs((await request.body()).decode("ascii", "replace"), max_num_fields=100)
    return fields[CSRF_FIELD][0] if CSRF_FIELD in fields else None

"""What a request presents as its credentials, read strictly: one bearer token, or a session's cookie."""

from __future__ import annotations

import re
from http import HTTPStatus

from fastapi import Request

from api.problems import Refused

MAX_TOKEN_CHARACTERS = 16_384
"""An identity token of a CI service has a few thousand."""
CHALLENGE = {"WWW-Authenticate": "Bearer"}
_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]+=*)", re.IGNORECASE)


def bearer_token(request: Request) -> str | None:
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

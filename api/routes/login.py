"""In and out for browsers: a login link or a token becomes a session's cookie."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import Field

from api.authentication import CHALLENGE, csrf_token_for, session_secret
from api.callers import Caller
from api.models.callers import WhoAmI
from api.problems import Refused
from api.responses import json_response
from api.service import Reading, Store, caller_with
from api.sessions import forget, remember
from api.strict_requests import Strict, StrictRoute

router = APIRouter(tags=["login"], route_class=StrictRoute)

HOME = "/docs"


class Login(Strict):
    """A token, to begin a session with."""

    token: str = Field(max_length=200)


@router.get("/login", status_code=HTTPStatus.SEE_OTHER, response_class=RedirectResponse)
def follow_link(
    request: Request, store: Store, key: Annotated[str, Query(max_length=200, description="Of the login link.")]
) -> Response:
    """Where the login link of `driftgate serve` leads: begins a session and goes on without the key."""
    secret = store.sessions.start_by_key(key)
    if secret is None:
        text = "this login link is unknown or older than a day; the service prints a new one when it starts"
        raise Refused(HTTPStatus.UNAUTHORIZED, text, CHALLENGE)
    answer = RedirectResponse(HOME, HTTPStatus.SEE_OTHER, {"Referrer-Policy": "no-referrer"})
    remember(request, answer, secret)
    return answer


@router.post("/login", responses={200: {"model": WhoAmI}}, response_model=None)
def log_in(request: Request, store: Store, login: Login) -> Response:
    """Begin a session with a token: its cookie, and the CSRF token that goes along with every change."""
    token = store.tokens.verify(login.token)
    if token is None:
        raise Refused(HTTPStatus.UNAUTHORIZED, "this token is unknown, expired or revoked", CHALLENGE)
    secret = store.sessions.start(token)
    answer = _who(caller_with(token), csrf_token_for(secret))
    remember(request, answer, secret)
    return answer


@router.get("/session", responses={200: {"model": WhoAmI}}, response_model=None)
def who_am_i(request: Request, access: Reading) -> Response:
    """Who is asking, by token or cookie, and what it may; of a cookie's session the CSRF token, too."""
    secret = session_secret(request)
    by_cookie = access.caller.project is not None and "authorization" not in request.headers
    return _who(access.caller, csrf_token_for(secret) if secret is not None and by_cookie else None)


@router.post("/logout", status_code=HTTPStatus.NO_CONTENT)
def log_out(request: Request, _: Reading) -> Response:
    """End the session of the cookie."""
    answer = Response(status_code=HTTPStatus.NO_CONTENT)
    forget(request, answer)
    return answer


def _who(caller: Caller, csrf_token: str | None) -> Response:
    document = {
        "actor": caller.actor,
        "project": caller.project,
        "scope": caller.scope,
        "may_trust": caller.may_trust,
        "csrf_token": csrf_token,
    }
    return json_response(document, headers={"Cache-Control": "no-store"})

"""Sessions of browsers: a cookie instead of a token, begun with a token or with the login link of ``serve``."""

from __future__ import annotations

from fastapi import Request, Response

from api.authentication import COOKIE, SECURE_COOKIE
from api.hosts import host_name, is_loopback
from api.service import Service
from store.sessions import SESSION_LIFETIME


def login_link(service: Service, base_url: str) -> str:
    """The address to print once, at the start of a service: for a day, whoever has it may operate.

    ``base_url``: as a browser on this machine reaches the service, e.g. ``http://127.0.0.1:8321``.
    """
    key = service.store.sessions.create_login_key(service.settings.project)
    return f"{base_url.rstrip('/')}/login?key={key}"


def remember(request: Request, response: Response, secret: str) -> None:
    """Set the session's cookie: out of reach for scripts and other sites, and for TLS alone outside of loopback."""
    secure = _is_secure(request)
    response.set_cookie(
        SECURE_COOKIE if secure else COOKIE,
        secret,
        max_age=int(SESSION_LIFETIME.total_seconds()),
        secure=secure,
        httponly=True,
        samesite="strict",
    )
    response.headers["Cache-Control"] = "no-store"


def forget(request: Request, response: Response) -> None:
    """End every session whose cookie the request holds, and have the browser drop it."""
    service: Service = request.app.state.service
    for name in (COOKIE, SECURE_COOKIE):
        if name in request.cookies:
            service.store.sessions.end(request.cookies[name])
            response.delete_cookie(name, secure=name == SECURE_COOKIE, httponly=True, samesite="strict")


def _is_secure(request: Request) -> bool:
    return request.url.scheme == "https" or not is_loopback(host_name(request.headers.get("host", "")) or "")

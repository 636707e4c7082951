"""Every error of the service in one shape: RFC 9457 problem details. No message holds a secret or a traceback."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from gate.errors import ConfigError, DriftgateError
from store.errors import NotFound, StoreConflict, StoreUnavailable

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 5
STORE_DOWN = "the store cannot be used; the log says why"
"""For whom nobody knows: where the store is, as whom it is asked, is not for everybody."""
_MOST_MISTAKES = 20


PROBLEM: dict[str, Any] = {
    "type": "object",
    "description": "Why a request is not answered. No key is ever absent but `errors`.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "description": "Always about:blank: the status says what kind it is."},
        "title": {"type": "string", "description": "The status in words."},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "One line: what, where, what to do."},
        "errors": {
            "type": "array",
            "description": "Each mistake in parameters or body, where there are such.",
            "items": {
                "type": "object",
                "required": ["in", "text"],
                "properties": {"in": {"type": "string"}, "text": {"type": "string"}},
            },
        },
    },
}
"""The shape as a JSON schema, for OpenAPI."""


class Refused(DriftgateError):
    """A request that is answered with ``status``; the message is for whoever sent it."""

    def __init__(self, status: HTTPStatus, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = headers


def problem(
    status: int,
    detail: str,
    *,
    errors: Sequence[Mapping[str, Any]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A problem document; ``errors`` names each mistake with its place."""
    status = HTTPStatus(status)
    document: dict[str, Any] = {"type": "about:blank", "title": status.phrase, "status": int(status), "detail": detail}
    if errors:
        document["errors"] = list(errors)
    return Response(orjson.dumps(document), status, headers, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Handlers for what a route, the router or a dependency may raise. What nobody expects is `RequestLog`'s."""
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    for kind, status in _STATUS.items():
        app.add_exception_handler(kind, _by_status(status))
    app.add_exception_handler(Refused, _refused)


_STATUS: Mapping[type[Exception], HTTPStatus] = {
    NotFound: HTTPStatus.NOT_FOUND,
    StoreConflict: HTTPStatus.CONFLICT,
    StoreUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    ConfigError: HTTPStatus.UNPROCESSABLE_ENTITY,
    ValueError: HTTPStatus.UNPROCESSABLE_ENTITY,
}


def _by_status(status: HTTPStatus) -> Any:
    headers = {"Retry-After": str(RETRY_AFTER_S)} if status is HTTPStatus.SERVICE_UNAVAILABLE else None

    def answer(request: Request, error: Exception) -> Response:
        request.state.error = error  # for the log
        to_a_stranger = isinstance(error, StoreUnavailable) and getattr(request.state, "caller", None) is None
        return problem(status, STORE_DOWN if to_a_stranger else str(error), headers=headers)

    return answer


def _refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)  # noqa: S101 - registered for it alone
    return problem(error.status, str(error), headers=error.headers)


def _http(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for it alone
    return problem(error.status_code, str(error.detail), headers=error.headers)


def _invalid(_: Request, error: Exception) -> Response:
    """What was given is not repeated: it may be huge, or no JSON."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for it alone
    mistakes = [
        {"in": ".".join(str(part) for part in mistake["loc"])[:200], "text": str(mistake["msg"])[:500]}
        for mistake in error.errors()
    ]
    first = mistakes[0]
    more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
    detail = f"{first['in']}: {first['text']}{more}"
    return problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail, errors=mistakes[:_MOST_MISTAKES])

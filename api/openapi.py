"""The description of the service in OpenAPI: every route with its scope, its limits and each answer it may give."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute, iter_route_contexts

from api.bodies import MAX_SPECS, MAX_VALUES
from api.body_limit import MAX_BODY_BYTES
from api.callers import Scope, scope_of
from api.paging import MAX_PAGE
from api.problems import MEDIA_TYPE, PROBLEM, RETRY_AFTER_S
from api.routes.baselines import MAX_COORDINATES

LIMITS = {
    "body_bytes": MAX_BODY_BYTES,
    "values_per_run": MAX_VALUES,
    "specs_per_request": MAX_SPECS,
    "coordinates_per_answer": MAX_COORDINATES,
    "page": MAX_PAGE,
}
"""What one request may ask for at most; beside the bounds of single parameters and fields."""
TAGS = {
    "health": "Whether the process runs and its store can be used.",
    "login": "Sessions of browsers.",
    "series": "What there is a history of.",
    "baselines": "What the next run is held against.",
    "history": "Every stored value.",
    "runs": "Stored runs and their verdicts.",
    "attempts": "Executions of tests, passing or not.",
    "epochs": "Accepted changes of level.",
    "trust": "Who changed trust.",
    "gate": "Judging and writing runs.",
    "operate": "What an operator on duty changes. Each has a dry run, a reason, an actor and a line in the trust log.",
    "store": "What driftgate itself reads where its store is this service.",
    "service": "The service about itself.",
}
_LIMITS = (
    f"a body of {MAX_BODY_BYTES // 2**20} MiB, {MAX_VALUES:,} values in a run, "
    f"{MAX_COORDINATES:,} coordinates in an answer, {MAX_PAGE:,} rows on a page"
)
_NAMELESS = "Successful Response"
"""What FastAPI says of an answer of which nobody said anything."""
_DESCRIPTION = f"""\
Histories of training metrics: baselines, verdicts, trust.

A caller shows a token (`Authorization: Bearer TOKEN`) of scope read, write or operate; write and operate include read.
A token belongs to one project, and other projects are not there for it.

Every error is a problem document (RFC 9457), with one line in `detail` that says what, where and what to do; also those
that no single route declares: 400 for a request that came through a proxy where reading is open or that holds a token
in its address, 405 for another method, 421 for a host name that is not this service's, 500 for an error in driftgate.

Limits: {_LIMITS}.
Unknown and repeated query parameters are refused, and so are NaN and Infinity.
"""
_MEANINGS: dict[HTTPStatus, str] = {
    HTTPStatus.UNAUTHORIZED: "No credentials, or none that hold",
    HTTPStatus.FORBIDDEN: "The scope of the token is too small, or a session came without its CSRF token",
    HTTPStatus.NOT_FOUND: "Not there, or of another project",
    HTTPStatus.CONFLICT: "Contradicts what is stored",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: f"The body is longer than {MAX_BODY_BYTES // 2**20} MiB",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body is not sent as application/json",
    HTTPStatus.UNPROCESSABLE_ENTITY: "A parameter or the body cannot be read, or means nothing",
    HTTPStatus.SERVICE_UNAVAILABLE: f"The store cannot be reached; try again after {RETRY_AFTER_S} s (Retry-After)",
}

_HEADERS: dict[HTTPStatus, dict[str, Any]] = {
    HTTPStatus.UNAUTHORIZED: {"WWW-Authenticate": {"required": True, "schema": {"type": "string"}}},
    HTTPStatus.SERVICE_UNAVAILABLE: {
        "Retry-After": {"required": True, "description": "Seconds.", "schema": {"type": "integer"}}
    },
}


class DescribedApp(FastAPI):
    """An application that describes itself."""

    def openapi(self) -> dict[str, Any]:
        """The OpenAPI document, made once."""
        if self.openapi_schema is None:
            self.openapi_schema = self._described()
        return self.openapi_schema

    def _described(self) -> dict[str, Any]:
        document = get_openapi(
            title=self.title,
            version=self.version,
            summary=self.summary,
            description=_DESCRIPTION,
            routes=self.routes,
            tags=[{"name": name, "description": text} for name, text in TAGS.items()],
        )
        document["info"]["x-limits"] = LIMITS
        document["components"]["schemas"]["Problem"] = PROBLEM
        for context in iter_route_contexts(self.routes):
            route = context.original_route
            for method in context.methods or ():
                operation = document["paths"].get(context.path, {}).get(method.lower())
                if operation is not None and isinstance(route, APIRoute):
                    _complete(operation, scope_of(route), method)
        return document


def _complete(operation: dict[str, Any], scope: Scope | None, method: str) -> None:
    operation["x-scope"] = scope
    operation["responses"].pop("422", None)
    for status, answer in operation["responses"].items():
        if answer["description"] == _NAMELESS:
            answer["description"] = HTTPStatus(int(status)).phrase
    for status in _refusals(operation, scope, method):
        operation["responses"][str(int(status))] = {
            "description": _MEANINGS[status],
            "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        } | ({"headers": _HEADERS[status]} if status in _HEADERS else {})
    if "requestBody" in operation:
        operation["requestBody"]["x-max-bytes"] = MAX_BODY_BYTES


def _refusals(operation: dict[str, Any], scope: Scope | None, method: str) -> Iterator[HTTPStatus]:
    asks_the_store = scope is not None or operation["operationId"] != "healthz"
    if scope is not None or "login" in operation["tags"]:
        yield HTTPStatus.UNAUTHORIZED
    if scope is not None:
        yield HTTPStatus.FORBIDDEN
        yield HTTPStatus.NOT_FOUND
    if scope in ("write", "operate") and method != "GET":
        yield HTTPStatus.CONFLICT
    yield HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    if "requestBody" in operation:
        yield HTTPStatus.UNSUPPORTED_MEDIA_TYPE
    yield HTTPStatus.UNPROCESSABLE_ENTITY
    if asks_the_store:
        yield HTTPStatus.SERVICE_UNAVAILABLE

"""One line in the log and one count in the metrics for every request, under an id that the answer carries, too."""

from __future__ import annotations

import logging
import re
import time
import uuid
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.log_lines import FACTS, REQUEST_ID
from api.metrics import Metrics
from api.problems import problem
from store.errors import StoreUnavailable

HEADER = "X-Request-Id"
NO_ROUTE = "none"
"""Stands for the template where no route fits."""
_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MAX_METHOD = 20
_MAX_ERROR = 500
_LOG = logging.getLogger("driftgate.api.requests")


@dataclass(slots=True)
class _Answer:
    """What went out so far. ``complete``: to its last byte."""

    status: int = 0
    complete: bool = False
    started_s: float = field(default_factory=time.perf_counter)

    @property
    def duration_s(self) -> float:
        return time.perf_counter() - self.started_s


class RequestLog:
    """ASGI middleware around all that may fail. An error that nobody expected ends here: a 500, its traceback logged.

    The id is the request's own ``X-Request-Id`` where that is short and plain, else a new one.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _id_of(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        answer = _Answer()

        async def passing(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)
            answer.complete = message["type"] == "http.response.body" and not message.get("more_body", False)

        before = REQUEST_ID.set(request_id)
        try:
            await self._app(scope, receive, passing)
        except Exception as error:
            _LOG.exception("unexpected error", extra={FACTS: _facts(scope, answer)})
            if answer.status:
                raise  # too late for words: the server cuts the connection
            scope["state"]["error"] = error
            await _unexpected()(scope, receive, passing)
        finally:
            self._note(scope, answer)
            REQUEST_ID.reset(before)

    def _note(self, scope: Scope, answer: _Answer) -> None:
        facts = _facts(scope, answer)
        level = logging.WARNING if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR else logging.INFO
        _LOG.log(level, "request", extra={FACTS: facts})
        self._metrics.request(scope["method"], facts["route"], answer.status, answer.duration_s)
        error = scope["state"].get("error")
        if isinstance(error, StoreUnavailable):
            self._metrics.store_error(error)


def _id_of(scope: Scope) -> str:
    given = Headers(scope=scope).getlist(HEADER)
    return given[0] if len(given) == 1 and _SANE_ID.fullmatch(given[0]) else uuid.uuid4().hex


def _facts(scope: Scope, answer: _Answer) -> dict[str, Any]:
    """Nothing of the path, the query or a header: they may hold anything."""
    state = scope["state"]
    caller, error = state.get("caller"), state.get("error")
    facts = {
        "method": scope["method"][:_MAX_METHOD],
        "route": getattr(scope.get("route"), "path", NO_ROUTE),
        "status": answer.status or None,
        "duration_ms": round(answer.duration_s * 1000, 1),
        "caller": None if caller is None else caller.actor,
        "project": state.get("project"),
    }
    if answer.status and not answer.complete:
        facts["cut"] = True
    return facts if error is None else facts | {"error": str(error)[:_MAX_ERROR]}


def _unexpected() -> Any:
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "an error in driftgate itself; its log has the details")

"""Requests read strictly: JSON without NaN or bottomless nesting, and no query parameter that nobody reads."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.params import Form
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict

from api.problems import Refused
from gate.wording import listed, nearest, shown


class Strict(BaseModel):
    """Base of all request models: no other keys, no `true` for 1, no NaN."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True)


class StrictRequest(Request):
    """Its body is parsed by orjson, which knows neither NaN nor Infinity and bounds the depth."""

    async def json(self) -> Any:
        try:
            return orjson.loads(await self.body())
        except orjson.JSONDecodeError as error:
            raise json.JSONDecodeError(error.msg, "", error.pos) from None


class StrictRoute(APIRoute):
    """Refuses query parameters that the route does not declare, one that is given twice, and a body that is no JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()
        known = sorted(_query_names(self.dependant))
        takes_json = self.body_field is not None and not isinstance(self.body_field.field_info, Form)

        async def strict(request: Request) -> Response:
            if "\0" in request.scope["path"]:  # no id has one, and no database stores it
                raise Refused(HTTPStatus.NOT_FOUND, "nothing has a name with a NUL character")
            _check_query(request, known)
            if takes_json:
                _check_content_type(request)
            return await handler(StrictRequest(request.scope, request.receive))

        return strict


def _check_content_type(request: Request) -> None:
    given = request.headers.get("content-type", "")
    if given.partition(";")[0].strip().lower() != "application/json":
        text = f"Content-Type is {shown(given) if given else 'not given'}; send JSON as application/json"
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, text)


def _query_names(dependant: Dependant) -> set[str]:
    own = {field.alias for field in dependant.query_params}
    return own.union(*(_query_names(below) for below in dependant.dependencies))


def _check_query(request: Request, known: list[str]) -> None:
    given = Counter(name for name, _ in request.query_params.multi_items())
    for name, times in given.items():
        if name not in known:
            text = f"unknown query parameter {shown(name)}{nearest(name, known)}; valid: {listed(known) or 'none'}"
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, text)
        if times > 1:
            raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, f"query parameter {name} is given {times} times; keep one")

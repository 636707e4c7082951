"""Large answers go out by orjson, which writes what the gate and the store give without a second validation."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import Response

_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_UTC_Z


MEDIA_TYPE = "application/json"


def json_bytes(document: Any) -> bytes:
    """NaN and infinity become null: orjson knows neither."""
    return orjson.dumps(document, option=_OPTIONS)


def json_response(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A document as `json_bytes` writes it."""
    return Response(json_bytes(document), status, headers, MEDIA_TYPE)

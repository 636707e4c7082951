"""Large answers go out by orjson, which writes what the gate and the store give without a second validation."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import Response

_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_UTC_Z


def json_response(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """NaN and infinity become null: orjson knows neither."""
    return Response(orjson.dumps(document, option=_OPTIONS), status, headers, "application/json")

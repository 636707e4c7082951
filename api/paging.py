"""Cursors: where a listing goes on, sealed with the query that it belongs to."""

from __future__ import annotations

import base64
import binascii
import hashlib
from http import HTTPStatus
from typing import Annotated, Any

import orjson
from fastapi import Query, Request

from api.problems import Refused
from store.paging import Place

MAX_PAGE = 1000
MAX_CURSOR_CHARACTERS = 16_400
"""A name of the longest kind, each of its bytes written as six, in base64."""
_SEAL_BYTES = 9

Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="At most so many on one page.")]
Cursor = Annotated[
    str | None,
    Query(
        max_length=MAX_CURSOR_CHARACTERS,
        description="The `next_cursor` of the page before, with the same query; pages may be of different lengths.",
    ),
]


class Paging:
    """The pages of one query: ``query`` is everything that decides what is listed, and in which order."""

    def __init__(self, request: Request, project: str, query: Any) -> None:
        self._url = request.url
        words = [request.scope["route"].path, project, query]
        text = orjson.dumps(words, option=orjson.OPT_SORT_KEYS)
        self._seal = hashlib.sha256(text).digest()[:_SEAL_BYTES]

    def place(self, cursor: str | None) -> Place | None:
        """Where the page before ended. Raises Refused (422) for a cursor that this query never gave out."""
        if cursor is None:
            return None
        try:
            content = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True)
            place = orjson.loads(content[_SEAL_BYTES:])
        except (ValueError, binascii.Error):
            raise _unusable("cannot be read") from None
        if content[:_SEAL_BYTES] != self._seal:
            raise _unusable("is of another query")
        if not isinstance(place, list) or not all(isinstance(part, str | int) for part in place):
            raise _unusable("cannot be read")
        return tuple(place)

    def cursor(self, place: Place | None) -> str | None:
        """The cursor of the page that follows; None where none does."""
        if place is None:
            return None
        return base64.urlsafe_b64encode(self._seal + orjson.dumps(place)).decode()

    def link(self, cursor: str | None) -> dict[str, str]:
        """The header that names the following page, for answers without a place for ``next_cursor``."""
        if cursor is None:
            return {}
        following = self._url.include_query_params(cursor=cursor)
        return {"Link": f'<{following.path}?{following.query}>; rel="next"'}


def _unusable(why: str) -> Refused:
    text = f"cursor: {why}; take the next_cursor of a page of the same query, or none for the first page"
    return Refused(HTTPStatus.UNPROCESSABLE_ENTITY, text)

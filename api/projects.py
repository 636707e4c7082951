"""A body that names a project names the caller's own."""

from __future__ import annotations

from http import HTTPStatus

from api.callers import Access
from api.problems import Refused
from gate.wording import shown


def own_project(named: str | None, access: Access) -> str:
    """Raises Refused: 404 for another project than the request is about."""
    if named not in (None, access.project):
        raise Refused(
            HTTPStatus.NOT_FOUND, f"no project {shown(named)} for this request, which is about {shown(access.project)}"
        )
    return access.project

"""Who is asking and what they may do. Every route states the scope it needs; the table of routes shows it."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Depends, Query, Request, Security
from fastapi.security import HTTPBearer

from api.authentication import CHALLENGE, csrf_token_of
from api.problems import Refused
from gate.provenance import Provenance
from gate.wording import shown
from store.tokens import SCOPES, Scope

__all__ = ["GRANTS", "SCOPES", "Access", "Caller", "Needs", "Scope", "scope_of"]

GRANTS: dict[Scope, frozenset[Scope]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"read", "write"}),
    "operate": frozenset({"read", "operate"}),
}
"""What a scope allows: a job that writes reads baselines, an operator looks at what is to be repaired."""


@dataclass(frozen=True, slots=True)
class Caller:
    """``project`` None: any, which only open reading gives. ``actor`` names the caller in the trust log.

    ``may_trust``: runs it writes may enter baselines. ``claims``: provenance that an identity provider vouches for;
    what a body says must agree with it.
    """

    project: str | None
    scope: Scope
    actor: str
    may_trust: bool = False
    claims: Provenance | None = None


@dataclass(frozen=True, slots=True)
class Access:
    """A caller that may do what the route does, in the ``project`` that the request is about."""

    caller: Caller
    project: str


_IN_OPENAPI = HTTPBearer(auto_error=False, description="A token of `driftgate token create`, or an identity token.")


class Needs:
    """The dependency of every route that is not open to all: identifies the caller and holds it to ``scope``."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    def __call__(
        self,
        request: Request,
        csrf_token: Annotated[str | None, Depends(csrf_token_of)],
        _: Annotated[Any, Security(_IN_OPENAPI)],
        project: Annotated[str | None, Query(max_length=200, description="Instead of the caller's own.")] = None,
    ) -> Access:
        """Raises Refused: 401 without credentials that hold, 403 with too little scope, 404 for another project."""
        caller: Caller | None = request.app.state.service.identify(request, csrf_token)
        request.state.caller = caller
        if caller is None or (caller.project is None and self.scope not in GRANTS[caller.scope]):
            raise Refused(HTTPStatus.UNAUTHORIZED, "a token is needed: Authorization: Bearer TOKEN", CHALLENGE)
        if self.scope not in GRANTS[caller.scope]:
            text = f"this needs a token with scope {self.scope}; the one given has {caller.scope}"
            raise Refused(HTTPStatus.FORBIDDEN, text)
        if project is not None and ("\0" in project or not self._may_see(project, caller, request)):
            raise Refused(HTTPStatus.NOT_FOUND, f"no project {shown(project)} for this token")
        request.state.project = project or caller.project or request.app.state.service.settings.project
        return Access(caller, request.state.project)

    def _may_see(self, project: str, caller: Caller, request: Request) -> bool:
        """A token sees its own. Where reading is open a session loses nothing that its browser may read without it."""
        if caller.project in (None, project):
            return True
        as_anybody = request.app.state.service.settings.open_reading and "authorization" not in request.headers
        return as_anybody and self.scope == "read"


def scope_of(route: Any) -> Scope | None:
    """The scope that a route needs, None where it is open to all: what the matrix of routes is tested against."""
    found = [below.call.scope for below in route.dependant.dependencies if isinstance(below.call, Needs)]
    return found[0] if found else None

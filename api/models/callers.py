"""Who is asking."""

from __future__ import annotations

from typing import Literal

from api.models.common import Answer


class WhoAmI(Answer):
    """``project`` null: every one, as reading is open. ``csrf_token``: of the cookie's session, null without one; it
    goes along with every request that is no GET, as header X-CSRF-Token or form field csrf_token.
    """

    actor: str
    project: str | None
    scope: Literal["read", "write", "operate"]
    may_trust: bool
    csrf_token: str | None

"""The trust log."""

from __future__ import annotations

from api.models.common import Paged, TrustEvent


class TrustLog(Paged):
    """Who changed trust, when and why, the newest change first."""

    trust_events: list[TrustEvent]

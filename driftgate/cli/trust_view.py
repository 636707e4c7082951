"""Lines of the trust log as JSON and for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from driftgate.cli.output import moment, print_text
from driftgate.cli.run_view import gate_said
from gate.outline import safe
from store.contract import TrustEvent

_WORDS = {True: "trusted", False: "not trusted"}


def print_log(events: Sequence[TrustEvent]) -> None:
    """Oldest first; nothing where nobody changed anything."""
    if not events:
        return
    print_text("\ntrust log\n")
    for event in reversed(events):
        who_and_why = safe(f"{event.actor}: {event.reason}")
        print_text(f"  {moment(event.at)} {event.action} by {who_and_why}{_became(event)}\n")


def _became(event: TrustEvent) -> str:
    change = ""
    if event.trusted_before is not None and event.trusted_after is not None and event.changed:
        change = f"; {_WORDS[event.trusted_before]} -> {_WORDS[event.trusted_after]}"
    said = gate_said(event.verdict or {})
    return change if said is None else f"{change}; judged again: {said}"

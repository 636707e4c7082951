"""The store's own kill switch, thrown by an operator for every job at once."""

from __future__ import annotations

from driftgate.harness.history_access import OpenHistory
from gate.verdict import Notice
from store.contract import MetricHistoryStore

KIND = "enforcement_off"


class KillSwitch:
    """Asked only where a job is about to fail by the gate, and then once: a run that is fine costs no read for it."""

    def __init__(self, project: str, open_history: OpenHistory) -> None:
        self._project = project
        self._open_history = open_history
        self._answers: list[Notice | None] = []

    def thrown(self, store: MetricHistoryStore | None = None) -> Notice | None:
        """Who threw it, and why; None where nobody did, and where the store cannot tell. ``store``: one that is open
        already.
        """
        if not self._answers:
            self._answers.append(self._asked(store))
        return self._answers[0]

    def _asked(self, store: MetricHistoryStore | None) -> Notice | None:
        try:
            if store is None:
                with self._open_history() as opened:
                    return self._asked(opened)
            switch = store.get_enforcement(self._project)
        except Exception:  # noqa: BLE001 - what keeps it from being asked leaves everything as it is
            return None
        return None if switch.on else Notice(KIND, f"enforcement was switched off by {switch.actor}: {switch.reason}")

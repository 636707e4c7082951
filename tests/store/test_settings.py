"""The kill switch of a project: turned, looked at, logged."""

import pytest

from store.contract import EnforcementSwitch, MetricHistoryStore

BY = {"project": "default", "reason": "image broke", "actor": "on duty"}


def log(store, project="default"):
    """Of who did it the name alone: a service adds whose token it was."""
    return [(event.action, event.actor.partition(" (")[0], event.reason) for event in store.trust_events(project)]


class TestEnforcement:
    """`get_enforcement` and `set_enforcement`."""

    def test_it_is_on_by_itself(self, store: MetricHistoryStore):
        """Where nobody has ever said anything."""
        assert store.get_enforcement("default") == EnforcementSwitch(on=True)

    def test_off_and_on_again(self, store: MetricHistoryStore):
        """It tells the last change, and each change is a line of the log."""
        off = store.set_enforcement(on=False, **BY)
        assert (off.on, off.reason, off.actor[:7], off.changed) == (False, "image broke", "on duty", True)
        seen = store.get_enforcement("default")
        assert (seen.on, seen.reason, seen.changed_at, seen.changed) == (False, "image broke", off.changed_at, False)
        on = store.set_enforcement(on=True, project="default", reason="repaired", actor="ana")
        assert (on.on, on.changed, store.get_enforcement("default").reason) == (True, True, "repaired")
        assert log(store) == [("enforcement_on", "ana", "repaired"), ("enforcement_off", "on duty", "image broke")]
        assert store.trust_events("default")[1].at == off.changed_at

    @pytest.mark.parametrize("on", [True, False])
    def test_what_stands_already_is_left_as_it_is(self, store: MetricHistoryStore, on):
        """With the reason that it has, and without a line."""
        if not on:
            store.set_enforcement(on=False, **BY)
        before, lines = store.get_enforcement("default"), log(store)
        assert store.set_enforcement(on=on, project="default", reason="again", actor="bo") == before
        assert (store.get_enforcement("default"), log(store)) == (before, lines)

    def test_a_dry_run_tells_and_writes_nothing(self, store: MetricHistoryStore):
        """As it would be."""
        tried = store.set_enforcement(on=False, dry_run=True, **BY)
        assert (tried.on, tried.reason, tried.changed) == (False, "image broke", True)
        assert store.set_enforcement(on=True, dry_run=True, **BY).changed is False
        assert (store.get_enforcement("default").on, log(store)) == (True, [])

    def test_each_project_has_its_own(self, store: MetricHistoryStore):
        """One in shadow leaves the other enforced."""
        store.set_enforcement(on=False, **BY)
        assert store.get_enforcement("other").on
        assert log(store, "other") == []

    @pytest.mark.parametrize("missing", ["reason", "actor", "project"])
    def test_who_and_why_are_needed(self, store: MetricHistoryStore, missing):
        """Blank is none."""
        with pytest.raises(ValueError, match=f"{missing} is empty"):
            store.set_enforcement(on=False, **BY | {missing: " "})
        assert store.get_enforcement("default").on

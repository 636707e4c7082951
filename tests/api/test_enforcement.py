"""The kill switch over HTTP: as the command line answers, per project, with its line in the trust log."""

import json
import sqlite3
from contextlib import closing

import pytest
from typer.testing import CliRunner

from driftgate.cli.app import app

OFF = {"enforcement": "off", "reason": "image broke"}


def test_it_is_looked_at_and_turned(client, bearer, store):
    """On, off with reason and actor, off already, tried, on."""
    operator = bearer("operate", name="ops")
    fresh = {"schema": 1, "enforcement": "on", "reason": None, "actor": None, "changed_at": None}
    assert client.get("/v1/enforcement").json() == fresh
    off = client.put("/v1/enforcement", headers=operator, json=OFF).json()
    told = {"schema": 1, "enforcement": "off", "reason": "image broke", "actor": "token ops", "changed": True}
    assert off == told | {"changed_at": off["changed_at"]}
    again = client.put("/v1/enforcement", headers=operator, json=OFF | {"reason": "other"}).json()
    assert again == off | {"changed": False}
    tried = client.put("/v1/enforcement", headers=operator, json=OFF | {"enforcement": "on", "dry_run": True}).json()
    assert (tried["enforcement"], tried["changed"]) == ("on", True)
    assert client.get("/v1/enforcement").json() | {"changed": True} == off
    events = [(event.action, event.actor, event.reason, event.run_id) for event in store.trust_events("default")]
    assert events == [("enforcement_off", "token ops", "image broke", None)]


@pytest.mark.parametrize("dry_run", [True, False])
def test_the_command_line_answers_the_same(client, bearer, tmp_path, dry_run):
    """On equal databases, but for the moment and the actor; both show the same afterwards."""
    with closing(sqlite3.connect(tmp_path / "history.db")) as stored, closing(sqlite3.connect(tmp_path / "b.db")) as b:
        stored.backup(b)

    def command_line(*words):
        common = ["--json", "--db", f"sqlite:///{tmp_path}/b.db", "--project", "default"]
        return json.loads(CliRunner().invoke(app, ["enforcement", *words, *common]).stdout)

    words = ["off", "--reason", "image broke", "--actor", "token ops", *(["--dry-run"] if dry_run else [])]
    told = command_line(*words)
    operator = bearer("operate", name="ops")
    answer = client.put("/v1/enforcement", headers=operator, json=OFF | {"dry_run": dry_run}).json()
    assert answer | {"changed_at": 0} == told | {"changed_at": 0}
    shown = client.get("/v1/enforcement").json()
    assert shown | {"changed_at": 0} == command_line("show") | {"changed_at": 0}
    assert shown["enforcement"] == ("on" if dry_run else "off")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"enforcement": False}, "enforcement"),
        ({"enforcement": "OFF"}, "enforcement"),
        ({"reason": ""}, "reason is empty"),
        ({"reason": "a\0b"}, "NUL"),
        ({"reason": 1}, "reason"),
        ({"actor": " "}, "actor is empty"),
        ({"reason": "x" * 10_001}, "reason"),
        ({"on": True}, "on"),
    ],
)
def test_what_is_refused(client, bearer, store, change, words):
    """422 in words; the switch stays."""
    answer = client.put("/v1/enforcement", headers=bearer("operate"), json=OFF | change)
    assert (answer.status_code, words in answer.json()["detail"]) == (422, True)
    assert store.get_enforcement("default").on


def test_it_is_told_in_the_trust_log(client, bearer):
    """As every change, over HTTP too; it belongs to no run."""
    client.put("/v1/enforcement", headers=bearer("operate", name="ops"), json=OFF)
    (event,) = client.get("/v1/trust-events").json()["trust_events"]
    assert (event["action"], event["actor"], event["reason"]) == ("enforcement_off", "token ops", "image broke")
    assert (event["run_id"], event["selector"]) == (None, "enforcement")


def test_another_project_has_another_switch(client, bearer, store):
    """An operator of one turns only its own."""
    client.put("/v1/enforcement", headers=bearer("operate", project="other"), json=OFF)
    assert (store.get_enforcement("default").on, store.get_enforcement("other").on) == (True, False)

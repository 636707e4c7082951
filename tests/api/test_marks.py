"""Marks and epochs over HTTP: as the command line answers, with the caller's name in the trust log."""

import json
import sqlite3
from contextlib import closing

import pytest
from typer.testing import CliRunner

from driftgate.cli.app import app
from driftgate.harness import test_files
from store.contract import RunFilter

REASON = "wrong image on the pool"


@pytest.fixture
def nights(store, judging):
    """The ids of six nights: a level, a step to another, which the gate does not trust."""
    return judging.nights(store, [1.0, 1.02, 0.98, 1.5, 1.5, 1.5])


@pytest.fixture
def operator(bearer):
    return bearer("operate", name="on duty")


@pytest.fixture
def command_line(tmp_path, store, monkeypatch):
    """Calls the command line on a copy of the store as it is at the first call; gives its JSON."""
    copy = tmp_path / "copy.db"
    monkeypatch.setattr(test_files, "series_path", lambda test, _: str(test))

    def call(*words):
        if not copy.exists():
            with closing(sqlite3.connect(tmp_path / "history.db")) as stored, closing(sqlite3.connect(copy)) as other:
                stored.backup(other)
        words = [*map(str, words), "--json", "--reason", REASON, "--db", f"sqlite:///{copy}", "--project", "default"]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return call


def trust(store):
    return {run.run_id: run.trusted for run in store.list_runs("default", RunFilter())}


MARKS = [
    ("mark-untrusted", "run_id", 0),
    ("mark-untrusted", "ci_run_id", 2),
    ("mark-trusted", "run_id", 3),
    ("mark-trusted", "ci_run_id", 2),
    ("mark-untrusted", "commit_sha", "a" * 40),
]


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize(("action", "selector", "value"), MARKS)
def test_a_mark_answers_as_the_command_line_does(
    *, client, nights, operator, command_line, store, action, selector, value, dry_run
):
    """On equal databases the documents are equal, dry run or not; a dry run changes nothing."""
    value = nights[value] if selector == "run_id" else value
    option = {"run_id": "--run-id", "ci_run_id": "--ci-run-id", "commit_sha": "--commit"}[selector]
    told = command_line(action, option, value, *(["--dry-run"] if dry_run else []))
    before = trust(store)
    answer = client.post(
        f"/v1/runs:{action}", headers=operator, json={selector: value, "reason": REASON, "dry_run": dry_run}
    )
    assert (answer.status_code, answer.json()) == (200, told)
    changed = {run_id for run_id, was in trust(store).items() if was != before[run_id]}
    assert changed == (set() if dry_run else set(told["runs"]))


def test_effects_tell_means_and_verdicts(client, nights, operator):
    """A dry run of what matters is not empty: the mean of the baseline moves."""
    answer = client.post(
        "/v1/runs:mark-untrusted", headers=operator, json={"run_id": nights[1], "reason": REASON, "dry_run": True}
    ).json()
    assert (answer["changed"], answer["runs"]) == (1, [nights[1]])
    assert answer["effects"]["means"]
    assert answer["effects"]["means"][0]["series"]["test_path"] == "tests/test_ppo.py"


EPOCH = {"test_path": "tests/test_ppo.py", "backend": "cuda", "suite": "nightly-8-gpu", "reason": REASON}


def test_epochs_answer_as_the_command_line_does(client, nights, operator, command_line, store):
    """Tried, started, tried to undo, undone: the same documents but for the epoch's own id."""
    start = ("epoch", "start", "tests/test_ppo.py", "--from-run", nights[3])
    begin = EPOCH | {"from_run": nights[3]}
    tried = client.post("/v1/epochs", headers=operator, json=begin | {"dry_run": True})
    assert (tried.status_code, tried.json()) == (200, command_line(*start, "--dry-run"))
    assert tried.json()["changed"] == 3
    told, started = command_line(*start), client.post("/v1/epochs", headers=operator, json=begin)
    assert started.status_code == 201
    assert started.json() | {"epoch_id": 0} == told | {"epoch_id": 0}
    theirs, ours = told["epoch_id"], started.json()["epoch_id"]
    for dry_run in (True, False):
        told = command_line("epoch", "undo", theirs, *(["--dry-run"] if dry_run else []))
        undone = client.post(f"/v1/epochs/{ours}:undo", headers=operator, json={"reason": REASON, "dry_run": dry_run})
        assert (undone.status_code, undone.json() | {"epoch_id": theirs}) == (200, told)
    assert [event.actor for event in store.trust_events("default")] == ["token on duty"] * 8


@pytest.mark.parametrize(("given", "logged"), [(None, "token on duty"), ("ana", "ana (token on duty)")])
def test_the_trust_log_names_the_caller(client, nights, operator, store, given, logged):
    """Who acts for somebody else says so, and stays in the log with them; a dry run leaves no line."""
    for dry_run in (True, False):
        body = {"ci_run_id": 3, "reason": REASON, "actor": given, "dry_run": dry_run}
        client.post("/v1/runs:mark-untrusted", headers=operator, json=body)
    events = store.trust_events("default")
    assert {(event.actor, event.reason, event.selector) for event in events} == {(logged, REASON, "ci_run_id=3")}
    assert len(events) == 2


REFUSED = [
    ("/v1/runs:mark-untrusted", {"reason": "r"}, 422, "exactly one"),
    ("/v1/runs:mark-untrusted", {"reason": "r", "run_id": "a", "ci_run_id": 1}, 422, "exactly one"),
    ("/v1/runs:mark-untrusted", {"run_id": "a"}, 422, "reason"),
    ("/v1/runs:mark-untrusted", {"run_id": "a", "reason": "  "}, 422, "reason is empty"),
    ("/v1/runs:mark-untrusted", {"run_id": "a' OR 1=1 --/../\n", "reason": "r"}, 404, "no run"),
    ("/v1/runs:mark-untrusted", {"run_id": "a\0", "reason": "r"}, 422, "NUL"),
    ("/v1/runs:mark-untrusted", {"run_id": "x" * 100_000, "reason": "r"}, 404, "no run"),
    ("/v1/runs:mark-untrusted", {"ci_run_id": True, "reason": "r"}, 422, "ci_run_id"),
    ("/v1/runs:mark-untrusted", {"ci_run_id": 2**64, "reason": "r"}, 422, "ci_run_id"),
    ("/v1/runs:mark-untrusted", {"ci_run_id": 0, "reason": "r"}, 422, "out of range"),
    ("/v1/runs:mark-untrusted", {"commit_sha": "abc1234", "reason": "r"}, 422, "full SHA"),
    ("/v1/runs:mark-trusted", {"run_id": "a", "reason": "r", "dry_run": 1}, 422, "dry_run"),
    ("/v1/runs:mark-trusted", {"run_id": "a", "reason": "r", "dryrun": True}, 422, "dryrun"),
    ("/v1/epochs", EPOCH | {"suite": "other"}, 404, "no run of"),
    ("/v1/epochs", EPOCH | {"metric": "los"}, 404, "did you mean 'loss'"),
    ("/v1/epochs", EPOCH | {"metric": "l\0"}, 422, "NUL"),
    ("/v1/epochs", EPOCH | {"test_path": "a\0"}, 422, "NUL"),
    ("/v1/epochs", EPOCH | {"from_run": "nothing"}, 404, "no run 'nothing'"),
    ("/v1/epochs", {"reason": "r"}, 422, "test_path"),
    ("/v1/epochs/nothing:undo", {"reason": "r"}, 404, "no epoch 'nothing'"),
    ("/v1/epochs/%00:undo", {"reason": "r"}, 404, "NUL"),
    ("/v1/epochs/..%2F:undo", {"reason": "r"}, 404, "Not Found"),
    ("/v1/epochs/nothing:undo", {}, 422, "reason"),
]


@pytest.mark.parametrize(("path", "body", "status", "words"), REFUSED)
def test_what_is_refused(*, client, nights, operator, store, path, body, status, words):
    """In words, with a short answer, and nothing is changed."""
    answer = client.post(path, headers=operator, json=body)
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True), answer.text
    assert len(answer.text) < 2000
    assert store.trust_events("default") == []


def test_conflicts(client, nights, operator, store, judging):
    """A superseded run is not trusted, an epoch not undone twice: 409, and the words say why."""
    later = judging.night(store, 6, 1.0, ci_run_attempt=2)
    answer = client.post("/v1/runs:mark-trusted", headers=operator, json={"run_id": nights[5], "reason": "r"})
    assert (answer.status_code, later.run_id in answer.json()["detail"]) == (409, True)
    epoch_id = client.post("/v1/epochs", headers=operator, json=EPOCH).json()["epoch_id"]
    for status in (200, 409):
        undone = client.post(f"/v1/epochs/{epoch_id}:undo", headers=operator, json={"reason": "r"})
        assert undone.status_code == status


def test_another_project_sees_nothing(client, nights, bearer, store):
    """Its operator cannot mark our runs, by whatever selector, nor undo our epochs."""
    foreign = bearer("operate", project="other")
    assert (
        client.post("/v1/runs:mark-untrusted", headers=foreign, json={"run_id": nights[0], "reason": "r"}).status_code
        == 404
    )
    by_ci_run = client.post("/v1/runs:mark-untrusted", headers=foreign, json={"ci_run_id": 1, "reason": "r"})
    assert (by_ci_run.status_code, by_ci_run.json()["changed"]) == (200, 0)
    assert client.post("/v1/epochs", headers=foreign, json=EPOCH).status_code == 404
    assert store.trust_events("default") == []

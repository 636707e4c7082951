"""A CI job without secrets, from its identity token to the stored run."""

import orjson
import pytest
from identity_issuer import FACTS, OTHER_SHA, SHA

from api.app import create_app
from gate.provenance import Provenance
from store.stored import AttemptFilter
from store.wire_runs import new_run_json


@pytest.fixture
def settings(tmp_path, issuer):
    """Nobody comes in but the jobs of one repository."""
    return issuer.service(f"sqlite:///{tmp_path}/history.db")


@pytest.fixture
def post(client, issuer):
    """Writes a run with a token whose claims may be changed."""

    def post(run, **changed):
        headers = {"Authorization": f"Bearer {issuer.token(**changed)}", "Content-Type": "application/json"}
        return client.post("/v1/runs", content=orjson.dumps(new_run_json(run)), headers=headers)

    return post


@pytest.fixture
def read(client, issuer):
    """The status of a read with such a token."""

    def read(**changed):
        return client.get("/v1/series", headers={"Authorization": f"Bearer {issuer.token(**changed)}"}).status_code

    return read


def test_the_nightly_job_moves_the_baseline(post, store, judging):
    """Nothing but the token says where the run comes from."""
    answer = post(judging.judged(store, 1, 1.0, **FACTS))
    assert (answer.status_code, answer.json()["trusted"]) == (201, True)
    assert judging.recent(store, "loss") == [1.0]
    found = store.get_run("default", answer.json()["run_id"]).run.provenance
    assert found == Provenance(
        tested_sha=SHA,
        ci_sha=SHA,
        ci_run_id=4711,
        ci_run_attempt=2,
        test_attempt=1,
        event="schedule",
        ref="refs/heads/main",
        cadence="nightly",
        fork=False,
    )


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"ci_run_id": 1}, "provenance.ci_run_id is 1, but the identity token says 4711"),
        ({"ci_run_attempt": 1}, "provenance.ci_run_attempt is 1, but the identity token says 2"),
        ({"event": "push"}, "provenance.event is 'push', but the identity token says 'schedule'"),
        ({"ref": "refs/heads/other"}, "provenance.ref is 'refs/heads/other'"),
        ({"ci_sha": OTHER_SHA}, f"provenance.ci_sha is '{OTHER_SHA}'"),
        ({"cadence": "weekly"}, "provenance.cadence is 'weekly', but the identity token says 'nightly'"),
        ({"fork": True}, "provenance.fork is True, but the identity token says False"),
    ],
)
def test_a_body_that_contradicts_its_token_is_refused(post, store, judging, said, told):
    """Nothing of it is stored."""
    answer = post(judging.judged(store, 1, 1.0, **FACTS | said))
    assert (answer.status_code, answer.headers["content-type"]) == (403, "application/problem+json")
    assert told in answer.json()["detail"]
    assert store.list_series("default") == []


@pytest.mark.parametrize("tested", [OTHER_SHA, None])
def test_another_commit_than_the_jobs_is_stored_untrusted(post, store, judging, tested):
    """A scheduled job that checks out something else moves no baseline."""
    answer = post(judging.judged(store, 1, 1.0, **FACTS | {"tested_sha": tested}))
    assert (answer.status_code, answer.json()["trusted"]) == (201, False)
    assert answer.json()["untrusted_reason"].endswith(f"is not the commit of the identity token, {SHA}")
    assert judging.recent(store, "loss") == []


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"event_name": "pull_request"}, 403),
        ({"event_name": "pull_request_target"}, 403),
        ({"event_name": "workflow_run"}, 403),
        ({"event_name": "issue_comment"}, 403),
        ({"event_name": "workflow_dispatch"}, 403),
        ({"ref": "refs/heads/renamed"}, 403),
        ({"workflow_ref": "octo/repo/.github/workflows/other.yml@refs/heads/main"}, 403),
        ({"repository_owner_id": "66"}, 403),
        ({"repository_id": "75"}, 403),
        ({"aud": "https://other.example"}, 401),
        ({"iss": "https://issuer.example"}, 401),
        ({"exp": 1}, 401),
    ],
    ids=str,
)
def test_everything_else_writes_nothing(post, read, store, judging, changed, status):
    """What is of this repository may read all the same."""
    answer = post(judging.judged(store, 1, 1.0, **FACTS), **changed)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert store.list_series("default") == []
    foreign = status == 401 or "repository_id" in changed
    assert read(**changed) == (status if foreign else 200)


@pytest.mark.parametrize(
    ("said", "status"),
    [({}, 201), ({"ci_run_id": 4711, "ci_run_attempt": 2}, 201), ({"ci_run_id": 1}, 403), ({"ci_run_attempt": 1}, 403)],
)
def test_attempts_are_of_the_tokens_run(client, store, issuer, said, status):
    """Or else one night could make another one look flaky."""
    series = {"test_path": "tests/test_a.py", "backend": "cuda", "suite": "s"}
    facts = {"test_attempt": 1, "attempt_class": "pass", "duration_s": 1.0, "started_at": "2026-01-01T00:00:00Z"}
    body = {"attempts": [{"series": series, **facts, **said}]}
    answer = client.post("/v1/attempts", json=body, headers={"Authorization": f"Bearer {issuer.token()}"})
    assert answer.status_code == status
    stored = [(one.ci_run_id, one.ci_run_attempt) for one in store.list_attempts("default", AttemptFilter())]
    assert stored == ([(4711, 2)] if status == 201 else [])


def test_operating_is_for_people(client, issuer):
    """No identity token marks a run."""
    headers = {"Authorization": f"Bearer {issuer.token()}"}
    answer = client.post("/v1/runs:mark-untrusted", json={"ci_run_id": 1, "reason": "r"}, headers=headers)
    assert answer.status_code == 403


def test_an_outage_of_the_issuer(client, post, issuer, store, judging):
    """503 with the time to come again; static tokens are not touched by it."""
    issuer.status = 500
    answer = post(judging.judged(store, 1, 1.0, **FACTS))
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert "the keys of their issuer could not be fetched" in answer.json()["detail"]


def test_no_token_reaches_a_log(client, post, issuer, store, judging, caplog):
    """Neither one that holds nor one that does not."""
    caplog.set_level("DEBUG")
    post(judging.judged(store, 1, 1.0, **FACTS))
    post(judging.judged(store, 1, 1.0, **FACTS), exp=1)
    post(judging.judged(store, 1, 1.0, **FACTS), event_name="pull_request")
    ours = [record.getMessage() for record in caplog.records if record.name.startswith(("driftgate", "uvicorn"))]
    assert ours
    assert not [line for line in ours if "eyJ" in line]


def test_the_service_of_these_tests_is_closed(settings):
    """Negative control: without a token nobody reads."""
    assert not settings.open_reading
    assert create_app(settings).state.service.settings.verify_identity_token is not None

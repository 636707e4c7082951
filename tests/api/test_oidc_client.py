"""The job's side of identity tokens: a fresh one for each gate call, and no secret anywhere."""

from dataclasses import replace

import pytest
from identity_issuer import AUDIENCE, FACTS, JOB_SECRET

from store.errors import StoreUnavailable
from store.http_service import HttpService
from store.http_store import HttpMetricHistoryStore
from store.http_tokens import tokens_from


@pytest.fixture
def settings(tmp_path, issuer):
    """Nobody comes in but the jobs of one repository."""
    return issuer.service(f"sqlite:///{tmp_path}/history.db")


@pytest.fixture
def history(client):
    def history(environment, audience=AUDIENCE):
        source = tokens_from(environment, audience)
        service = HttpService("http://localhost:8321", source, transport=client._transport, sleep=lambda _: None)
        return HttpMetricHistoryStore("http://localhost:8321", service=service)

    return history


def test_without_any_secret(history, issuer, store, judging):
    """The job asks GitHub for a token, the service asks GitHub's keys about it, and the run counts."""
    with history(issuer.job) as http:
        stored = http.write_run(judging.judged(store, 1, 1.0, **FACTS))
    assert (stored.trusted, judging.recent(store, "loss")) == (True, [1.0])


def test_a_token_for_somebody_else(history, issuer, judging, store):
    """The words say which audience is wanted."""
    with history(issuer.job, "https://other.example") as http, pytest.raises(StoreUnavailable) as caught:
        http.write_run(judging.judged(store, 1, 1.0, **FACTS))
    assert "it is for 'https://other.example'; request one for 'https://gate.example'" in str(caught.value)


def test_a_job_that_may_not_ask(history, issuer, judging, store):
    """One line, without the secret of the job."""
    environment = issuer.job | {"ACTIONS_ID_TOKEN_REQUEST_TOKEN": "wrong"}
    with history(environment) as http, pytest.raises(StoreUnavailable, match="it answers 401") as caught:
        http.write_run(judging.judged(store, 1, 1.0, **FACTS))
    assert JOB_SECRET not in str(caught.value)


def test_a_contradiction_is_told(history, issuer, judging, store):
    """To whoever reads the job's log."""
    run = judging.judged(store, 1, 1.0, **FACTS)
    run = replace(run, provenance=replace(run.provenance, ref="refs/heads/other"))
    with (
        history(issuer.job) as http,
        pytest.raises(StoreUnavailable, match=r"provenance\.ref is 'refs/heads/other'"),
    ):
        http.write_run(run)

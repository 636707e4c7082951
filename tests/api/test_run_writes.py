"""Runs written over HTTP: judged again, held to what the token says, stored once."""

from dataclasses import replace

import orjson
import pytest

from gate.provenance import Provenance
from store.wire_runs import new_run_json, stored_run_from


def post(client, run, headers, **changes):
    document = new_run_json(run) | changes
    sent = {"Content-Type": "application/json"} | headers
    return client.post("/v1/runs", content=orjson.dumps(document), headers=sent)


class TestTrust:
    def test_a_trusted_run_is_trusted(self, client, store, judging, bearer):
        """Gate, service and token agree: it counts, and the answer is the run as it is stored."""
        answer = post(client, judging.judged(store, 1, 1.0), bearer("write", may_trust=True))
        assert answer.status_code == 201
        written = stored_run_from(answer.json())
        assert (written.trusted, written.untrusted_reason, written.repeat) == (True, None, False)
        assert store.get_run("default", written.run_id).run == written

    def test_a_token_that_may_not_trust(self, client, store, judging, bearer):
        """Its runs are stored, untrusted, with the reason; what the gate said is kept beside it."""
        answer = post(client, judging.judged(store, 1, 1.0), bearer("write"))
        written = stored_run_from(answer.json())
        assert (written.trusted, written.gate_trusted) == (False, True)
        assert written.untrusted_reason == "written by token write-job, which may not trust"
        assert judging.recent(store, "loss") == []

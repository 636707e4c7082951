"""How often a gate call waits for the network."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from sqlalchemy import make_url

from driftgate.config.load import load_config
from driftgate.harness.judgement import Judgeable, judge
from gate.provenance import Provenance
from gate.spec import Constraint, GateSpec
from store.opening import open_store

POOLED = [pytest.param("postgres_url"), pytest.param("pgbouncer_url", marks=pytest.mark.pgbouncer)]


@pytest.fixture(params=POOLED)
def proxied(request: pytest.FixtureRequest, proxies):
    """A proxy before the database, and the URL that leads through it."""
    url = make_url(request.getfixturevalue(request.param))
    proxy = proxies(url.host, url.port)
    return proxy, url.set(port=proxy.port).render_as_string(hide_password=False)


def test_a_gate_call_takes_at_most_four_round_trips_on_one_connection(proxied, build):
    """Reading and writing together, once connected, also for a run with new gate specs, a rule and an earlier attempt."""
    proxy, url = proxied
    keys = [build.key(f"m{number}") for number in range(5)]
    with open_store(url) as store:
        store.write_run(build.run(1))
        store.mark_untrusted(**build.BY, ci_run_id=1)
        with store.pinned():
            store.list_series("default")
            proxy.reset()
            read = store.read_history(build.IDENTITY, keys, 20, 20, None)
            steps = dict.fromkeys(range(100), 1.0)
            new = build.run(
                1,
                *(build.values(steps, key) for key in keys),
                facts={"ci_run_attempt": 2},
                epochs={key.metric_key: read.of(key).epoch_id for key in keys},
            )
            written = store.write_run(new)
            assert (proxy.round_trips <= 4, proxy.connections) == (True, 0), proxy.round_trips
    assert written.untrusted_reason.startswith("standing mark")


def test_a_failing_gate_call_takes_at_most_four_round_trips(proxied, build, tmp_path):
    """With the question what has changed since the last trusted run, judged and written as the harness does it."""
    proxy, url = proxied
    config = load_config(file=None, start=tmp_path, env={}, options={})
    specs = (GateSpec(build.key(), "all", Constraint(rel_up=0.5)),)
    (tmp_path / "1.jsonl").write_text('{"metric": "loss", "series": [[0, 9.0], [1, 9.0]]}')
    with open_store(url) as store, store.pinned():
        store.write_run(build.run(1, build.values({0: 1.0, 1: 1.0}), facts={"host": "a"}))
        facts = Provenance(ci_run_id=2, ci_run_attempt=1, test_attempt=1, host="b")
        attempt = Judgeable(build.IDENTITY, specs, tmp_path, facts, build.START, writes=True, may_enforce=False)
        proxy.reset()
        verdict = judge(attempt, config, lambda: nullcontext(store)).verdict
        assert (proxy.round_trips <= 4, proxy.connections) == (True, 0), proxy.round_trips
    assert (verdict.outcome, verdict.written.repeat) == ("not_trusted", False)
    assert "host (a -> b)" in str(verdict.warnings)


def test_a_first_call_adds_little_to_the_connection(proxied):
    """Encryption, start, two for the password, one for the schema's revision, one for the call itself."""
    proxy, url = proxied
    with open_store(url) as store:
        store.list_series("default")
        assert proxy.round_trips <= 6


def test_a_pinned_block_inside_another_shares_its_connection(proxied):
    """Whoever pins need not know whether a caller did."""
    proxy, url = proxied
    with open_store(url) as store, store.pinned():
        with store.pinned():
            store.list_series("default")
        store.list_series("default")
        assert proxy.connections == 1


def test_between_gate_calls_no_connection_is_held(proxied, build):
    """A one-shot store connects for a call and hangs up after it."""
    proxy, url = proxied
    with open_store(url) as store:
        store.write_run(build.run(1))
        store.list_series("default")
        assert proxy.connections == 2


def test_a_service_keeps_its_connection(proxied, build):
    """A pooled store connects once for calls that follow each other."""
    proxy, url = proxied
    with open_store(url, one_shot=False) as store:
        for number in range(3):
            store.write_run(build.run(number))
        assert proxy.connections == 1

"""The store over HTTP where things go wrong: no service, a slow one, one that talks nonsense, lost answers, tokens."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import UTC

import httpx2
import numpy as np
import orjson
import pytest
import servers
from hypothesis import given
from hypothesis import strategies as st
from service_process import ServiceProcess

from driftgate.config.load import load_config
from driftgate.harness.judgement import Judgeable, judge
from gate.errors import ConfigError
from gate.history import History, RunRef, SpecHistory, StoredSeries
from gate.provenance import Provenance
from gate.spec import Constraint, GateSpec
from store.contract import RunFilter
from store.errors import NotFound, StoreConflict, StoreUnavailable
from store.http_service import DELAYS_S, HttpService
from store.http_store import HttpMetricHistoryStore
from store.http_tokens import identity_token, tokens_from
from store.opening import open_store
from store.wire import history_from, history_json

URL = "https://driftgate.example"
SHOWN = "secret-token"
PROBLEM = {"content-type": "application/problem+json"}


class Scripted:
    """A service that answers by a script: responses, or errors to raise. ``seen``: the requests; ``slept``: seconds."""

    def __init__(self, *script) -> None:
        self.script = list(script)
        self.seen: list[httpx2.Request] = []
        self.slept: list[float] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.seen.append(request)
        answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def store(self, token: str | None = SHOWN) -> HttpMetricHistoryStore:
        transport = httpx2.MockTransport(self)
        service = HttpService(URL, lambda: token, transport=transport, sleep=self.slept.append)
        return HttpMetricHistoryStore(URL, service=service)


def refusal(status: int, detail: str, **headers: str) -> httpx2.Response:
    return httpx2.Response(status, content=orjson.dumps({"detail": detail}), headers=PROBLEM | headers)


EMPTY = httpx2.Response(200, json={"schema": 1, "series": [], "next_cursor": None})
REFUSED = httpx2.ConnectError("[Errno 111] Connection refused")
GARBLED = httpx2.Response(200, stream=httpx2.ByteStream(b"no gzip"), headers={"content-encoding": "gzip"})
LOST = httpx2.ReadError("")


class TestTrying:
    @pytest.mark.parametrize(
        "passing", [REFUSED, LOST, httpx2.ReadTimeout(""), refusal(503, "asleep"), refusal(502, "")]
    )
    def test_what_passes_is_waited_for(self, passing):
        """A lost connection, a service that restarts: tried again, with longer and longer waits."""
        service = Scripted(passing, passing, EMPTY)
        assert service.store().list_series("default") == []
        assert service.slept == list(DELAYS_S[:2])

    def test_retry_after_is_honoured_within_reason(self):
        """As long as the service asks, but not for an hour."""
        service = Scripted(refusal(503, "", **{"Retry-After": "4"}), refusal(503, "", **{"Retry-After": "3600"}), EMPTY)
        service.store().list_series("default")
        assert service.slept == [4.0, 10.0]

    def test_a_service_that_hangs_is_not_waited_for_again_and_again(self):
        """Each try takes its half minute; none begins when a minute is over."""
        service = Scripted(httpx2.ReadTimeout(""))
        clock = iter(range(0, 3000, 30))
        transport = httpx2.MockTransport(service)
        slow = HttpService(URL, lambda: None, transport=transport, sleep=service.slept.append, now=lambda: next(clock))
        with pytest.raises(StoreUnavailable, match=r"does not answer within 30 s"):
            slow.get("/v1/series", {})
        assert len(service.seen) == 2

    def test_in_the_end_it_gives_up(self):
        """With the address, the reason and what to look at."""
        service = Scripted(REFUSED)
        with pytest.raises(StoreUnavailable, match=rf"service {URL}: cannot be reached .*refused.*is it running"):
            service.store().list_series("default")
        assert len(service.seen) == 1 + len(DELAYS_S)

    @pytest.mark.parametrize(
        ("error", "tries"), [(LOST, 1), (refusal(503, "asleep"), 1), (REFUSED, 1 + len(DELAYS_S))], ids=str
    )
    def test_an_operators_action_is_not_done_twice(self, error, tries):
        """It is tried again only where it cannot have arrived, and the message says that it may have."""
        service = Scripted(error)
        with pytest.raises(StoreUnavailable) as raised:
            service.store().mark_untrusted(project="default", ci_run_id=1, reason="r", actor="a")
        assert len(service.seen) == tries
        assert ("it may have been done all the same" in str(raised.value)) is (error is LOST)

    def test_a_certificate_that_does_not_hold_is_no_passing_trouble(self):
        """Nothing is tried again, and the reason is told."""
        service = Scripted(httpx2.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"))
        with pytest.raises(StoreUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
            service.store().list_series("default")
        assert len(service.seen) == 1

    def test_https_where_only_http_is_spoken(self, running_server):
        """Told at once, and not tried again."""
        slept: list[float] = []
        url = running_server.url.replace("http:", "https:")
        with (
            HttpService(url, lambda: None, sleep=slept.append) as service,
            pytest.raises(StoreUnavailable, match=r"does not speak https there; is it http://\?$"),
        ):
            service.get("/v1/series", {})
        assert slept == []


class TestWords:
    @pytest.mark.parametrize(
        ("answer", "kind", "words"),
        [
            (refusal(404, "no run 'x' in project 'p'"), NotFound, "^no run 'x' in project 'p'$"),
            (refusal(409, "run x is superseded"), StoreConflict, "^run x is superseded$"),
            (refusal(422, "limit: too large"), ValueError, "^limit: too large$"),
            (refusal(413, "the body is too long"), ValueError, "too long"),
            (refusal(401, "unknown token"), StoreUnavailable, "unknown token; DRIFTGATE_TOKEN.*not one that this"),
            (refusal(403, "this needs scope write"), StoreUnavailable, "this needs scope write$"),
            (
                refusal(404, "Not Found"),
                StoreUnavailable,
                "has no /v1/series; it is no driftgate service, or an older one",
            ),
            (httpx2.Response(404, text="<h1>nginx</h1>"), StoreUnavailable, "no driftgate service"),
            (refusal(500, "an error in driftgate itself"), StoreUnavailable, "answers 500: an error in driftgate"),
            (httpx2.Response(200, text="<h1>Welcome</h1>"), StoreUnavailable, "text/plain.*where JSON was due"),
            (httpx2.Response(200, json=[1]), StoreUnavailable, "where JSON was due"),
            (httpx2.Response(200, json={"series": [{"a": 1}]}), StoreUnavailable, "not what was asked for"),
            (httpx2.Response(200, json={}), StoreUnavailable, "not what was asked for"),
            (
                GARBLED,
                StoreUnavailable,
                "cannot be",
            ),
            (httpx2.Response(302, headers={"location": "https://evil.example/"}), StoreUnavailable, "leads elsewhere"),
        ],
    )
    def test_each_refusal_is_the_stores_own(self, answer, kind, words):
        """The service's words in the store's errors; what is no driftgate is said to be none. Asked once."""
        service = Scripted(answer)
        with pytest.raises(kind, match=words) as raised:
            service.store().list_series("default")
        assert len(service.seen) == 1
        assert SHOWN not in str(raised.value)

    def test_without_a_token_it_is_told_where_one_comes_from(self):
        """Both ways: the variable, and the permission of a job."""
        with pytest.raises(StoreUnavailable, match=r"set DRIFTGATE_TOKEN, or in GitHub Actions.*id-token: write"):
            Scripted(refusal(401, "a token is needed")).store(None).list_series("default")

    @pytest.mark.parametrize(
        ("url", "words"),
        [
            ("https://", "cannot be read"),
            ("https://host:port", "cannot be read"),
            ("https://a b", "cannot be read"),
            ("https://host\n.example", "cannot be read"),
            ("https://me:secret@host", "does not belong there; set DRIFTGATE_TOKEN"),
            ("https://host/?token=secret", "leave out what follows"),
        ],
    )
    def test_an_address_that_cannot_be_used(self, url, words):
        """One line, without what may be a secret."""
        with pytest.raises(ConfigError, match=words) as raised:
            open_store(url)
        assert "secret@" not in str(raised.value)
        assert "=secret" not in str(raised.value)


class TestTokens:
    def test_the_token_of_the_environment(self):
        """Shown as a bearer token, with each request, and only asked for once."""
        asked = []
        service = Scripted(EMPTY)
        store = HttpMetricHistoryStore(
            URL, service=HttpService(URL, lambda: asked.append(1) or "t", transport=httpx2.MockTransport(service))
        )
        store.list_series("default")
        store.list_series("default")
        assert [request.headers["authorization"] for request in service.seen] == ["Bearer t"] * 2
        assert asked == [1]

    def test_where_it_comes_from(self):
        """The variable first; nothing where there is nothing."""
        assert tokens_from({"DRIFTGATE_TOKEN": " t\n", "ACTIONS_ID_TOKEN_REQUEST_URL": "https://x"}, URL)() == "t"
        assert tokens_from({"DRIFTGATE_TOKEN": "", "ACTIONS_ID_TOKEN_REQUEST_URL": "https://x"}, URL)() is None
        assert tokens_from({}, URL)() is None

    def test_of_a_job_of_github_actions(self):
        """Asked for with the job's own secret, for this service; a server in trouble is asked again."""
        github = Scripted(httpx2.Response(503), httpx2.Response(200, json={"value": "identity"}))
        transport = httpx2.MockTransport(github)
        assert identity_token("https://github.example/t?api=1", "job", URL, transport) == "identity"
        assert github.seen[1].headers["authorization"] == "Bearer job"
        assert dict(github.seen[1].url.params) == {"api": "1", "audience": URL}

    @pytest.mark.parametrize(
        "answer",
        [
            httpx2.Response(403, text="job-secret"),
            httpx2.Response(200, text="<h1>"),
            httpx2.Response(200, json={"value": ""}),
            httpx2.Response(200, json=[]),
            REFUSED,
        ],
    )
    def test_a_job_that_gets_none(self, answer):
        """One line without the job's secret."""
        transport = httpx2.MockTransport(Scripted(answer))
        with pytest.raises(StoreUnavailable, match=r"^GitHub gives this job no identity token: ") as raised:
            identity_token("https://github.example/t?key=job-secret", "job-secret", URL, transport)
        assert "job-secret" not in str(raised.value)

    @pytest.mark.parametrize(
        ("address", "shown"),
        [
            ("https://gate.example.org", True),
            ("http://127.0.0.1:8321", True),
            ("http://[::1]:8321", True),
            ("http://localhost:8321", True),
            ("http://10.0.0.7:8321", True),
            ("http://192.168.1.9", True),
            ("http://[fd00::7]:8321", True),
            ("http://service:8321", True),
            ("http://gate.ci.svc:8321", True),
            ("http://gate.ci.svc.cluster.local", True),
            ("http://Gate.Internal.", True),
            ("http://gate.example.org", False),
            ("HTTP://gate.example.org", False),
            ("http://8.8.8.8:8321", False),
            ("http://[2606:4700::1]", False),
            ("http://internal.example.org", False),
            ("http://10.0.0.7.example.org", False),
        ],
    )
    @pytest.mark.parametrize(
        "environment",
        [
            {"DRIFTGATE_TOKEN": SHOWN},
            {"ACTIONS_ID_TOKEN_REQUEST_URL": "https://x", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "b"},
        ],
        ids=["given", "identity"],
    )
    def test_no_token_leaves_a_private_network_in_clear_text(self, monkeypatch, environment, address, shown):
        """Neither one of the environment nor one of a job, which is then not even asked for."""
        asked = []
        monkeypatch.setattr("store.http_tokens.identity_token", lambda *_: asked.append(1) or SHOWN)
        find = tokens_from(environment, address)
        if shown:
            assert find() == SHOWN
            return
        with pytest.raises(StoreUnavailable, match="a token would travel in clear text; write https://") as raised:
            find()
        assert (asked, SHOWN in str(raised.value)) == ([], False)
        assert tokens_from({}, address)() is None

    def test_a_token_that_no_header_holds(self):
        """Not sent, and not repeated."""
        service = Scripted(EMPTY)
        with pytest.raises(StoreUnavailable, match="DRIFTGATE_TOKEN is no token") as raised:
            service.store("gehe\u00efm\r\nX: 1").list_series("default")
        assert (service.seen, "gehe" in str(raised.value)) == ([], False)


class TestServed:
    """Against a real server."""

    @pytest.fixture
    def database_url(self, tmp_path):
        return f"sqlite:///{tmp_path / 'history.db'}"

    @pytest.mark.parametrize("value", [1.0, 9.0], ids=["green", "red"])
    def test_a_gate_run_takes_two_requests(self, served, running_server, database_url, build, tmp_path, value):
        """Judged and written, also where it fails an enforced job and is asked what has changed."""
        key = build.key()
        spec = GateSpec(key, "all", Constraint(rel_up=0.5, rel_down=0.5), enforce=True, allowlist_reason="r")
        (tmp_path / "1.jsonl").write_text(f'{{"metric": "loss", "series": [[0, {value}]]}}')
        config = load_config(file=None, start=tmp_path, env={}, options={})
        facts = Provenance(ci_run_id=2, ci_run_attempt=1, test_attempt=1, host="b")
        attempt = Judgeable(build.IDENTITY, (spec,), tmp_path, facts, build.START, writes=True, may_enforce=True)
        with served(database_url) as url, HttpMetricHistoryStore(url, token=lambda: "t") as store:
            store.write_run(build.run(1, build.values({0: 1.0}), facts={"host": "a"}))
            running_server.requests.clear()
            with store.pinned():
                judgement = judge(attempt, config, lambda: nullcontext(store))
            assert running_server.requests == [("POST", "/v1/history:query"), ("POST", "/v1/runs")]
            assert judgement.verdict.written is not None
            assert judgement.verdict.trusted is (value == 1.0)
            assert ("host (a -> b)" in str(judgement.verdict.warnings)) is (value == 9.0)

    def test_an_answer_that_is_lost_after_the_write(self, served, running_server, database_url, build, proxies):
        """The line is cut when the run is stored already: the second try finds it, and nothing is doubled."""
        proxy = proxies("127.0.0.1", running_server.port)
        with served(database_url), HttpMetricHistoryStore(f"http://127.0.0.1:{proxy.port}", token=lambda: "t") as store:
            store.list_series("default")
            proxy.lose_next_answer = True
            assert store.write_run(build.run(1)).repeat
            assert len(store.list_runs("default", RunFilter())) == 1

    def test_a_line_that_is_cut_between_calls(self, served, running_server, database_url, build, proxies):
        """A kept connection that has gone is replaced."""
        proxy = proxies("127.0.0.1", running_server.port)
        with served(database_url), HttpMetricHistoryStore(f"http://127.0.0.1:{proxy.port}", token=lambda: "t") as store:
            for number in (1, 2):
                store.write_run(build.run(number))
                proxy.cut()
            assert build.recent(store) == [[2.0, 1.0]]

    def test_a_service_that_is_killed_in_mid_request(self, tmp_path, build, monkeypatch):
        """Killed while four write, and started again: every run is stored, each once, and nobody was turned away."""
        monkeypatch.setattr("store.http_service.DELAYS_S", (0.5,) * 100)  # a busy machine starts a service slowly
        port = ("--port", str(servers.free_port()))
        first = ServiceProcess(tmp_path, *port)
        token = first.token("write")
        runs = [build.run(number) for number in range(1, 41)]
        with HttpMetricHistoryStore(first.url, token=lambda: token) as store, ThreadPoolExecutor(4) as pool:
            written = [pool.submit(store.write_run, run) for run in runs]
            written[10].result()
            first.kill()
            second = ServiceProcess(tmp_path, *port)
            try:
                ids = {one.result().run_id for one in written}
                found = store.list_runs("default", RunFilter())
            finally:
                second.kill()
        assert len(ids) == len(runs)
        assert {run.run_id for run in found} == ids
        assert len(found) == len(runs)

    def test_long_listings_are_read_to_their_end(self, served, running_server, database_url, build, monkeypatch):
        """Page by page, and no further than the limit."""
        monkeypatch.setattr("store.http_store.LONGEST_PAGE", 2)
        monkeypatch.setattr("store.http_store.RUNS_AT_ONCE", 2)
        with served(database_url) as url, HttpMetricHistoryStore(url, token=lambda: "t") as store:
            ids = [running_server.store.write_run(build.run(number)).run_id for number in range(5)]
            found = store.list_runs("default", RunFilter())
            assert [run.run_id for run in found] == ids[::-1]
            assert store.list_runs("default", RunFilter(limit=3)) == found[:3]
            assert [one.run.run_id for one in store.get_runs("default", ids)] == ids
            assert store.metric_history(build.IDENTITY, "loss")["value"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
            store.mark_untrusted(**build.BY, commit_sha=f"{3:040x}")
            store.mark_untrusted(**build.BY, commit_sha=f"{4:040x}")
            assert len(store.trust_events("default")) == 4
            assert len(store.trust_events("default", 3)) == 3


FINITE = st.floats(allow_nan=False, allow_infinity=False)
REFS = st.builds(
    RunRef,
    run_id=st.text(max_size=4),
    created_at=st.datetimes(timezones=st.just(UTC)),
    trusted=st.booleans(),
    counting=st.booleans(),
    valid=st.booleans(),
    ci_run_id=st.none() | st.integers(0, 2**63 - 1),
)


@st.composite
def stored(draw):
    by_step = draw(st.dictionaries(st.integers(-1, 2**63 - 1), FINITE, max_size=4))
    steps = np.array(sorted(by_step), np.int64)
    return StoredSeries(
        draw(REFS), steps, np.array([by_step[step] for step in steps.tolist()]), draw(st.integers(0, 9))
    )


@given(st.lists(stored(), max_size=4), st.none() | st.text(max_size=3), st.lists(REFS, max_size=3))
def test_a_history_comes_through_exactly(rows, epoch_id, recent):
    """Every bit of every value, every run; a row that serves twice travels once."""
    history = History({_key(): SpecHistory(tuple(rows), tuple(rows[:2]), (), epoch_id, 3, ())}, tuple(recent))
    document = orjson.loads(orjson.dumps(history_json(history), option=orjson.OPT_SERIALIZE_NUMPY))
    found = history_from(document)
    assert len(document["rows"]) == len(rows)
    assert found.recent_runs == history.recent_runs
    spec, as_found = history.of(_key()), found.of(_key())
    assert (as_found.epoch_id, as_found.anchor_ever) == (epoch_id, 3)
    for name in ("baseline", "anchor", "valid", "others"):
        pairs = list(zip(getattr(spec, name), getattr(as_found, name), strict=True))
        for one, other in pairs:
            assert (one.run, one.points) == (other.run, other.points)
            assert (one.steps.tobytes(), one.values.tobytes()) == (other.steps.tobytes(), other.values.tobytes())


def _key():
    from gate.identity import SpecKey

    return SpecKey("loss", '"all"', "{}")

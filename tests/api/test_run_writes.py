"""Runs written over HTTP: judged again, held to what the token says, stored once."""

from dataclasses import replace
from datetime import UTC

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.bodies import MAX_VALUES, RunBody
from api.callers import Caller
from api.settings import ServiceSettings
from gate.identity import SeriesIdentity, SpecKey
from gate.policy import GatePolicy
from gate.provenance import Provenance
from store.contract import NewRun, RunFilter, SeriesValues
from store.wire_runs import new_run_json, stored_run_from

SHA, OTHER_SHA = "a" * 40, "b" * 40
WIDE = '{"abs_floor_down":1.0,"abs_floor_up":1.0}'
CLAIMS = Provenance(ci_run_id=77, ci_run_attempt=1, event="schedule", ref="refs/heads/main", ci_sha=SHA)


def post(client, run, headers, **changes):
    document = new_run_json(run) | changes
    return client.post(
        "/v1/runs", content=orjson.dumps(document), headers={"Content-Type": "application/json"} | headers
    )


def plain(**changes):
    """What somebody writes by hand: declarations and values."""
    values = {"metric_key": "loss", "steps_key": '"all"', "constraint_key": WIDE, "points": 2}
    return {
        "series": {"test_path": "t.py", "backend": "cpu", "suite": "nightly"},
        "created_at": "2026-01-31T02:00:00Z",
        "series_values": [values | {"steps": [0, 1], "values": [1.0, 2]}],
        "provenance": {"ci_run_id": 1},
    } | changes


@pytest.fixture
def trusting(bearer):
    return bearer("write", may_trust=True)


class TestTrust:
    def test_a_trusted_run_is_trusted(self, client, store, judging, trusting):
        """Gate, service and token agree: it counts, and the answer is the run as it is stored."""
        answer = post(client, judging.judged(store, 1, 1.0), trusting)
        assert answer.status_code == 201
        written = stored_run_from(answer.json())
        assert (written.trusted, written.untrusted_reason, written.repeat) == (True, None, False)
        assert store.get_run("default", written.run_id).run == written

    def test_a_token_that_may_not_trust(self, client, store, judging, bearer):
        """Its runs are stored, untrusted, with the reason; what the gate said is kept beside it."""
        written = stored_run_from(post(client, judging.judged(store, 1, 1.0), bearer("write")).json())
        assert (written.trusted, written.gate_trusted) == (False, True)
        assert written.untrusted_reason == "written by token write-job, which may not trust"
        assert judging.recent(store, "loss") == []

    def test_a_client_that_trusts_what_the_service_does_not(self, client, store, judging, trusting):
        """It says trusted of numbers far outside: stored untrusted, with the service's own verdict and a warning."""
        judging.night(store, 1, 1.0)
        lying = replace(judging.judged(store, 2, 9.0), trusted=True, has_error=False)
        written = stored_run_from(post(client, lying, trusting).json())
        assert (written.trusted, written.gate_trusted, written.untrusted_reason) == (False, False, None)
        assert written.verdict["verdict"] == "not_trusted"
        assert "outside" in str(written.verdict["specs"]) or "fail" in str(written.verdict["specs"])
        assert "the service, which judged it again, does not" in str(written.verdict["warnings"])
        assert not store.get_run("default", written.run_id).series[0].trusted

    def test_what_the_client_left_out_is_judged_all_the_same(self, client, store, judging, trusting):
        """A verdict without declarations does not hide values: they are judged by their keys."""
        judging.night(store, 1, 1.0)
        bad = judging.judged(store, 2, 9.0)
        verdict = bad.verdict | {"verdict": "trusted", "specs": [], "coordinates": []}
        written = stored_run_from(post(client, replace(bad, trusted=True, verdict=verdict), trusting).json())
        assert not written.trusted

    def test_a_client_that_distrusts_is_believed(self, client, store, judging, trusting):
        """Not trusted stays not trusted, with the client's own verdict."""
        run = replace(judging.judged(store, 1, 1.0), trusted=False)
        written = stored_run_from(post(client, run, trusting).json())
        assert (written.trusted, written.verdict) == (False, run.verdict)

    def test_declarations_and_values_alone(self, client, store, trusting):
        """No verdict: the service's own is stored, and the run counts."""
        answer = client.post("/v1/runs", json=plain(), headers=trusting)
        assert answer.status_code == 201, answer.text
        (run,) = store.list_runs("default", RunFilter())
        assert (run.trusted, run.verdict["verdict"], run.verdict["series"]["test_path"]) == (True, "trusted", "t.py")

    def test_the_policy_is_the_services(self, tmp_path, judging, make_client):
        """Where the service asks for a quorum, one coordinate outside is no reason."""
        policy = GatePolicy(profile="balanced", history=20)
        client, store, headers = make_client(ServiceSettings(f"sqlite:///{tmp_path}/b.db", policy=policy))
        for number in (1, 2, 3):
            judging.night(store, number, 1.0, points=50)
        assert post(client, judging.judged(store, 4, 1.0, points=50), headers).json()["trusted"]

    def test_stale_epochs(self, client, store, judging, trusting):
        """Judged before an epoch began: untrusted, whatever service and client say of the numbers."""
        judging.night(store, 1, 1.0)
        late = judging.judged(store, 2, 1.0)
        store.start_epoch(judging.IDENTITY, reason="r", actor="a")
        written = stored_run_from(post(client, late, trusting).json())
        assert (written.trusted, written.untrusted_reason) == (False, "epoch changed")

    def test_an_epoch_judges_an_overruled_run_again(self, client, store, judging, trusting):
        """The service's verdict is the gate's: an accepted change of level makes the run count."""
        judging.night(store, 1, 1.0)
        lying = replace(judging.judged(store, 2, 9.0), trusted=True, has_error=False)
        run_id = post(client, lying, trusting).json()["run_id"]
        assert store.start_epoch(judging.IDENTITY, from_run=run_id, reason="r", actor="a").runs == (run_id,)

    def test_a_held_back_run_is_no_part_of_any_anchor(self, client, store, judging, bearer):
        """Neither now nor once: nothing is lost when it does not count."""
        post(client, judging.judged(store, 1, 1.0), bearer("write"))
        key = judging.spec().key
        assert store.read_history(judging.IDENTITY, [key], 20, 20, None).of(key).anchor_ever == 0


class TestOnce:
    def test_the_same_run_again(self, client, store, judging, trusting):
        """200 and the run of then; nothing is written."""
        run = judging.judged(store, 1, 1.0)
        first, again = post(client, run, trusting), post(client, run, trusting)
        assert (first.status_code, again.status_code) == (201, 200)
        assert again.json() == first.json() | {"repeat": True}
        assert len(store.list_runs("default", RunFilter())) == 1

    def test_another_run_under_the_same_key(self, client, store, judging, trusting):
        """409 naming the stored one."""
        run_id = post(client, judging.judged(store, 1, 1.0), trusting).json()["run_id"]
        answer = post(client, judging.judged(store, 1, 1.05), trusting)
        assert answer.status_code == 409
        assert run_id in answer.json()["detail"]

    def test_the_key_of_the_header(self, client, trusting):
        """Instead of the default; the body may hold it as well, but no other."""
        local = plain(provenance={})
        assert "idempotency key" in client.post("/v1/runs", json=local, headers=trusting).json()["detail"]
        keyed = trusting | {"Idempotency-Key": "k-1"}
        assert [client.post("/v1/runs", json=local, headers=keyed).status_code for _ in range(2)] == [201, 200]
        assert client.post("/v1/runs", json=local | {"idempotency_key": "k-1"}, headers=trusting).status_code == 200
        differing = client.post("/v1/runs", json=local | {"idempotency_key": "k-2"}, headers=keyed)
        assert (differing.status_code, "differ" in differing.json()["detail"]) == (422, True)


class TestClaims:
    """Of an identity token: what it says of the job is not the client's to say."""

    @pytest.fixture
    def claimed(self, tmp_path, make_client):
        caller = Caller("default", "write", "nightly of main", may_trust=True, claims=CLAIMS)
        return make_client(ServiceSettings(f"sqlite:///{tmp_path}/c.db", verify_identity_token=lambda _: caller))

    def test_they_complete_what_the_body_says(self, claimed):
        """CI run, attempt, event, ref and commit are the token's, and the run counts."""
        client, store, headers = claimed
        client.post("/v1/runs", json=plain(provenance={"tested_sha": SHA, "host": "h"}), headers=headers)
        (run,) = store.list_runs("default", RunFilter())
        assert run.provenance == replace(CLAIMS, tested_sha=SHA, host="h")
        assert run.trusted

    @pytest.mark.parametrize(
        "said",
        [{"ci_run_id": 78}, {"ci_run_attempt": 2}, {"event": "push"}, {"ref": "refs/heads/x"}, {"ci_sha": OTHER_SHA}],
    )
    def test_a_body_that_contradicts(self, claimed, said):
        """Refused, naming both; nothing is written."""
        client, store, headers = claimed
        answer = client.post("/v1/runs", json=plain(provenance=said | {"tested_sha": SHA}), headers=headers)
        assert (answer.status_code, next(iter(said)) in answer.json()["detail"]) == (403, True)
        assert store.list_runs("default", RunFilter()) == []

    @pytest.mark.parametrize("tested", [OTHER_SHA, None])
    def test_another_commit_was_tested(self, claimed, tested):
        """Stored, untrusted: the token vouches for its own commit alone."""
        client, _, headers = claimed
        answer = client.post("/v1/runs", json=plain(provenance={"tested_sha": tested}), headers=headers).json()
        assert (answer["trusted"], answer["gate_trusted"]) == (False, True)
        assert f"is not the commit of the identity token, {SHA}" in answer["untrusted_reason"]


class TestRefused:
    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"series": {"test_path": "t.py", "backend": "cpu"}}, "body.series.suite: Field required"),
            ({"created_at": "yesterday"}, "created_at"),
            ({"created_at": "2026-01-31T02:00:00"}, "no time zone"),
            ({"created_at": "0001-01-01T00:00:00+23:00"}, "no time, or has no time zone"),
            ({"created_at": 1}, "1 is no time, or has no time zone"),
            ({"created_at": "2999-01-01T00:00:00Z"}, "more than a day ahead"),
            ({"trusted": 1}, "trusted"),
            ({"surprise": 1}, "surprise"),
            ({"provenance": {"ci_run_id": True}}, "ci_run_id"),
            ({"provenance": {"ci_run_id": 2**63}}, "ci_run_id"),
            ({"verdict": {"schema": 2}}, "verdict of schema 2"),
            ({"verdict": {"schema": 1}}, "not a verdict"),
            ({"series_values": [{}]}, "series_values.0"),
        ],
    )
    def test_a_body_that_is_not_one(self, client, trusting, changes, words):
        """422 with the place and the fault."""
        answer = client.post("/v1/runs", json=plain(**changes), headers=trusting)
        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
        assert words in answer.json()["detail"]

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"steps_key": "nonsense"}, "literals as JSON"),
            ({"constraint_key": '{"rel_up": 1}'}, "band of zero"),
            ({"steps": [1, 0]}, "do not ascend"),
            ({"steps": [0]}, "1 steps but 2 values"),
            ({"steps": [0, 2**63]}, "steps.1"),
            ({"values": [True, 1.0]}, "values.0"),
            ({"points": -1}, "points"),
            ({"metric_key": "a\0b"}, "NUL"),
        ],
    )
    def test_values_that_are_none(self, client, trusting, changes, words):
        """422, and nothing is stored."""
        (values,) = plain()["series_values"]
        answer = client.post("/v1/runs", json=plain(series_values=[values | changes]), headers=trusting)
        assert (answer.status_code, words in answer.json()["detail"]) == (422, True), answer.text

    @pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
    def test_numbers_that_json_has_not(self, client, trusting, number):
        """NaN and infinities are 422, never 500."""
        body = orjson.dumps(plain()).replace(b"1.0", number.encode())
        answer = client.post("/v1/runs", content=body, headers=trusting | {"Content-Type": "application/json"})
        assert answer.status_code == 422

    @pytest.mark.parametrize(
        ("change", "value"),
        [
            ("policy", {"history": "20"}),
            ("policy", {"history": 0}),
            ("policy", {"profile": "lax"}),
            ("policy", {"unknown": 1}),
            ("specs", [1]),
            ("specs", {"a": 1}),
            ("coordinates", [[]]),
            ("warnings", [{"kind": 1, "text": "t"}]),
            ("verdict", "fine"),
            ("mode", None),
            ("run_lists", []),
        ],
    )
    def test_a_verdict_with_a_value_of_another_kind(self, client, store, judging, trusting, change, value):
        """It would trip whoever judges the run again later."""
        run = judging.judged(store, 1, 1.0)
        answer = post(client, replace(run, verdict=run.verdict | {change: value}), trusting)
        assert (answer.status_code, "verdict" in answer.json()["detail"]) == (422, True), answer.text

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("points", "3"),
            ("points", 4),
            ("limits", {"min": "0"}),
            ("drift_checks", ["none"]),
            ("drift_checks", 1),
            ("expect_points", -1),
            ("line", "1"),
            ("steps_key", "[" * 5000),
            ("checks", {"selection": {"status": "error", "reason": "", "problems": [1]}}),
            ("checks", {"selection": {"status": "worst", "reason": ""}}),
            ("checks", []),
        ],
    )
    def test_a_verdict_with_a_spec_of_another_kind(self, client, store, judging, trusting, field, value):
        """Each field of a declaration is what it must be."""
        run = judging.judged(store, 1, 1.0)
        (spec,) = run.verdict["specs"]
        answer = post(client, replace(run, verdict=run.verdict | {"specs": [spec | {field: value}]}), trusting)
        assert answer.status_code == 422, answer.text

    def test_the_verdict_of_another_series(self, client, store, judging, trusting):
        """A verdict speaks of its own run."""
        run = judging.judged(store, 1, 1.0)
        other = replace(run, identity=replace(run.identity, suite="other"))
        assert "it is about" in post(client, other, trusting).json()["detail"]

    def test_too_many_values(self, client, trusting):
        """Of all gate specs together, told with both numbers."""
        steps = list(range(MAX_VALUES // 2 + 1))
        (values,) = plain()["series_values"]
        many = [
            values | {"metric_key": name, "steps": steps, "values": [0] * len(steps), "points": len(steps)}
            for name in ("a", "b")
        ]
        answer = client.post("/v1/runs", json=plain(series_values=many), headers=trusting)
        assert answer.json()["detail"] == f"{MAX_VALUES + 2} values; one run may have {MAX_VALUES}"

    @pytest.mark.parametrize(
        ("content", "kind", "status"),
        [
            (b"", "application/json", 422),
            (b"[", "application/json", 422),
            (b"null", "application/json", 422),
            (b"[" * 10_000 + b"]" * 10_000, "application/json", 422),
            (b'{"verdict":' + b'{"a":' * 600 + b"1" + b"}" * 601, "application/json", 422),
            (b"\xff\xfe", "application/json", 422),
            (b"{}", "text/plain", 415),
            (b"a=1", "application/x-www-form-urlencoded", 415),
            (b"{}", "", 415),
        ],
    )
    def test_what_is_no_json_object(self, client, trusting, content, kind, status):
        """One shape of refusal, whatever was sent."""
        answer = client.post("/v1/runs", content=content, headers=trusting | {"Content-Type": kind})
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")

    def test_another_project(self, client, trusting):
        """In the body as in the query: it does not exist for this token."""
        series = plain()["series"] | {"project": "theirs"}
        assert client.post("/v1/runs", json=plain(series=series), headers=trusting).status_code == 404


KEYS = st.builds(SpecKey, st.text(max_size=3), st.just('"all"'), st.just(WIDE))
NUMBERS = st.none() | st.integers(0, 2**63 - 1)
TEXTS = st.none() | st.text(max_size=5)


@st.composite
def series_values(draw):
    by_step = draw(st.dictionaries(st.integers(-1, 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)))
    steps = tuple(sorted(by_step))
    values = tuple(by_step[step] for step in steps)
    return SeriesValues(draw(KEYS), steps, values, draw(st.booleans()), len(steps), draw(NUMBERS))


RUNS = st.builds(
    NewRun,
    identity=st.builds(SeriesIdentity, st.just("p"), st.text(), st.text(), st.text()),
    created_at=st.datetimes(timezones=st.timezones(), allow_imaginary=False).filter(lambda at: 1 < at.year < 9999),
    trusted=st.booleans(),
    has_error=st.booleans(),
    series=st.lists(series_values(), max_size=3).map(tuple),
    provenance=st.builds(
        Provenance,
        tested_sha=TEXTS,
        ci_run_id=NUMBERS,
        seed=st.none() | st.integers(-(2**63) + 1, 2**63 - 1),
        packages=st.dictionaries(st.text(max_size=3), st.text(max_size=3), max_size=2),
        fork=st.none() | st.booleans(),
    ),
    verdict=st.dictionaries(st.text(max_size=3), st.integers(-5, 5), max_size=2),
    idempotency_key=TEXTS,
    epochs=st.none() | st.dictionaries(st.text(max_size=3), TEXTS, max_size=2),
    beside_others=st.booleans(),
)


@given(RUNS)
def test_a_run_comes_through_exactly(run):
    """What the client writes is what the service reads: every field, every bit of every value."""
    body = RunBody.model_validate(orjson.loads(orjson.dumps(new_run_json(run))))
    assert repr(body.new_run("p")) == repr(replace(run, created_at=body.new_run("p").created_at))
    assert body.new_run("p").created_at == run.created_at.astimezone(UTC)  # in its own zone an hour may come twice

"""Identity tokens: only a sound one counts, and only what it says to the letter lets its job in."""

import base64
import hmac
import json
import time

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA256
from hypothesis import given, settings
from hypothesis import strategies as st
from identity_issuer import AUDIENCE, CLAIMS, OTHER_SHA, PINNED, SHA, key
from joserfc import jwt
from joserfc.jwk import RSAKey

from api.callers import Caller
from api.jwks import IssuerKeys
from api.oidc import LEEWAY_S, IdentityRule, IdentityTokens, Issuer
from api.problems import Refused
from driftgate.config.service import PROVIDERS
from gate.provenance import Provenance


def encoded(value):
    return in_base64(json.dumps(value).encode())


def in_base64(content):
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=10), st.just("RS256"))
json_parts = st.dictionaries(st.sampled_from(["alg", "kid", "iss", "aud", "exp", "crit", "b64"]), scalars).map(encoded)
GITHUB = PROVIDERS["github"]
NIGHTLY = IdentityRule("nightly", "miles", "write", PINNED, frozenset({"schedule"}), "nightly")
READERS = IdentityRule("readers", "miles", "read", {"repository_id": "74"})
VOUCHED = Provenance(
    ci_sha=SHA, ci_run_id=4711, ci_run_attempt=2, event="schedule", ref="refs/heads/main", cadence="nightly", fork=False
)
EVENTS = (
    "branch_protection_rule", "check_run", "check_suite", "create", "delete", "deployment", "deployment_status",
    "discussion", "discussion_comment", "dynamic", "fork", "gollum", "image_version", "issue_comment", "issues", "label",
    "merge_group", "milestone", "page_build", "project", "project_card", "project_column", "public", "pull_request",
    "pull_request_comment", "pull_request_review", "pull_request_review_comment", "pull_request_target", "push",
    "registry_package", "release", "repository_dispatch", "schedule", "status", "watch", "workflow_call",
    "workflow_dispatch", "workflow_run",
)  # fmt: skip
"""Every event that GitHub starts a workflow for."""


@pytest.fixture
def verifier(issuer):
    """Of a service with the given rules."""

    def make(*rules, provider=GITHUB, now=time.time):
        keys = IssuerKeys(issuer.keys_url, allow_http=True)
        known = Issuer(
            issuer.url, AUDIENCE, keys, provider.event_claim, provider.provenance, provider.actor, rules or (NIGHTLY,)
        )
        return IdentityTokens([known], now=now)

    return make


def refusal(verify, token):
    """Status and words; nothing of the token is repeated."""
    with pytest.raises(Refused) as caught:
        verify(token)
    refused = caught.value
    assert (refused.headers == {"WWW-Authenticate": "Bearer"}) == (refused.status == 401)
    assert len(str(refused)) < 2500
    assert "eyJ" not in str(refused)
    return int(refused.status), str(refused)


def test_a_good_token_is_its_job(issuer, verifier):
    """Project, scope and cadence of the rule; the run from the claims; a name for the trust log."""
    assert verifier()(issuer.token()) == Caller(
        project="miles",
        scope="write",
        actor="oidc:octo/repo@octo/repo/.github/workflows/nightly.yml@refs/heads/main#4711",
        may_trust=True,
        claims=VOUCHED,
    )


def test_a_reading_rule_gives_no_more(issuer, verifier):
    """What a pull request of the same repository may do."""
    caller = verifier(NIGHTLY, READERS)(issuer.token(event_name="pull_request", ref="refs/pull/7/merge"))
    assert (caller.project, caller.scope, caller.may_trust) == ("miles", "read", False)
    assert (caller.claims.event, caller.claims.cadence, caller.claims.fork) == ("pull_request", None, None)


class TestSoundness:
    def test_another_key_under_a_known_name(self, issuer, verifier):
        """The name of a key is nothing without the key."""
        forged = jwt.encode({"alg": "RS256", "kid": "first"}, issuer.claims(), key("forger"))
        assert refusal(verifier(), forged) == (401, "identity token: its signature does not hold")

    def test_an_unknown_key(self, issuer, verifier):
        """Also one that the token brings along."""
        brought = {"jwk": key("forger").as_dict(private=False), "jku": f"{issuer.url}/mine"}
        for header in ({}, brought):
            assert refusal(verifier(), issuer.token("forger", header)) == (
                401,
                "identity token: its issuer has no such key",
            )

    def test_a_changed_claim(self, issuer, verifier):
        """The signature covers every letter."""
        header, _, signature = issuer.token().split(".")
        assert refusal(verifier(), f"{header}.{encoded(issuer.claims(run_id='1'))}.{signature}")[0] == 401

    @pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "", None, 1, ["RS256"], {"RS256": 1}])
    def test_an_algorithm_that_is_none(self, issuer, verifier, algorithm):
        """Nobody signed it."""
        for signature in ("", "AAAA"):
            token = f"{encoded({'alg': algorithm, 'kid': 'first'})}.{encoded(issuer.claims())}.{signature}"
            status, words = refusal(verifier(), token)
            assert (status, "only RS256 is accepted" in words) == (401, True)

    @pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
    def test_the_public_key_as_a_shared_secret(self, issuer, verifier, algorithm):
        """The classic: whoever knows the public key could sign."""
        public, signed = key("first"), f"{encoded({'alg': algorithm, 'kid': 'first'})}.{encoded(issuer.claims())}"
        row = json.dumps(public.as_dict(private=False)).encode()
        for secret in (public.as_pem(private=False), public.as_der(private=False), row, b""):
            digest = hmac.digest(secret, signed.encode(), algorithm.replace("HS", "sha"))
            assert refusal(verifier(), f"{signed}.{in_base64(digest)}") == (
                401,
                f"identity token: signed with '{algorithm}'; only RS256 is accepted",
            )

    @pytest.mark.parametrize("algorithm", ["RS384", "RS512", "PS256"])
    def test_other_algorithms_of_the_same_key(self, issuer, verifier, algorithm):
        """The list of accepted ones is a list."""
        same = RSAKey.import_key(key("first").as_pem(private=True))
        token = jwt.encode({"alg": algorithm, "kid": "first"}, issuer.claims(), same, algorithms=[algorithm])
        assert refusal(verifier(), token)[0] == 401

    @pytest.mark.parametrize(
        "header",
        [
            {"kid": None},
            {"kid": ""},
            {"kid": 7},
            {"kid": ["first"]},
            {"kid": "x" * 201},
            {"crit": ["exp"]},
            {"crit": ["b64"], "b64": False},
            {"unheard_of": 1},
        ],
    )
    def test_a_header_that_is_odd(self, issuer, verifier, header):
        """Without the id of a key, or with demands that nobody here meets."""
        head = encoded({"alg": "RS256", "kid": "first"} | header)
        signed = resigned(head, encoded(issuer.claims()))
        assert refusal(verifier(), signed)[0] == 401

    @pytest.mark.parametrize(
        ("changed", "told"),
        [
            ({"aud": "https://other.example"}, "it is for 'https://other.example'; request one for 'https://gate.exa"),
            ({"aud": [AUDIENCE, "https://other.example"]}, "it is for ['https://gate.example', 'https://other"),
            ({"aud": []}, "claim aud is missing or of a wrong kind"),
            ({"aud": None}, "claim aud is missing or of a wrong kind"),
            ({"aud": 3}, "claim aud is missing or of a wrong kind"),
            ({"aud": AUDIENCE + "/"}, "it is for 'https://gate.example/'"),
            ({"aud": AUDIENCE.upper()}, "it is for 'HTTPS://GATE.EXAMPLE'"),
            ({"iss": "https://token.actions.githubusercontent.com"}, "nobody here believes its issuer 'https://token"),
            ({"iss": None}, "nobody here believes its issuer None"),
            ({"iss": ["a"]}, "nobody here believes its issuer ['a']"),
            ({"exp": None}, "it has expired or does not say when"),
            ({"exp": "tomorrow"}, "it has expired or does not say when"),
            ({"exp": True}, "it has expired or does not say when"),
            ({"iat": None}, "it was issued in the future or does not say when"),
            ({"iat": "now"}, "it was issued in the future or does not say when"),
            ({"nbf": "now"}, "it is not valid yet"),
        ],
        ids=str,
    )
    def test_for_whom_and_by_whom(self, issuer, verifier, changed, told):
        """To the letter, and for nobody else besides."""
        status, words = refusal(verifier(), issuer.token(**changed))
        assert (status, told in words) == (401, True), words

    def test_an_issuer_that_only_looks_alike(self, issuer, verifier):
        """Exactly the configured one."""
        for iss in (issuer.url + "/", issuer.url.upper(), issuer.url + "/octo"):
            assert refusal(verifier(), issuer.token(iss=iss))[0] == 401

    def test_one_audience_in_a_list(self, issuer, verifier):
        """Is the same as without the list."""
        assert verifier()(issuer.token(aud=[AUDIENCE])).scope == "write"

    @pytest.mark.parametrize(
        ("claim", "seconds", "holds"),
        [
            ("exp", -LEEWAY_S, False),
            ("exp", -LEEWAY_S + 1, True),
            ("nbf", LEEWAY_S, True),
            ("nbf", LEEWAY_S + 1, False),
            ("iat", LEEWAY_S, True),
            ("iat", LEEWAY_S + 1, False),
        ],
    )
    def test_times(self, issuer, verifier, claim, seconds, holds):
        """Clocks may differ by half a minute, no more."""
        now = 1_800_000_000
        times = {"iat": now - 600, "nbf": now - 600, "exp": now + 300}
        token = issuer.token(**times | {claim: now + seconds})
        verify = verifier(now=lambda: now + 0.9)
        if holds:
            assert verify(token).scope == "write"
        else:
            assert refusal(verify, token)[0] == 401

    def test_one_that_ended_before_it_began(self, issuer, verifier):
        """No issuer gives such a token."""
        now = int(time.time())
        token = issuer.token(iat=now + 20, exp=now + 10)
        assert refusal(verifier(), token) == (401, "identity token: it ended before it began")

    @pytest.mark.parametrize(
        "token",
        [
            "", "a", ".", "..", "a.b", "a.b.c", "a.b.c.d", "a.b.c.d.e", "eyJhbGciOiJSUzI1NiJ9..", "\0.\0.\0", "é.é.é",
            "e30.e30.", "bnVsbA.bnVsbA.", "W10.W10.", "/" * 12_000, "." * 12_000, "eyJ" * 4000,
        ],
    )  # fmt: skip
    def test_garbage(self, verifier, issuer, token):
        """Is refused before anything is fetched for it."""
        assert refusal(verifier(), token)[0] == 401
        assert issuer.fetches == 0

    def test_a_giant_or_deep_one(self, verifier, issuer):
        """Signed or not."""
        assert refusal(verifier(), issuer.token(padding="x" * 200_000))[0] == 401
        deep = in_base64(b'{"iss":' + b"[" * 5000 + b"]" * 5000 + b"}")
        assert refusal(verifier(), resigned(encoded({"alg": "RS256", "kid": "first"}), deep))[0] == 401

    def test_while_the_keys_cannot_be_had(self, verifier, issuer):
        """Nobody is let in, and the job is asked to come again."""
        issuer.status = 500
        assert refusal(verifier(), issuer.token())[0] == 503

    def test_after_a_rotation(self, verifier, issuer):
        """A token of either key counts while both are listed."""
        issuer.served = ["first", "second"]
        verify = verifier()
        assert {verify(issuer.token(kid)).scope for kid in ("first", "second")} == {"write"}

    def test_no_letter_of_what_is_signed_can_change(self, verifier, issuer):
        """Whichever it is, and whatever it becomes."""
        verify, token = verifier(), issuer.token()
        end = token.rindex(".")

        @given(st.integers(0, end - 1), st.sampled_from("AZaz09-_.{\u00e9"))
        @settings(max_examples=60)
        def holds(place, letter):
            changed = f"{token[:place]}{letter}{token[place + 1 :]}"
            if changed != token:
                assert refusal(verify, changed)[0] == 401

        holds()
        assert verify(token).scope == "write"

    def test_no_text_is_anything_but_refused(self, verifier):
        """Whatever it decodes to, no error of ours comes out."""
        verify = verifier()
        part = st.one_of(st.text(max_size=40), st.binary(max_size=40).map(in_base64), json_parts)

        @given(st.lists(part, max_size=4))
        @settings(max_examples=150)
        def holds(parts):
            assert refusal(verify, ".".join(parts))[0] == 401

        holds()


class TestRules:
    @pytest.mark.parametrize("event", EVENTS)
    def test_only_the_listed_events_write(self, issuer, verifier, event):
        """All others of the same workflow, branch and repository read at most, and nothing where no rule says so."""
        token = issuer.token(event_name=event)
        assert verifier(NIGHTLY, READERS)(token).scope == ("write" if event == "schedule" else "read")
        if event != "schedule":
            assert refusal(verifier(NIGHTLY), token)[0] == 403

    @pytest.mark.parametrize(
        "changed",
        [
            {"repository_id": "75"},
            {"repository_id": "75", "repository": "octo/repo"},
            {"repository_owner_id": "66"},
            {"repository_id": None},
            {"repository_id": ""},
            {"repository_id": ["74"]},
            {"repository_id": "074"},
            {"workflow_ref": "octo/repo/.github/workflows/other.yml@refs/heads/main"},
            {"workflow_ref": "octo/repo/.github/workflows/nightly.yml@refs/heads/other"},
            {"workflow_ref": None},
            {"ref": "refs/heads/renamed"},
            {"ref": "refs/heads/main2"},
            {"ref": "refs/tags/main"},
            {"ref": "main"},
            {"event_name": None},
            {"event_name": "Schedule"},
            {"event_name": ["schedule"]},
        ],
        ids=str,
    )
    def test_every_pinned_claim_counts(self, issuer, verifier, changed):
        """Foreign repository, same name with another id, other owner, other workflow, renamed branch, a tag."""
        status, words = refusal(verifier(NIGHTLY), issuer.token(**changed))
        assert (status, "no rule of this service lets in oidc:" in words) == (403, True)

    def test_the_subject_is_nothing(self, issuer, verifier):
        """Whatever it says: it neither opens nor closes a door."""
        assert verifier()(issuer.token(sub=None)).scope == "write"
        forged = issuer.token(sub=CLAIMS["sub"], repository_id="75")
        assert refusal(verifier(), forged)[0] == 403

    def test_a_rule_that_writes_goes_before_one_that_reads(self, issuer, verifier):
        """In whatever order they stand; among equals the first."""
        others = IdentityRule("others", "others", "read", {"repository_owner_id": "65"})
        assert verifier(READERS, NIGHTLY)(issuer.token()).scope == "write"
        read = issuer.token(event_name="push")
        assert verifier(others, READERS, NIGHTLY)(read).project == "others"
        assert verifier(NIGHTLY, READERS, others)(read).project == "miles"

    def test_numbers_and_flags_compare_as_they_are_written(self, issuer, verifier):
        """Should an issuer write a number as one."""
        rule = IdentityRule("r", "miles", "read", {"repository_id": "74", "protected": "true"})
        assert verifier(rule)(issuer.token(repository_id=74, protected=True)).scope == "read"
        assert refusal(verifier(rule), issuer.token(repository_id=74, protected=1))[0] == 403

    def test_the_log_tells_what_each_rule_misses(self, issuer, verifier, caplog):
        """For whoever wonders at 7 a.m. why the night was not written."""
        caplog.set_level("INFO", "driftgate.api.oidc")
        verifier(NIGHTLY, READERS)(issuer.token(event_name="workflow_dispatch"))
        assert "rule readers; not nightly: event_name is 'workflow_dispatch'" in caplog.text
        refusal(verifier(NIGHTLY), issuer.token(ref="refs/heads/renamed"))
        assert "no rule; nightly: ref is 'refs/heads/renamed'" in caplog.text

    def test_hostile_claims_stay_on_their_line(self, issuer, verifier, caplog):
        """They end up in logs and in the trust log."""
        token = issuer.token(
            repository="::error::\n${jndi:ldap://x}\x1b[2J", workflow_ref="x" * 5000, run_id="9" * 5000
        )
        _, words = refusal(verifier(), token)
        assert words.isprintable()
        assert all(record.getMessage().isprintable() for record in caplog.records)

    @pytest.mark.parametrize(
        "changed",
        [
            {"run_id": "x"},
            {"run_id": "-1"},
            {"run_id": "²"},
            {"run_id": "9" * 19},
            {"run_id": None},
            {"run_attempt": ""},
            {"sha": "abc"},
            {"sha": None},
            {"sha": "g" * 40},
        ],
        ids=str,
    )
    def test_what_is_not_vouched_for_lets_nobody_in(self, issuer, verifier, changed):
        """Or else the body could say what it likes."""
        status, words = refusal(verifier(), issuer.token(**changed))
        assert (status, f"identity token: claim {next(iter(changed))} is" in words) == (401, True)

    def test_a_commit_is_kept_in_lower_case(self, issuer, verifier):
        """As the harness writes it."""
        assert verifier()(issuer.token(sha=OTHER_SHA.upper())).claims.ci_sha == OTHER_SHA


def test_gitlab(issuer, verifier):
    """The same rules by the names that GitLab gives its claims."""
    pinned = {
        "ci_config_ref_uri": "gitlab.example/octo/repo//.gitlab-ci.yml@refs/heads/main",
        "ref_path": "refs/heads/main",
        "ref_protected": "true",
        "project_id": "22",
        "namespace_id": "72",
    }
    job = {"pipeline_source": "schedule", "pipeline_id": "574", "job_id": "302", "ref": "main", "sha": SHA}
    rule = IdentityRule("nightly", "miles", "write", pinned, frozenset({"schedule"}))
    verify = verifier(rule, provider=PROVIDERS["gitlab"])
    claims = dict.fromkeys(CLAIMS) | pinned | job | {"project_path": "octo/repo"}
    assert verify(issuer.token(**claims)) == Caller(
        project="miles",
        scope="write",
        actor="oidc:octo/repo@gitlab.example/octo/repo//.gitlab-ci.yml@refs/heads/main#574",
        may_trust=True,
        claims=Provenance(ci_sha=SHA, ci_run_id=574, ci_run_attempt=302, event="schedule", ref="main", fork=False),
    )
    for changed in ({"pipeline_source": "merge_request_event"}, {"ref_protected": "false"}, {"project_id": "23"}):
        assert refusal(verify, issuer.token(**claims | changed))[0] == 403


def resigned(header, payload):
    """A token with any header and payload, signed by the issuer's own key."""
    signature = key("first").private_key.sign(f"{header}.{payload}".encode(), PKCS1v15(), SHA256())
    return f"{header}.{payload}.{in_base64(signature)}"


def test_what_is_signed_by_hand_is_signed():
    """Negative control of the helper: joserfc takes it."""
    token = resigned(encoded({"alg": "RS256", "kid": "first"}), encoded({"a": 1}))
    assert jwt.decode(token, key("first"), algorithms=["RS256"]).claims == {"a": 1}


def test_depth(issuer, verifier):
    """Refused in words, though the issuer itself signed it."""
    deep = in_base64(
        json.dumps(issuer.claims() | {"x": 0}).replace('"x": 0', f'"x": {"[" * 1020}{"]" * 1020}').encode()
    )
    status, _ = refusal(verifier(), resigned(encoded({"alg": "RS256", "kid": "first"}), deep))
    assert status == 401

"""What an identity token vouches for, against what a body says."""

from dataclasses import fields, replace

import pytest

from api.callers import Caller
from api.claims import VOUCHED, held_back, reconcile, text_of
from api.problems import Refused
from gate.provenance import Provenance

SHA, OTHER = "ab" * 20, "cd" * 20
CLAIMS = Provenance(
    ci_sha=SHA, ci_run_id=7, ci_run_attempt=1, event="schedule", ref="refs/heads/main", cadence="nightly", fork=False
)
SAID = Provenance(tested_sha=SHA, shard="0/2", host="h", packages={"torch": "2"}, pr=None, test_attempt=1)
OTHER_VALUES = {
    "ci_sha": OTHER,
    "ci_run_id": 8,
    "ci_run_attempt": 2,
    "event": "push",
    "ref": "refs/heads/other",
    "cadence": "weekly",
    "fork": True,
}
JOB = Caller("p", "write", "oidc:r@w#7", may_trust=True, claims=CLAIMS)


def test_without_claims_a_body_says_what_it_knows():
    """A static token vouches for nothing."""
    assert reconcile(SAID, None) is SAID


def test_claims_complete_a_body_and_leave_it_the_rest():
    """What nobody vouches for stays as it was said."""
    assert reconcile(SAID, CLAIMS) == replace(SAID, **{name: getattr(CLAIMS, name) for name in VOUCHED})


def test_a_body_that_agrees():
    """Is stored as it is; letters of a commit may be large."""
    said = replace(SAID, **{name: getattr(CLAIMS, name) for name in VOUCHED})
    assert reconcile(said, CLAIMS) == said
    assert reconcile(replace(said, ci_sha=SHA.upper()), CLAIMS) == said


@pytest.mark.parametrize("name", VOUCHED)
def test_a_body_that_contradicts(name):
    """Each fact, by name."""
    said = replace(SAID, **{name: OTHER_VALUES[name]})
    with pytest.raises(Refused, match=f"provenance.{name} is .*, but the identity token says") as caught:
        reconcile(said, CLAIMS)
    assert caught.value.status == 403


def test_all_contradictions_come_at_once():
    """And hostile text stays on its line."""
    with pytest.raises(Refused) as caught:
        reconcile(replace(SAID, ref="\n::error::" + "x" * 9000, event="push"), CLAIMS)
    words = str(caught.value)
    assert ("provenance.ref" in words, "provenance.event" in words) == (True, True)
    assert words.isprintable()
    assert len(words) < 400


def test_what_the_claims_leave_open_the_body_says():
    """A rule without a cadence leaves it to the job."""
    assert reconcile(replace(SAID, cadence="weekly"), replace(CLAIMS, cadence=None)).cadence == "weekly"


def test_every_other_value_is_another_one():
    """Negative control of the table, and every vouched fact is in it."""
    assert set(OTHER_VALUES) == set(VOUCHED) <= {field.name for field in fields(Provenance)}
    assert all(getattr(CLAIMS, name) not in (None, other) for name, other in OTHER_VALUES.items())


@pytest.mark.parametrize(
    ("caller", "tested", "reason"),
    [
        (JOB, SHA, None),
        (JOB, SHA.upper(), None),
        (JOB, OTHER, f"tested_sha {OTHER} is not the commit of the identity token, {SHA}"),
        (JOB, SHA[:12], f"tested_sha {SHA[:12]} is not the commit"),
        (JOB, None, "tested_sha unknown is not the commit"),
        (replace(JOB, claims=Provenance()), SHA, "is not the commit of the identity token, unknown"),
        (
            replace(JOB, claims=Provenance()),
            None,
            "tested_sha unknown is not the commit of the identity token, unknown",
        ),
        (replace(JOB, may_trust=False), SHA, "written by oidc:r@w#7, which may not trust"),
        (Caller("p", "write", "token a"), SHA, "written by token a, which may not trust"),
        (Caller("p", "write", "token a", may_trust=True), OTHER, None),
    ],
)
def test_what_is_held_back(caller, tested, reason):
    """With an identity token only the commit that its job was started for enters a baseline."""
    found = held_back(replace(SAID, tested_sha=tested), caller)
    assert (found is None) == (reason is None)
    assert reason is None or reason in found


@pytest.mark.parametrize(
    ("value", "text"),
    [("74", "74"), (74, "74"), (True, "true"), (False, "false"), (1.0, None), (None, None), ([], None), ({}, None)],
)
def test_claims_as_text(value, text):
    """Nothing but text, numbers and flags compares to a rule."""
    assert text_of(value) == text

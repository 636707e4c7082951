"""``driftgate token``: made once, listed without its secret, revoked."""

import re
from datetime import datetime, timedelta

import pytest

SECRET = re.compile(r"dg_[A-Za-z0-9_-]{43}")


def test_create_prints_the_secret_once(person):
    """On stdout alone, so that a pipe takes it; what it allows and for how long stands on stderr."""
    answer = person.call("token", "create", "nightly", "--scope", "write")
    assert SECRET.fullmatch(answer.out.strip())
    token_id = person.json("token", "list")["tokens"][0]["id"]
    assert answer.lines[0].startswith(f"token {token_id} of project default, valid until ")
    assert answer.lines[0].endswith("scope write, its runs stay untrusted")
    assert answer.lines[1] == "keep it now: it is not shown again"
    assert answer.out.strip() not in person.call("token", "list").out + str(person.json("token", "list"))


@pytest.mark.parametrize(
    ("words", "told"),
    [("--scope read", "scope read"), ("--scope write --may-trust", "scope write, its runs may enter baselines")],
)
def test_create_says_what_it_allows(person, words, told):
    """In one line, the most dangerous right included."""
    assert person.call("token", "create", "x", *words.split()).lines[0].endswith(f"; {told}")


def test_create_for_machines(person):
    """Id, name and secret, and nothing else."""
    made = person.json("token", "create", "ana's laptop", "--scope", "operate")
    assert set(made) == {"id", "name", "token"}
    assert made["name"] == "ana's laptop"
    assert SECRET.fullmatch(made["token"])


@pytest.mark.parametrize(("expires", "hours"), [((), 90 * 24), (("--expires", "12h"), 12), (("--expires", "30d"), 720)])
def test_lifetimes(person, expires, hours):
    """In days or hours, 90 days unless said."""
    person.json("token", "create", "x", "--scope", "read", *expires)
    (token,) = person.json("token", "list")["tokens"]
    lifetime = datetime.fromisoformat(token["expires_at"]) - datetime.fromisoformat(token["created_at"])
    assert lifetime == timedelta(hours=hours)


def test_the_list_tells_all_but_the_secret(person):
    """Newest first, with states, for people and machines; another project has its own."""
    first = person.json("token", "create", "a", "--scope", "read")["id"]
    second = person.json("token", "create", "b", "--scope", "write", "--may-trust")["id"]
    person.call("token", "revoke", first)
    listed = person.json("token", "list")
    assert listed["schema"] == 1
    assert [(one["id"], one["name"], one["scope"], one["may_trust"], one["state"]) for one in listed["tokens"]] == [
        (second, "b", "write", True, "valid"),
        (first, "a", "read", False, "revoked"),
    ]
    rows = person.call("token", "list").out.splitlines()
    assert rows[1].startswith(second)
    assert "write, may trust" in rows[1]
    assert rows[1].endswith("never")
    assert "revoked" in rows[2]
    empty = person.call("token", "list", "--project", "other")
    assert (empty.out, empty.lines) == ("", ["no token has been made for project other"])


def test_revoke(person):
    """Said with its name; a second time it stays revoked since the first."""
    token_id = person.json("token", "create", "a", "--scope", "read")["id"]
    answers = [person.call("token", "revoke", token_id) for _ in range(2)]
    assert answers[0] == answers[1]
    assert answers[0].lines[0].startswith(f"token {token_id} (a) is revoked since ")
    assert person.json("token", "revoke", token_id)["state"] == "revoked"


SCOPE = "--scope", "read"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("create", "x"), "missing option '--scope'; see driftgate token create --help"),
        (("create", "x", "--scope", "wirte"), "no scope is called 'wirte' (did you mean 'write'?); valid: read, write, operate"),
        (("create", "x", *SCOPE, "--may-trust"), "a token with scope read writes no runs that could be trusted; use scope write"),
        (("create", "x", *SCOPE, "--expires", "5w"), "--expires: found '5w'; give a number of days or hours, e.g. 90d or 12h"),
        (("create", "x", *SCOPE, "--expires", "-1d"), "--expires: found '-1d'; give a number of days or hours, e.g. 90d or 12h"),
        (("create", "x", *SCOPE, "--expires", "٣d"), "--expires: found '٣d'; give a number of days or hours, e.g. 90d or 12h"),
        (("create", "x", *SCOPE, "--expires", "0d"), "a token lives for more than nothing and at most 3660 days"),
        (("create", "x", *SCOPE, "--expires", "999999d"), "a token lives for more than nothing and at most 3660 days"),
        (("create", " ", *SCOPE), "name is empty; give one"),
        (("create", "a\nb", *SCOPE), "a token's name is one line of at most 200 characters"),
        (("create", "a" * 201, *SCOPE), "a token's name is one line of at most 200 characters"),
        (("revoke", "typo"), "no token 'typo' in project 'default'; `driftgate token list` shows the ids"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(person, words, told):
    """What was found and what to give instead; nothing on stdout."""
    answer = person.call("token", *words)
    assert (answer.code, answer.out, answer.lines) == (2, "", [f"driftgate: {told}"])


def test_a_secret_given_for_an_id_is_not_repeated(person):
    """It would end up in the log of a CI job."""
    secret = person.json("token", "create", "x", *SCOPE)["token"]
    answer = person.call("token", "revoke", secret)
    assert (answer.code, answer.lines) == (
        2,
        [
            "driftgate: no token 'dg_"
            + secret[3]
            + "[hidden]' in project 'default'; `driftgate token list` shows the ids"
        ],
    )


def test_a_service_makes_no_tokens(person):
    """Whoever holds one could else make more of them; its password is not repeated."""
    answer = person.call("token", "list", "--db", "https://user:hidden@gate.example")
    assert (answer.code, answer.out) == (2, "")
    (line,) = answer.lines
    assert "gate.example is a service; its tokens are made where its database is at hand" in line
    assert "hidden" not in line


def test_another_projects_token_does_not_exist(person):
    """Its id is as unknown as a typo."""
    token_id = person.json("token", "create", "x", *SCOPE, "--project", "other")["id"]
    assert person.call("token", "revoke", token_id).code == 2
    assert person.json("token", "list", "--project", "other")["tokens"][0]["state"] == "valid"

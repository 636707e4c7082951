"""Tokens and sessions: who they let in, for how long, and what of them is stored."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from store.errors import NotFound, StoreUnavailable
from store.opening import open_store
from store.schema import sessions, tokens
from store.secret_text import holds_secret, redacted
from store.tokens import SCOPES, NewToken

NEW = NewToken("default", "nightly", "write", timedelta(days=1), may_trust=True)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Clock:
    """Moves when it is told to."""

    def __init__(self) -> None:
        self.at = NOON

    def __call__(self) -> datetime:
        return self.at


@pytest.fixture
def store(database):
    """Only who has the database itself makes tokens."""
    return database


@pytest.fixture
def clock(store):
    store.tokens.now = store.sessions.now = clock = Clock()
    return clock


def rows_of(store, table):
    return store._connections.read(lambda connection: connection.execute(select(table)).all())


@pytest.mark.usefixtures("clock")
class TestTokens:
    def test_only_its_secret_finds_a_token(self, store):
        """With everything that was said of it."""
        token, secret = store.tokens.create(NEW)
        other, _ = store.tokens.create(NEW)
        found = store.tokens.verify(secret)
        assert (found.token_id, found.project, found.name, found.scope, found.may_trust) == (
            token.token_id,
            "default",
            "nightly",
            "write",
            True,
        )
        assert found.expires_at == NOON + timedelta(days=1)
        assert other.token_id != token.token_id
        for wrong in ("", "dg_", secret[:-1], secret + "a", secret.swapcase(), token.token_id, "dg_\ud800", "dg_\0"):
            assert store.tokens.verify(wrong) is None

    def test_no_secret_is_stored(self, store):
        """Neither it nor a part of it stands in any column."""
        token, secret = store.tokens.create(NEW)
        kept = [secret, store.sessions.start(token), store.sessions.create_login_key("default")]
        stored = repr(rows_of(store, tokens) + rows_of(store, sessions))
        assert not [one for one in kept if one[4:20] in stored]
        assert len({*kept}) == 3
        assert all(map(holds_secret, kept))

    def test_expiry(self, store, clock):
        """Valid until the moment, unknown from it on; the list says so."""
        _, secret = store.tokens.create(NEW)
        clock.at += timedelta(days=1, microseconds=-1)
        assert store.tokens.verify(secret) is not None
        assert store.tokens.any_valid()
        clock.at += timedelta(microseconds=1)
        assert store.tokens.verify(secret) is None
        assert not store.tokens.any_valid()
        assert [one.state(clock.at) for one in store.tokens.of_project("default")] == ["expired"]

    def test_revoking(self, store, clock):
        """At once; another token stays; the first revocation is the one that is told."""
        token, secret = store.tokens.create(NEW)
        _, other = store.tokens.create(NEW)
        assert store.tokens.revoke("default", token.token_id).revoked_at == NOON
        clock.at += timedelta(hours=1)
        assert store.tokens.revoke("default", token.token_id).revoked_at == NOON
        assert store.tokens.verify(secret) is None
        assert store.tokens.verify(other) is not None

    @pytest.mark.parametrize(
        ("project", "token_id"), [("default", "typo"), ("other", None), ("default", "' OR 1=1 --")]
    )
    def test_revoking_what_is_not_there(self, store, project, token_id):
        """Another project's token is as unknown as a typo."""
        token, secret = store.tokens.create(NEW)
        with pytest.raises(NotFound, match="no token"):
            store.tokens.revoke(project, token_id or token.token_id)
        assert store.tokens.verify(secret) is not None

    def test_last_use_is_noted_once_a_minute(self, store, clock):
        """Reads stay reads: in between nothing is written."""
        _, secret = store.tokens.create(NEW)
        seen = []
        for seconds in (0, 59, 1, 30, 31):
            clock.at += timedelta(seconds=seconds)
            store.tokens.verify(secret)
            seen.append((store.tokens.of_project("default")[0].last_used_at - NOON).total_seconds())
        assert seen == [0, 0, 60, 60, 121]

    def test_a_note_that_cannot_be_written_turns_nobody_away(self, store, monkeypatch):
        """A replica, a full disk: whoever holds a token still reads, and waits for the note once a minute at most."""
        _, secret = store.tokens.create(NEW)

        tried = []

        def refuse(work):
            tried.append(work)
            raise StoreUnavailable("read-only")

        monkeypatch.setattr(store._connections, "write", refuse)
        assert [store.tokens.verify(secret).last_used_at for _ in range(3)] == [None] * 3
        assert len(tried) == 1

    def test_of_a_project(self, store, clock):
        """Its own, the newest first."""
        for number, project in enumerate(("a", "b", "a")):
            clock.at += timedelta(seconds=1)
            store.tokens.create(NewToken(project, str(number), "read", timedelta(days=1)))
        assert [one.name for one in store.tokens.of_project("a")] == ["2", "0"]

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"scope": "admin"}, "no scope is called 'admin'"),
            ({"project": ""}, "project is empty"),
            ({"name": "a\0"}, "NUL"),
            ({"name": "a\x1b[31m"}, "one line"),
            ({"scope": "operate"}, "writes no runs"),
            ({"lifetime": timedelta(0)}, "more than nothing"),
            ({"lifetime": timedelta(days=3661)}, "at most 3660 days"),
        ],
    )
    def test_what_cannot_be(self, store, change, told):
        """Nothing is stored."""
        given = {"project": "p", "name": "n", "scope": "write", "lifetime": timedelta(days=1), "may_trust": True}
        with pytest.raises(ValueError, match=told):
            store.tokens.create(NewToken(**(given | change)))
        assert rows_of(store, tokens) == []


@pytest.mark.usefixtures("clock")
class TestSessions:
    @pytest.mark.parametrize("scope", SCOPES)
    def test_of_a_token(self, store, scope):
        """It has the rights of the token, which comes along."""
        token, _ = store.tokens.create(NewToken("p", "n", scope, timedelta(days=9)))
        session = store.sessions.verify(store.sessions.start(token))
        assert (session.project, session.scope, session.token) == ("p", scope, token)
        assert session.expires_at == NOON + timedelta(days=1)

    def test_of_a_login_link(self, store):
        """Each use of the link begins a session of its own, for an operator."""
        key = store.sessions.create_login_key("p")
        first, second = store.sessions.start_by_key(key), store.sessions.start_by_key(key)
        assert first != second
        session = store.sessions.verify(first)
        assert (session.project, session.scope, session.token) == ("p", "operate", None)

    def test_a_secret_of_one_kind_is_nothing_as_another(self, store):
        """A token is no cookie, a link is no session, a cookie is no link."""
        token, secret = store.tokens.create(NEW)
        cookie, key = store.sessions.start(token), store.sessions.create_login_key("p")
        assert [store.sessions.verify(one) for one in (secret, key, "", "dgs_")] == [None] * 4
        assert [store.sessions.start_by_key(one) for one in (secret, cookie, "", "dgl_")] == [None] * 4
        assert [store.tokens.verify(one) for one in (cookie, key)] == [None] * 2

    def test_a_day_is_all(self, store, clock):
        """Of a link and of a session; a link's last session lasts a day, too."""
        token, _ = store.tokens.create(NewToken("p", "n", "read", timedelta(days=9)))
        key, by_token = store.sessions.create_login_key("p"), store.sessions.start(token)
        clock.at += timedelta(days=1, seconds=-1)
        by_key = store.sessions.start_by_key(key)
        assert store.sessions.verify(by_token) is not None
        clock.at += timedelta(seconds=1)
        assert store.sessions.start_by_key(key) is None
        assert store.sessions.verify(by_token) is None
        assert store.sessions.verify(by_key) is not None

    def test_it_ends_with_its_token(self, store, clock):
        """When that is revoked, and when it expires; another token's session stays."""
        made = [store.tokens.create(NewToken("p", "n", "read", timedelta(hours=hours)))[0] for hours in (1, 9, 9)]
        short, revoked, other = map(store.sessions.start, made)
        store.tokens.revoke("p", made[1].token_id)
        clock.at += timedelta(hours=1)
        assert [store.sessions.verify(one) is None for one in (short, revoked, other)] == [True, True, False]
        ended = [row for row in rows_of(store, sessions) if row.ended_at is not None]
        assert [row.token_id for row in ended] == [made[1].token_id]

    def test_begun_while_its_token_is_revoked(self, store):
        """Who was verified a moment before gets nothing out of it."""
        token, _ = store.tokens.create(NEW)
        store.tokens.revoke("default", token.token_id)
        assert store.sessions.verify(store.sessions.start(token)) is None

    def test_the_end(self, store):
        """Of this one; of an unknown one nothing happens."""
        key = store.sessions.create_login_key("p")
        first, second = store.sessions.start_by_key(key), store.sessions.start_by_key(key)
        store.sessions.end(first)
        store.sessions.end("dgs_unknown")
        assert store.sessions.verify(first) is None
        assert store.sessions.verify(second) is not None

    def test_what_has_outlived_itself_goes(self, store, clock):
        """The table does not grow with every login of a year."""
        for _ in range(3):
            store.sessions.create_login_key("p")
            clock.at += timedelta(days=2)
        store.sessions.create_login_key("p")
        assert len(rows_of(store, sessions)) == 1


def test_another_process_sees_the_same(url):
    """Made by the command line, known to the service, revoked for all of them."""
    with open_store(url) as here, open_store(url, one_shot=False) as there:
        token, secret = here.tokens.create(NEW)
        assert there.tokens.verify(secret) is not None
        here.tokens.revoke("default", token.token_id)
        assert there.tokens.verify(secret) is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("GET /v1/series?token=dg_" + "a" * 43, "GET /v1/series?token=dg_a[hidden]"),
        ("key=dgl_" + "B-_" * 15 + "&x=1", "key=dgl_[hidden]&x=1"),
        ("Bearer eyJhbGciOi.eyJpc3MiOi.c2ln-_", "Bearer eyJh[hidden]"),
        ("dg_short and edgs_short", "dg_short and edgs_short"),
        ("no secret", "no secret"),
    ],
)
def test_redaction(text, told):
    """Our secrets and identity tokens are cut, and nothing else."""
    assert redacted(text) == told
    assert holds_secret(text) == (told != text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (repr("a\ndg_" + "a" * 43), "'a\\ndg_a[hidden]'"),
        (repr("\N{ZERO WIDTH SPACE}eyJhbGciOi.eyJpc3MiOi.c2ln"), "'\\u200beyJh[hidden]'"),
        ("test_xdg_" + "name_" * 10, "test_xdg_n[hidden]"),
    ],
)
def test_redaction_behind_letters(text, told):
    """They may be those of an escape. Too much is cut rather than too little; an address is refused for words alone."""
    assert redacted(text) == told
    assert not holds_secret(text)

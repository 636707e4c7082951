"""Alive, ready: one never asks the store, the other seldom."""

import pytest

from api.readiness import Readiness
from store.errors import StoreUnavailable


class Broken:
    """A store whose every use raises."""

    def __getattr__(self, name):
        raise StoreUnavailable("postgresql://h/db: gone, and this text is for the log")


@pytest.fixture
def broken(client):
    """The service over such a store."""
    service = client.app.state.service
    store, service.store = service.store, Broken()
    service.readiness = Readiness(lambda: Broken().check)
    yield client
    service.store = store


def test_liveness_never_touches_the_store(broken):
    """It answers, whatever became of the store and whoever asks, even with a token that only the store knows."""
    headers = {"Authorization": "Bearer dg_" + "x" * 43, "Host": "10.0.0.7"}
    answer = broken.get("/healthz", headers=headers)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_readiness_does_and_tells_strangers_nothing(broken, caplog):
    """503 with Retry-After; the words of the store stay in the log."""
    answer = broken.get("/readyz")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.headers["content-type"] == "application/problem+json"
    assert "postgresql" not in answer.text
    (line,) = [record for record in caplog.records if record.name == "driftgate.api.requests"]
    assert "gone" in line.facts["error"]


def test_readiness_of_a_good_store(client):
    """200."""
    assert client.get("/readyz").json() == {"status": "ok"}


def test_readiness_asks_seldom():
    """Once in five seconds, and again after that: a store that comes back is seen, one that goes, too."""
    now, asked = [0.0], []

    def check():
        asked.append(now[0])
        if 5.0 <= now[0] < 10.0:
            raise StoreUnavailable("gone")

    readiness = Readiness(check, clock=lambda: now[0])
    seen = []
    for now[0] in (0.0, 1.0, 4.9, 5.0, 9.9, 10.0):
        seen.append(readiness.error() is None)
    assert seen == [True, True, True, False, False, True]
    assert asked == [0.0, 5.0, 10.0]


def test_who_asks_during_a_check_does_not_wait():
    """What was known before is the answer, at first that nothing is known: a store that hangs holds one thread."""
    now, within = [0.0], []
    readiness = Readiness(lambda: within.append(readiness.error()), clock=lambda: now[0])
    for now[0] in (0.0, 6.0):
        assert readiness.error() is None
    assert [type(error) for error in within] == [StoreUnavailable, type(None)]

"""``driftgate serve``: from nothing to a service, and down again without losing a request."""

import select
import signal
import socket
import sqlite3
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from datetime import timedelta
from subprocess import PIPE, Popen

import httpx2
import pytest
import service_process

from store.opening import open_store
from store.tokens import NewToken

MARK = "/v1/runs:mark-untrusted"
EVERYWHERE = "0.0.0.0"  # noqa: S104 - what it takes to listen there is under test


def body(ci_run_id):
    return {"ci_run_id": ci_run_id, "reason": "r"}


def requests_in(service):
    return [line for line in service.log() if line["logger"] == "driftgate.api.requests"]


def test_from_nothing(serve, tmp_path):
    """An embedded store, open reading, a link by which a browser operates, one log line per request; SIGTERM is 0."""
    service = serve()
    assert (tmp_path / ".driftgate" / "history.db").exists()
    assert service.url.startswith("http://127.0.0.1:")
    with service.client() as browser:
        assert browser.get("/v1/series").status_code == 200
        assert browser.post(MARK, json=body(1)).status_code == 401
        link = browser.get(service.announced["login_link"])
        assert (link.status_code, "key" in link.headers["location"]) == (303, False)
        assert browser.post(MARK, json=body(1)).status_code == 403  # no CSRF token: some other page's doing
    assert service.stop() == 0
    routes = [(line["route"], line["status"]) for line in requests_in(service)]
    assert routes == [("/v1/series", 200), (MARK, 401), ("/login", 303), (MARK, 403)]
    assert all(line.startswith("{") for line in service.log_path.read_text().splitlines())
    assert "dgl_" not in service.log_path.read_text()


def test_for_people(person):
    """Where, on what, and the link, on stderr; Ctrl-C ends it with 130."""
    words = [sys.executable, "-m", "driftgate", "serve", "--port", "0"]
    with Popen(words, cwd=person.home, stdout=PIPE, stderr=PIPE, text=True) as process:
        where, link = process.stderr.readline(), process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert where.startswith("driftgate serves sqlite:///")
    assert link.startswith("to operate, open within a day: http://127.0.0.1:")
    assert (process.returncode, out, err.splitlines()[-1]) == (130, "", "driftgate: interrupted")


@pytest.mark.parametrize(
    ("number", "code", "last"), [(signal.SIGINT, 130, ["driftgate: interrupted"]), (signal.SIGTERM, 0, [])]
)
def test_a_signal_that_comes_at_once(person, number, code, last):
    """Ends it as any other: whoever read the address may be quicker than the server is with its handlers."""
    words = [sys.executable, "-c", service_process.STOPPED_AT_ONCE, str(int(number)), "serve", "--port", "0"]
    with Popen(words, cwd=person.home, stdout=PIPE, stderr=PIPE, text=True) as process:
        _, err = process.communicate(timeout=60)
    said = [line for line in err.splitlines()[2:] if not line.startswith("{")]
    assert (process.returncode, said) == (code, last), err
    assert "Finished server process" in err


def test_a_port_in_use(person):
    """One line, exit code 2, and no store is made."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        answer = person.call("serve", "--port", port)
    assert (answer.code, answer.lines) == (
        2,
        [
            f"driftgate: cannot listen on 127.0.0.1 port {port}: Address already in use; choose another by --host, --port"
        ],
    )
    assert not (person.home / ".driftgate").exists()


REFUSED = [
    (("--host", EVERYWHERE), "on 0.0.0.0 nobody could come in: make a token first"),
    (("--host", "203.0.113.7"), "cannot listen on 203.0.113.7 port 0: Cannot assign requested address"),
    (("--host", "nowhere.invalid"), "cannot listen on nowhere.invalid port 0"),
    (("--host", "a" * 300), "cannot listen on aaa"),
    (("--host", ""), "service.host: found ''"),
    (("--port", "70000"), "less than or equal to 65535"),
    (("--db", "https://driftgate.example"), "is a service already"),
    (("--db", "mysql://h/d"), "'mysql' is no database driftgate knows"),
    (("--workers", "4"), "no such option: --workers"),
]


@pytest.mark.parametrize(("words", "told"), REFUSED)
def test_what_is_refused(person, words, told):
    """In words, with 2; nobody is served."""
    answer = person.call("serve", "--port", "0", *words)
    assert (answer.code, told in answer.err) == (2, True), answer.err
    assert len(answer.lines) <= 3


def test_beyond_this_machine(serve, tmp_path):
    """With a token it starts and prints no link; who has none reads nothing, and it is asked for by its address."""
    db = f"sqlite:///{tmp_path}/history.db"
    with open_store(db) as store:
        store.tokens.create(NewToken("default", "first", "read", timedelta(hours=1)))
    service = serve("--host", EVERYWHERE, db=db)
    assert service.announced["login_link"] is None
    with service.client() as stranger, service.client("read") as reader:
        assert [stranger.get(path).status_code for path in ("/healthz", "/v1/series", "/metrics")] == [200, 401, 401]
        assert [reader.get(path).status_code for path in ("/v1/series", "/metrics")] == [200, 200]
        assert reader.get("/v1/series", headers={"Host": "evil.example"}).status_code == 421
    assert service.stop() == 0


def test_behind_a_proxy_on_this_machine(serve, tmp_path):
    """What comes through it needs a token and gets its answer; no link to operate by stands in a log."""
    (tmp_path / "driftgate.toml").write_text('[service]\nproxies = ["127.0.0.1"]\n')
    db = f"sqlite:///{tmp_path}/history.db"
    with open_store(db) as store:
        store.tokens.create(NewToken("default", "first", "read", timedelta(hours=1)))
    service = serve(db=db)
    assert service.announced["login_link"] is None
    headers = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"}
    with service.client() as stranger, service.client("read") as reader:
        assert stranger.get("/v1/series").status_code == 401
        assert [one.get("/v1/series", headers=headers).status_code for one in (stranger, reader)] == [401, 200]


def test_insecure_is_said_loudly(serve):
    """Everybody reads, nobody writes, and the log's first line says so."""
    service = serve("--host", EVERYWHERE, "--insecure")
    with service.client() as stranger:
        assert stranger.get("/v1/series").status_code == 200
        assert stranger.post(MARK, json=body(1)).status_code == 401
    assert service.log_path.read_text().startswith("driftgate: --insecure: WHOEVER REACHES 0.0.0.0 MAY READ EVERYTHING")


def wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_request_in_flight_gets_its_answer(serve, tmp_path):
    """After SIGTERM nobody comes in any more, who is being served is served to the end, and the exit code is 0."""
    service = serve()
    path = tmp_path / ".driftgate" / "history.db"
    with (
        service.client("operate") as operator,
        service.client() as idle,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        assert idle.get("/healthz").status_code == 200  # and keeps its connection
        other.execute("BEGIN IMMEDIATE")
        slow = pool.submit(operator.post, MARK, json=body(7))
        for _ in range(3):
            assert idle.get("/healthz").status_code == 200
        service.process.send_signal(signal.SIGTERM)
        wait_until(lambda: not service.accepts())
        assert (slow.done(), service.process.poll()) == (False, None)
        other.execute("COMMIT")
        assert slow.result().status_code == 200
    assert service.wait() == 0
    with open_store(service.db) as store:
        assert [event.selector for event in store.trust_events("default")] == ["ci_run_id=7"]


def test_liveness_needs_no_thread(serve, tmp_path):
    """Though every thread of the process waits for the store, it is alive and says so."""
    service = serve()
    path = tmp_path / ".driftgate" / "history.db"
    text = b'{"ci_run_id": 7, "reason": "r"}'
    head = f"POST {MARK} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {service.token('operate')}\r\n"
    request = head.encode() + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text)
    with closing(sqlite3.connect(path, isolation_level=None)) as other, ExitStack() as kept:
        other.execute("BEGIN IMMEDIATE")
        waiting = [kept.enter_context(socket.create_connection(service.address)) for _ in range(50)]
        for connection in waiting:
            connection.sendall(request)
        with service.client() as balancer:
            assert [balancer.get("/healthz").status_code for _ in range(20)] == [200] * 20
        assert select.select(waiting, [], [], 0)[0] == []
        other.execute("COMMIT")
        assert all(connection.recv(12) == b"HTTP/1.1 200" for connection in waiting)


def test_nobody_holds_it_up_forever(serve):
    """A request that never ends is cut when the time is up."""
    service = serve(program=("-c", service_process.HURRIED))
    with socket.create_connection(service.address) as endless:
        endless.sendall(b"POST /v1/epochs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n{")
        with service.client() as other:
            assert other.get("/healthz").status_code == 200
        assert service.stop() == 0
    cut = [line for line in service.log() if line.get("route") == "/v1/epochs" or line.get("method") == "POST"]
    assert [line["status"] for line in cut] == [None]


def test_who_goes_away_is_no_error(serve):
    """A body that breaks off, an answer that nobody waits for: a line each, no traceback."""
    service = serve()
    head = b"POST /v1/epochs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\n"
    for sent in (head + b"{", b"GET /v1/series HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"):
        with socket.create_connection(service.address) as connection:
            connection.sendall(sent)
    with service.client() as other:
        wait_until(lambda: other.get("/healthz") and len(requests_in(service)) >= 3)
    assert service.stop() == 0
    assert {line["method"] for line in requests_in(service)} == {"GET", "POST"}
    assert [line for line in service.log() if "traceback" in line or line["level"] == "error"] == []


def test_killed_amid_writes_it_loses_nothing_acknowledged(serve):
    """Every mark that was answered is there afterwards, each once, and the store is whole."""
    service = serve()
    acknowledged = []

    def write(operator, first):
        with suppress(httpx2.TransportError):
            for ci_run_id in range(first, first + 10_000):
                operator.post(MARK, json=body(ci_run_id)).raise_for_status()
                acknowledged.append(ci_run_id)

    with service.client("operate") as operator:
        writers = [threading.Thread(target=write, args=(operator, first)) for first in (1, 100_000, 200_000)]
        for writer in writers:
            writer.start()
        wait_until(lambda: len(acknowledged) >= 30)
        assert service.stop(signal.SIGKILL) == -signal.SIGKILL
        for writer in writers:
            writer.join()
    with open_store(service.db) as store:
        marked = [event.selector for event in store.trust_events("default", limit=100_000)]
    assert len(set(marked)) == len(marked)
    assert {f"ci_run_id={ci_run_id}" for ci_run_id in acknowledged} <= set(marked)
    assert len(marked) - len(acknowledged) <= len(writers)

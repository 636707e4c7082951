"""One JSON line per request, under one id; nothing hostile and nothing secret in it."""

import io
import json
import logging
import warnings

import pytest

from api.log_lines import FACTS, LOGGERS, log_to
from store.errors import StoreUnavailable


@pytest.fixture
def log():
    """Reads the lines so far, as JSON, and forgets them."""
    stream = io.StringIO()
    loggers = [logging.getLogger(name) for name in (None, *LOGGERS)]
    before = [(logger.handlers, logger.propagate, logger.level) for logger in loggers]
    log_to(stream)

    def read():
        text = stream.getvalue()
        stream.seek(0)
        stream.truncate()
        read.text = text
        return [json.loads(line) for line in text.splitlines()]

    yield read
    for logger, (handlers, propagate, level) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)
    logging.captureWarnings(capture=False)


@pytest.mark.parametrize("before", ["", "\n", "\t", "\x1b", "\N{ZERO WIDTH SPACE}", "{"])
def test_a_secret_is_hidden_wherever_it_stands(log, before):
    """Also behind a character that JSON writes as letters; of a library, in a message, a fact and a traceback."""
    secret = before + "dg_" + "a" * 43
    logger = logging.getLogger("some.library")
    try:
        int(secret)
    except ValueError:
        logger.exception("sent %s", secret, extra={FACTS: {"fact": secret}})
    (line,) = log()
    assert "dg_aa" not in log.text
    assert line["fact"] == before + "dg_a[hidden]"


def test_a_request_is_a_line(client, log, bearer):
    """What, how, how long, by whom, in which project."""
    answer = client.get("/v1/series", headers=bearer("read", name="dashboard"))
    (line,) = log()
    assert line.pop("time").endswith("+00:00")
    assert line.pop("duration_ms") >= 0
    assert line == {
        "level": "info",
        "logger": "driftgate.api.requests",
        "message": "request",
        "request_id": answer.headers["x-request-id"],
        "method": "GET",
        "route": "/v1/series",
        "status": 200,
        "caller": "token dashboard",
        "project": "default",
    }


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("ci-4711.2_a", True),
        ("x" * 64, True),
        ("x" * 65, False),
        ("", False),
        ("a b", False),
        ('a"\\', False),
        ("a\t::error::", False),
        ("\xff", False),
    ],
)
def test_a_sane_request_id_is_kept(client, log, given, kept):
    """Another is replaced; the answer and the line have the same."""
    answer = client.get("/healthz", headers={"X-Request-Id": given.encode("latin-1")})
    (line,) = log()
    assert line["request_id"] == answer.headers["x-request-id"]
    assert (line["request_id"] == given) is kept
    assert kept or len(line["request_id"]) == 32


def test_two_ids_are_none(client):
    """One of them may be forged: a new one."""
    answer = client.get("/healthz", headers=[("X-Request-Id", "a"), ("X-Request-Id", "b")])
    assert len(answer.headers["x-request-id"]) == 32


@pytest.fixture
def failing(client, monkeypatch):
    """Has every call of the store end in an error."""

    def fail(error):
        def run(*_):
            raise error

        monkeypatch.setattr(client.app.state.service.store._connections, "_run", run)

    return fail


def test_an_unexpected_error_has_its_traceback_under_the_same_id(client, log, failing):
    """A 500 without details; the traceback is one string of the line before."""
    failing(ZeroDivisionError("division by zero"))
    answer = client.get("/v1/series", headers={"X-Request-Id": "mine"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (500, "mine")
    assert answer.headers["content-type"] == "application/problem+json"
    assert "division" not in answer.text
    trouble, line = log()
    assert (trouble["level"], trouble["request_id"], line["request_id"]) == ("error", "mine", "mine")
    assert "ZeroDivisionError" in trouble["traceback"]
    assert (line["level"], line["status"], line["error"]) == ("warning", 500, "division by zero")


def test_a_failing_store_says_why(client, log, failing):
    """Its words stand in the line; no traceback, it is no bug."""
    failing(StoreUnavailable("the disk\nis full"))
    client.get("/v1/series")
    (line,) = log()
    assert (line["status"], line["error"]) == (503, "the disk\nis full")


def test_hostile_names_stay_inside_their_line(client, log, bearer):
    """A project with newlines and control characters makes no line of its own and no JSON of its own."""
    client.get("/v1/series", params={"project": 'a"\n{"level":"error"}\x1b[31m\x85'})
    client.request("X" * 500, "/healthz")
    series, brewed = log()
    assert series["project"] == 'a"\n{"level":"error"}\x1b[31m\x85'
    assert len(log.text.encode()) < 1000
    assert "\x1b" not in log.text
    assert len(brewed["method"]) == 20


def test_no_secret_is_logged(client, log, bearer):
    """Neither a good token nor a wrong one, wherever it is put; nor the key of a login link."""
    header = bearer("operate")
    secret = header["Authorization"].split()[1]
    key = client.app.state.service.store.sessions.create_login_key("default")
    client.get("/v1/series", headers=header)
    client.get(f"/v1/series?project={secret}")
    client.get(f"/v1/{secret}")
    client.get("/v1/series", headers={"Authorization": f"Bearer {secret}x"})
    client.get(f"/login?key={key}", follow_redirects=False)
    client.post("/v1/runs:mark-untrusted", headers=header, json={"run_id": secret, "reason": secret})
    lines = log()
    assert len(lines) == 6
    assert all(part[:20] not in log.text for part in (secret, key))


def test_what_libraries_say_is_a_line_too(log):
    """Their warnings, a traceback of asyncio; not what they say in passing."""
    logging.getLogger("asyncio").error("Task exception\nwas never retrieved")
    logging.getLogger("sqlalchemy.engine").info("SELECT 1")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    task, warning = log()
    assert (task["logger"], task["message"]) == ("asyncio", "Task exception\nwas never retrieved")
    assert (warning["logger"], "DeprecationWarning: old" in warning["message"]) == ("py.warnings", True)

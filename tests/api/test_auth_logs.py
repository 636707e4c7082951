"""No secret in any log, answer or error: a real server with its access log on, everything captured."""

import http.client
import logging
import threading
import time
from datetime import timedelta

import pytest
import uvicorn

from api.app import create_app
from api.redaction import LOGGERS, hide_secrets_in_logs
from api.settings import ServiceSettings
from store.tokens import NewToken


@pytest.fixture
def served(tmp_path):
    """(application, port) of a server in a thread of its own."""
    app = create_app(ServiceSettings(f"sqlite:///{tmp_path}/history.db"))
    config = uvicorn.Config(app, port=0, log_config=None, log_level="debug", access_log=True, proxy_headers=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    yield app, server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join()


def ask(port, method, target, headers=(), body=None):
    """Status and the whole answer as text."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.putrequest(method, target)
    for name, value in headers:
        connection.putheader(name, value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
        connection.putheader("Content-Type", "application/json")
    connection.endheaders(body)
    answer = connection.getresponse()
    text = f"{answer.status} {answer.getheaders()} {answer.read().decode('utf-8', 'replace')}"
    connection.close()
    return answer.status, text


def test_no_secret_in_any_log_or_answer(served, caplog):
    """Wherever somebody puts it: the address in every spelling, the path, the header, the body."""
    caplog.set_level(logging.DEBUG)
    app, port = served
    store = app.state.service.store
    _, secret = store.tokens.create(NewToken("default", "n", "read", timedelta(days=1)))
    key = store.sessions.create_login_key("default")
    body = f'{{"token": "{secret}"'.encode()
    statuses, answers = zip(
        ask(port, "GET", f"/v1/series?token={secret}"),
        ask(port, "GET", f"/v1/series?token={secret.replace('_', '%5f', 1)}"),
        ask(port, "GET", f"/v1/series?token={secret.replace('_', '%5F', 1)}"),
        ask(port, "GET", f"/v1/runs/{secret}"),
        ask(port, "POST", f"/login?token={secret}", body=b"{}"),
        ask(port, "GET", "/v1/series", [("Authorization", f"Bearer {secret}")]),
        ask(port, "GET", "/v1/series", [("Authorization", f"Basic {secret}")]),
        ask(port, "GET", "/v1/series", [("Authorization", f"Bearer {secret}x")]),
        ask(port, "GET", "/v1/series", [("Authorization", f"Bearer {secret}")] * 2),
        ask(port, "POST", "/login", body=body),
        ask(port, "POST", "/login", body=body[:-1] + b'x", "token": 1}'),
        ask(port, "GET", f"/login?key={key}x"),
        strict=True,
    )
    followed, _ = ask(port, "GET", f"/login?key={key}")
    logged = caplog.text + "".join(str(vars(record)) for record in caplog.records)
    assert statuses == (400, 400, 400, 400, 422, 200, 401, 401, 400, 422, 422, 401)
    assert followed == 303
    assert "/v1/series" in logged
    for one in (secret, key):
        assert one[8:] not in logged
        assert one[8:] not in "".join(answers)


def test_an_unexpected_error_tells_none(served, caplog, monkeypatch):
    """Its traceback goes to the log, the secret that was on its way does not."""
    app, port = served
    store = app.state.service.store
    _, secret = store.tokens.create(NewToken("default", "n", "read", timedelta(days=1)))

    def fail(given):
        raise RuntimeError(f"cannot look for {given}")

    monkeypatch.setattr(store.tokens, "verify", fail)
    status, text = ask(port, "GET", "/v1/series", [("Authorization", f"Bearer {secret}")])
    assert status == 500
    assert "cannot look for" in caplog.text
    assert secret[8:] not in caplog.text + text


@pytest.mark.parametrize("name", LOGGERS)
def test_arguments_stay_as_many_as_they_are(name, caplog):
    """The formatter of the access log takes them apart."""
    caplog.set_level(logging.INFO)
    hide_secrets_in_logs()
    hide_secrets_in_logs()
    secret = "dg_" + "a" * 43
    logging.getLogger(name).info('%s - "%s %s" %d', "client", "GET", f"/?a={secret}", 200)
    logging.getLogger(name).info("%s alone", secret)
    logging.getLogger(name).info("%(token)s in a mapping", {"token": secret})
    assert [record.getMessage() for record in caplog.records] == [
        'client - "GET /?a=dg_a[hidden]" 200',
        "dg_a[hidden] alone",
        "dg_a[hidden] in a mapping",
    ]
    assert len(caplog.records[0].args) == 4
    assert len(logging.getLogger(name).filters) == 1

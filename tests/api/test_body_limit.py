"""No body is read to its end that is longer than 8 MiB."""

import asyncio
import socket

import orjson
import pytest

from api.body_limit import MAX_BODY_BYTES, BodyLimit


def test_a_body_that_says_how_long_it_is(client):
    """Refused on every path by what it announces, before anything else is asked."""
    for path in ("/v1/runs", "/v1/evaluate", "/nowhere", "/healthz"):
        answer = client.post(path, content=b" " * (MAX_BODY_BYTES + 1))
        assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")
        assert str(MAX_BODY_BYTES) in answer.json()["detail"]


def test_a_body_that_does_not_say(client):
    """Refused when it has become too long."""
    answer = client.post("/v1/evaluate", content=(b" " * 2**20 for _ in range(9)))
    assert answer.status_code == 413


def test_the_longest_body(client):
    """One byte less than too much is read, and found to be no JSON object."""
    answer = client.post("/v1/evaluate", content=b" " * MAX_BODY_BYTES, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422


@pytest.mark.parametrize("length", ["-1", "1_0", "\u0661", "9" * 400, ""])
def test_a_length_that_is_none(length):
    """What stands there decides nothing by itself: the body is counted."""
    assert asyncio.run(_passed(length, [b"abc"])) is (length != "9" * 400)


def test_it_is_counted_whatever_was_announced():
    """A short length does not hide a long body."""
    assert not asyncio.run(_passed("1", [b"x" * 6, b"x" * 6]))


async def _passed(length: str, parts: list[bytes]) -> bool:
    """Whether a request gets to the application past a limit of ten bytes, and its body in one piece."""
    messages = [
        {"type": "http.request", "body": part, "more_body": index < len(parts) - 1} for index, part in enumerate(parts)
    ]
    sent = []

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    async def app(scope, receive, send):
        assert (await receive())["body"] == parts[0]

    headers = [(b"content-length", length.encode())]
    await BodyLimit(app, limit=10)({"type": "http", "headers": headers}, receive, send)
    assert not sent or sent[0]["status"] == 413
    return not sent


def test_a_hundred_megabytes_are_not_waited_for(served, tmp_path):
    """A real server answers at once, and the line is closed with the body unread."""
    with served(f"sqlite:///{tmp_path}/history.db") as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=10) as line:
            head = f"POST /v1/runs HTTP/1.1\r\nHost: {host}\r\nContent-Length: {100 * 2**20}\r\n\r\n"
            line.sendall(head.encode() + b" " * 2**16)
            answer = line.recv(2**16)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"connection: close" in answer.lower()


def test_a_service_whose_client_leaves_in_mid_request_lives_on(served, running_server, tmp_path):
    """Half a body, then nothing: nothing is written, and the next caller is answered."""
    with served(f"sqlite:///{tmp_path}/history.db") as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=10) as line:
            head = f"POST /v1/evaluate HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{{"
            line.sendall(head.encode())
        with socket.create_connection((host, int(port)), timeout=10) as line:
            line.sendall(f"GET /v1/series HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            body = b"".join(iter(lambda: line.recv(2**16), b"")).partition(b"\r\n\r\n")[2]
    assert orjson.loads(body)["series"] == []

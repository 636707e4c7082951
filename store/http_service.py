"""Requests to a service: address, token, time-outs, what is tried again, and errors in the store's own words."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

import httpx2
import orjson

from gate.wording import clipped
from store.errors import NotFound, StoreConflict, StoreUnavailable
from store.http_tokens import TOKEN_VARIABLE, TokenSource
from store.wire import NotAsPromised

CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 30.0
DELAYS_S = (0.2, 1.0, 3.0, 6.0)
"""Between tries. A service that is replaced by its next version is back before the last one."""
TRY_FOR_S = 60.0
"""Later than this after the first try none begins."""
LONGEST_DELAY_S = 10.0
"""However long ``Retry-After`` asks to wait."""
PASSING = frozenset({429, 502, 503, 504})
_NO_TLS = ("wrong_version_number", "record layer failure", "packet length too long")
"""How OpenSSL's releases name an answer in clear text."""
_OPTIONS = orjson.OPT_SERIALIZE_NUMPY
PROBLEM = "application/problem+json"


class Unreachable(Exception):
    """A try without an answer. ``sent``: the service may have acted on it."""

    def __init__(self, words: str, *, sent: bool, passing: bool = True) -> None:
        super().__init__(words)
        self.sent = sent
        self.passing = passing


class HttpService:
    """One service. Calls from several threads are safe; connections are kept until `close`.

    ``token``: asked at the first request. ``transport``, ``sleep`` and ``now``: for tests.
    """

    def __init__(
        self,
        url: str,
        token: TokenSource,
        *,
        transport: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url
        self._find_token = token
        self._sleep = sleep
        self._now = now
        self._turn = threading.Lock()
        self._authorization: dict[str, str] | None = None
        timeout = httpx2.Timeout(READ_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
        self._client = httpx2.Client(transport=transport, timeout=timeout, follow_redirects=False)

    def get(self, path: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The document of ``path``. Parameters that are None are left out.

        Raises: StoreUnavailable, NotFound, ValueError (what the service refuses).
        """
        return self._document("GET", path, parameters, None, repeatable=True)

    def post(
        self, path: str, parameters: Mapping[str, Any], document: Mapping[str, Any], *, repeatable: bool = True
    ) -> dict[str, Any]:
        """As `get`. ``repeatable``: the service does nothing twice, so that a lost answer may be asked for again.

        Raises: also StoreConflict.
        """
        return self._document("POST", path, parameters, document, repeatable=repeatable)

    def put(self, path: str, parameters: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
        """As `post`, of what is the same however often it is done."""
        return self._document("PUT", path, parameters, document, repeatable=True)

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _document(
        self,
        method: str,
        path: str,
        parameters: Mapping[str, Any],
        document: Mapping[str, Any] | None,
        *,
        repeatable: bool,
    ) -> dict[str, Any]:
        headers = {"Accept": "application/json", **self._credentials()}
        content = None if document is None else orjson.dumps(document, option=_OPTIONS, default=dict)
        if content is not None:
            headers["Content-Type"] = "application/json"
        request = self._client.build_request(
            method, self._url + path, params=_given(parameters), content=content, headers=headers
        )
        return self._read(self._answer(request, repeatable=repeatable))

    def _answer(self, request: httpx2.Request, *, repeatable: bool) -> httpx2.Response:
        """Tries until there is an answer that is not passing. Raises StoreUnavailable."""
        began = self._now()
        for delay in (*DELAYS_S, None):
            asked_delay = 0.0
            try:
                answer = self._send(request)
            except Unreachable as error:
                if not error.passing or (error.sent and not repeatable) or delay is None:
                    raise self._given_up(error, repeatable=repeatable) from None
                lost = error
            else:
                if answer.status_code not in PASSING or not repeatable or delay is None:
                    return answer
                asked_delay = _retry_after(answer)
                lost = Unreachable(_words(answer), sent=False)
            waiting = max(delay, min(asked_delay, LONGEST_DELAY_S))
            if self._now() - began + waiting > TRY_FOR_S:
                raise self._given_up(lost, repeatable=repeatable)
            self._sleep(waiting)
        raise AssertionError("the last try returns or raises")

    def _given_up(self, error: Unreachable, *, repeatable: bool) -> StoreUnavailable:
        unsure = (
            "" if repeatable or not error.sent else "; it may have been done all the same: look before you repeat it"
        )
        return self._refused(f"{error}{unsure}")

    def _send(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return self._client.send(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            if any(words in str(error).lower() for words in _NO_TLS):
                raise Unreachable("does not speak https there; is it http://?", sent=False, passing=False) from None
            certificate = "certificate" in str(error).lower()
            words = f"cannot be reached ({_reason(error)}); is it running, and is the address right?"
            raise Unreachable(words, sent=False, passing=not certificate) from None
        except httpx2.TimeoutException:
            raise Unreachable(f"does not answer within {READ_TIMEOUT_S:g} s", sent=True) from None
        except httpx2.UnsupportedProtocol as error:
            raise Unreachable(_reason(error), sent=False, passing=False) from None
        except httpx2.TransportError as error:
            raise Unreachable(f"the connection was lost ({_reason(error)})", sent=True) from None
        except httpx2.HTTPError as error:
            raise Unreachable(f"its answer cannot be read ({_reason(error)})", sent=True, passing=False) from None

    def _credentials(self) -> dict[str, str]:
        with self._turn:
            if self._authorization is None:
                token = self._find_token()
                self._authorization = {} if token is None else {"Authorization": f"Bearer {_header_value(token)}"}
            return self._authorization

    def _read(self, answer: httpx2.Response) -> dict[str, Any]:
        if answer.is_success:
            return self._parsed(answer)
        status, words = answer.status_code, _words(answer)
        ours = answer.headers.get("content-type", "").startswith(PROBLEM)
        if answer.is_redirect:
            raise self._refused(
                f"leads elsewhere, to {clipped(answer.headers.get('location', ''))}; write that address"
            )
        if status in (401, 403):
            raise self._refused(f"{words}{self._about_token(status)}")
        if ours and status == 404 and words != "Not Found":
            raise NotFound(words)
        if ours and status == 409:
            raise StoreConflict(words)
        if ours and status in (413, 415, 422):
            raise ValueError(words)
        if status in (404, 405):
            raise self._refused(f"has no {answer.request.url.path}; it is no driftgate service, or an older one")
        raise self._refused(f"answers {status}: {words}")

    def _about_token(self, status: int) -> str:
        if status == 403:
            return ""
        if self._authorization:
            return f"; {TOKEN_VARIABLE}, or the job's identity token, is not one that this service takes"
        return f"; set {TOKEN_VARIABLE}, or in GitHub Actions give the job `permissions: id-token: write`"

    def _parsed(self, answer: httpx2.Response) -> dict[str, Any]:
        try:
            document = orjson.loads(answer.content)
        except orjson.JSONDecodeError:
            document = None
        if not isinstance(document, dict):
            kind = clipped(answer.headers.get("content-type", "nothing"))
            raise self._refused(f"answers with {kind} where JSON was due; is this the address of a driftgate service?")
        return document

    def unpromised(self, error: NotAsPromised) -> StoreUnavailable:
        """For an answer that is JSON, but not what was asked for."""
        return self._refused(f"its answer is not what was asked for ({clipped(str(error))})")

    def _refused(self, words: str) -> StoreUnavailable:
        return StoreUnavailable(f"service {self._url}: {words}")


def _given(parameters: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in parameters.items()
        if value is not None
    }


def _retry_after(answer: httpx2.Response) -> float:
    text = answer.headers.get("retry-after", "")
    return float(text[:6]) if text.isdecimal() else 0.0


def _words(answer: httpx2.Response) -> str:
    """What a problem document says; of anything else only the status: it may be a page of a proxy."""
    if answer.headers.get("content-type", "").startswith(PROBLEM):
        try:
            return str(orjson.loads(answer.content)["detail"])
        except (orjson.JSONDecodeError, KeyError, TypeError):
            pass
    return f"{answer.status_code} {answer.reason_phrase}".strip()


def _reason(error: Exception) -> str:
    return clipped(str(error)) or type(error).__name__


def _header_value(token: str) -> str:
    """Raises StoreUnavailable for what no header holds; the token is not repeated."""
    if not token.isascii() or not token.isprintable() or " " in token:
        raise StoreUnavailable(f"{TOKEN_VARIABLE} is no token: it holds characters that no token has")
    return token

"""Who stands between the service and a caller: names it may be called by, proxies that are believed."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from http import HTTPStatus
from urllib.parse import unquote_plus

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.problems import Refused, problem
from api.settings import ServiceSettings
from gate.errors import ConfigError
from gate.wording import shown
from store.secret_text import holds_secret

ANY_HOST = ("/healthz", "/readyz")
"""Load balancers ask for these by the machine's address. They tell nothing that anybody would rebind a name for."""
LOGIN = "/login"
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?", re.IGNORECASE)
_SCHEMES = ("http", "https")

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


def host_name(header: str) -> str | None:
    """The name in a ``Host`` header, in lower case, without port, brackets or the last dot; None if it holds none."""
    found = _HOST.fullmatch(header.strip())
    return None if found is None else found[1].strip("[]").rstrip(".").lower()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a service that listens there."""
    address = _address(host)
    return host.lower() == "localhost" if address is None else address.is_loopback


def networks(proxies: Iterable[str]) -> tuple[Network, ...]:
    """Addresses (``10.0.0.7``) and ranges (``10.0.0.0/8``). Raises ConfigError naming the one that is neither."""
    found = []
    for proxy in proxies:
        try:
            found.append(ipaddress.ip_network(proxy))
        except ValueError:
            text = f"proxy {shown(proxy)} is no address and no range of addresses; give e.g. 10.0.0.7 or 10.0.0.0/8"
            raise ConfigError(text) from None
    return tuple(found)


class Guard:
    """ASGI middleware: refuses what no route should see, and puts in place what a proxy in front knows better.

    Refused: a foreign ``Host`` (421: a page that rebinds its name to this address), a secret in the address (400: it
    would end up in logs), forwarded headers where reading is open (400: a proxy would open the service to others).
    Otherwise ``X-Forwarded-For`` and ``-Proto`` of a configured proxy become the request's client and scheme; those of
    anybody else, and the header ``Forwarded``, which most proxies pass on unseen, are not believed.
    """

    def __init__(self, app: ASGIApp, settings: ServiceSettings, proxies: Sequence[Network]) -> None:
        self._app = app
        self._open = settings.open_reading
        self._hosts = frozenset(host_name(name) or name.strip("[]").lower() for name in settings.allowed_hosts)
        self._proxies = tuple(proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            try:
                self._check(scope, headers)
            except Refused as refused:
                answer = problem(refused.status, str(refused), headers=refused.headers)
                await answer(scope, receive, send)
                return
            self._believe(scope, headers)
        await self._app(scope, receive, send)

    def _check(self, scope: Scope, headers: Headers) -> None:
        if scope["path"] not in ANY_HOST:
            self._check_host(headers.getlist("host"))
        if self._open:
            _refuse_forwarded(headers)
        _refuse_secrets(scope)

    def _check_host(self, given: Sequence[str]) -> None:
        name = host_name(given[0]) if len(given) == 1 else None
        if name is None:
            raise Refused(HTTPStatus.BAD_REQUEST, "the Host header does not hold one name; send exactly one")
        if name not in self._hosts:
            text = f"this service is not called {shown(name)}; its operator can add that to [service] allowed_hosts"
            raise Refused(HTTPStatus.MISDIRECTED_REQUEST, text)

    def _believe(self, scope: Scope, headers: Headers) -> None:
        peer = _address(scope["client"][0]) if scope.get("client") else None
        if self._open or peer is None or not self._is_proxy(peer):
            return
        scope["client"] = (str(self._origin(peer, headers.getlist("x-forwarded-for"))), 0)
        scheme = ",".join(headers.getlist("x-forwarded-proto")).rpartition(",")[2].strip().lower()
        if scheme in _SCHEMES:
            scope["scheme"] = scheme

    def _origin(self, peer: Address, forwarded_for: Sequence[str]) -> Address:
        """From the nearest hop on: the first that is no proxy of ours. What stands before it, anybody can have sent."""
        nearest = peer
        for hop in reversed(",".join(forwarded_for).split(",")):
            address = _address(hop.strip())
            if address is None:
                break
            nearest = address
            if not self._is_proxy(address):
                break
        return nearest

    def _is_proxy(self, address: Address) -> bool:
        return any(address in network for network in self._proxies)


def _refuse_forwarded(headers: Headers) -> None:
    for name in headers:
        if name == "forwarded" or name.startswith("x-forwarded-"):
            text = (
                f"{shown(name)} says that this came through a proxy, but here everybody may read: that is for this "
                "machine alone. Serve on another address, with tokens"
            )
            raise Refused(HTTPStatus.BAD_REQUEST, text)


def _refuse_secrets(scope: Scope) -> None:
    query = unquote_plus(scope.get("query_string", b"").decode("latin-1"))
    if holds_secret(scope["path"]) or (holds_secret(query) and scope["path"] != LOGIN):
        scope["path"], scope["query_string"] = "/[hidden]", b""  # servers write their access log from here
        text = "a token in the address ends up in logs: revoke it, and send the next as Authorization: Bearer TOKEN"
        raise Refused(HTTPStatus.BAD_REQUEST, text)


def _address(text: str) -> Address | None:
    try:
        found = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found

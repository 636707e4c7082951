"""Parsers of the keys of ``[service]``."""

from __future__ import annotations

import ipaddress
import re
from typing import Any
from urllib.parse import urlsplit

from driftgate.config import values
from driftgate.config.values import RefusedValueError
from gate.wording import shown

_NAME = re.compile(r"[A-Za-z0-9._-]+")


def host(value: Any) -> str:
    """A name or an address, without scheme and port."""
    found = values.text(value)
    if _NAME.fullmatch(found) or _is_network(found.strip("[]"), ipaddress.ip_address):
        return found
    raise RefusedValueError(f"found {shown(value)}, expected a host name or an address, without scheme and port")


def hosts(value: Any) -> tuple[str, ...]:
    return tuple(host(item) for item in values.texts(value))


def proxies(value: Any) -> tuple[str, ...]:
    items = values.texts(value)
    for item in items:
        if not _is_network(item, ipaddress.ip_network):
            raise RefusedValueError(f"found {shown(item)}, expected addresses or ranges such as 10.0.0.0/8")
    return items


def https_url(value: Any) -> str:
    """Without user, query and fragment: what is fetched there decides whom the service believes."""
    found = values.text(value)
    try:
        parts = urlsplit(found)
        plain = parts.hostname and not parts.username and not parts.query and not parts.fragment and parts.port != 0
    except ValueError:
        plain = False
    else:
        plain = plain and parts.scheme == "https" and " " not in found and found.isascii()
    if not plain:
        raise RefusedValueError(f"found {shown(value)}, expected an address that begins with https://")
    return found


def claim(value: Any) -> str:
    """What a claim must be. Identity tokens hold text alone, so numbers and flags become what they are written as."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    found = values.text(value)
    if "*" in found:
        raise RefusedValueError(f"found {shown(value)}, expected the whole value: claims are compared to the letter")
    return found


def _is_network(text: str, parse: Any) -> bool:
    try:
        parse(text)
    except ValueError:
        return False
    return True

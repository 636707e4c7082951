"""Database URLs: what people write, what SQLAlchemy needs, what may be shown."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from gate.errors import ConfigError

POSTGRES_DRIVER = "postgresql+psycopg"
_DRIVERS = {
    "postgres": POSTGRES_DRIVER,
    "postgresql": POSTGRES_DRIVER,
    POSTGRES_DRIVER: POSTGRES_DRIVER,
    "sqlite": "sqlite",
}
_SERVICES = ("https://", "http://")
_PRIVATE_ENDS = (".localhost", ".internal", ".local", ".lan", ".home.arpa", ".svc")
"""Of names that no public resolver knows: of one machine, one house, one cluster."""


def is_service_url(text: str) -> bool:
    """Whether the store is asked through a service, not a database."""
    return text.strip().lower().startswith(_SERVICES)


def service_url(text: str) -> str:
    """The address of a service, without the slash at its end. Raises ConfigError, which repeats no secret."""
    try:
        parts = urlsplit(text.strip())
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not is_service_url(text) or not usable or not text.strip().isprintable() or " " in text.strip():
        raise ConfigError("service URL cannot be read; write https://HOST or https://HOST:PORT")
    if parts.username is not None or parts.password is not None:
        raise ConfigError("service URL: a name or password does not belong there; set DRIFTGATE_TOKEN")
    if parts.query or parts.fragment:
        raise ConfigError("service URL: leave out what follows ? or #; write https://HOST or https://HOST:PORT")
    return text.strip().rstrip("/")


def is_private_host(host: str) -> bool:
    """Whether the way there stays on this machine or in a private network, by the host's name or address alone."""
    try:
        return ip_address(host).is_private
    except ValueError:
        name = host.lower().rstrip(".")
        return "." not in name or name.endswith(_PRIVATE_ENDS)


def is_open_way(address: str) -> bool:
    """Whether what is sent to a service can be read by strangers on the way: ``http://`` beyond private networks."""
    parts = urlsplit(address)
    return parts.scheme == "http" and not is_private_host(parts.hostname or "")


def check_store_url(text: str) -> None:
    """Raises ConfigError for a URL that no store has."""
    if is_service_url(text):
        service_url(text)
    else:
        parse_url(text)


def parse_url(text: str) -> URL:
    """The URL with the driver this store uses. Raises ConfigError, which never repeats the text: it may be secret."""
    if is_service_url(text):
        raise ConfigError("database URL: this needs the database itself, not a service; run it where the service runs")
    try:
        url = make_url(text.strip())
        driver = _DRIVERS[url.drivername]
    except KeyError:
        known = "sqlite:///PATH, postgres://, postgresql:// or the https:// of a service"
        raise ConfigError(f"database URL: {url.drivername!r} is no database driftgate knows; write {known}") from None
    except (ArgumentError, ValueError):
        raise ConfigError("database URL cannot be read; write sqlite:///PATH or postgresql://USER@HOST/NAME") from None
    return url.set(drivername=driver)


def shown(url: URL) -> str:
    """The URL for messages: password, and every query parameter (one of them may be a password), left out."""
    if url.drivername == "sqlite":
        return url.database or "in-memory SQLite"
    return url.set(drivername="postgresql", password=None, query={}).render_as_string()


def masked(text: str) -> str:
    """The URL as it was written, its password and each query parameter as ``***``; never raises, for a listing."""
    try:
        url = make_url(text.strip())
    except (ArgumentError, ValueError):
        return "*** (cannot be read)"
    if url.drivername.startswith("sqlite"):
        return text
    query = dict.fromkeys(url.query, "***")
    return url.set(query=query).render_as_string(hide_password=True)


def sqlite_path(url: URL) -> Path | None:
    """The file of a SQLite URL, None for an in-memory database."""
    return None if url.database in (None, "", ":memory:") else Path(str(url.database))

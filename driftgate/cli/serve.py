"""``driftgate serve``: the service over the configured store."""

from __future__ import annotations

import socket
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from driftgate.cli.output import print_json, say
from driftgate.cli.session import Session, command
from driftgate.config.model import Config
from gate.errors import ConfigError

if TYPE_CHECKING:
    from api.settings import ServiceSettings

HOST, PORT = "127.0.0.1", 8321


@command
def serve(
    session: Session,
    *,
    host: Annotated[str | None, typer.Option("--host", metavar="ADDRESS", help=f"Where to listen; {HOST}.")] = None,
    port: Annotated[
        int | None, typer.Option("--port", metavar="N", min=0, max=65535, help=f"{PORT}; 0: any that is free.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Beyond this machine, too, let everybody read who asks.")
    ] = False,
) -> None:
    """Serve the store over HTTP: to this machine, or with --host to those who hold a token. Ctrl-C ends it.

    Example: driftgate serve
    """
    from api.serving import listen
    from store.urls import masked

    config = session.config()
    if config.store.url.startswith(("http://", "https://")):
        raise ConfigError(f"{masked(config.store.url)} is a service already; serve needs the URL of a database")
    address = HOST if host is None else host
    if not address:
        raise ConfigError("--host is empty; give an address, e.g. 127.0.0.1")
    with listen(address, PORT if port is None else port) as listening:
        _serve(session, config, listening, _Reach(address, insecure))


@dataclass(frozen=True, slots=True)
class _Reach:
    """Where to listen, and whether anybody may read there."""

    host: str
    insecure: bool


def _serve(session: Session, config: Config, listening: socket.socket, reach: _Reach) -> None:
    from api.app import create_app
    from api.exposure import check_exposure
    from api.hosts import is_loopback
    from api.log_lines import log_to
    from api.serving import run, url_of
    from api.sessions import login_link
    from store.urls import masked

    app = create_app(_settings(config, reach))
    service, url = app.state.service, url_of(listening)
    check_exposure(service, reach.host, insecure=reach.insecure)
    here_only = is_loopback(reach.host)
    link = login_link(service, url) if here_only else None  # elsewhere the output is kept as a log
    if session.json:
        print_json({"schema": 1, "url": url, "login_link": link})
    else:
        say(f"driftgate serves {masked(config.store.url)} at {url}")
        if link is not None:
            say(f"to operate, open within a day: {link}")
    if reach.insecure and not here_only:
        say(f"driftgate: --insecure: WHOEVER REACHES {reach.host} MAY READ EVERYTHING, without a token")
    log_to(sys.stderr)
    run(app, listening)


def _settings(config: Config, reach: _Reach) -> ServiceSettings:
    from api.hosts import is_loopback
    from api.settings import LOOPBACK, ServiceSettings

    return ServiceSettings(
        config.store.url,
        project=config.project,
        policy=config.gate,
        trust=config.trust,
        journal=config.store.journal,
        allowed_hosts=(*LOOPBACK, reach.host, socket.gethostname()),
        open_reading=reach.insecure or is_loopback(reach.host),
    )

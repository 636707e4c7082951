"""``driftgate serve``: the service over the configured store."""

from __future__ import annotations

import socket
import sys
from typing import Annotated

import typer

from driftgate.cli.output import print_json, say
from driftgate.cli.session import Session, command
from driftgate.config.model import Config
from gate.errors import ConfigError


@command
def serve(
    session: Session,
    *,
    host: Annotated[
        str | None, typer.Option("--host", metavar="ADDRESS", help="Where to listen, instead of service.host.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="N", min=0, max=65535, help="Instead of service.port; 0: any that is free."),
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Beyond this machine, too, let everybody read who asks.")
    ] = False,
) -> None:
    """Serve the store over HTTP.

    To this machine, or with --host to those who hold a token. Ctrl-C ends it.

    Example: driftgate serve
    """
    from api.serving import listen
    from store.urls import masked

    config = session.config(service__host=host, service__port=port)
    if config.store.url.startswith(("http://", "https://")):
        raise ConfigError(f"{masked(config.store.url)} is a service already; serve needs the URL of a database")
    with listen(config.service.host, config.service.port) as listening:
        _serve(session, config, listening, insecure=insecure)


def _serve(session: Session, config: Config, listening: socket.socket, *, insecure: bool) -> None:
    from api.app import create_app
    from api.exposure import check_exposure
    from api.log_lines import log_to
    from api.serving import StopRequest, run, url_of
    from api.sessions import login_link
    from driftgate.cli.service_settings import is_for_this_machine, service_settings
    from store.urls import masked

    host = config.service.host
    app = create_app(service_settings(config, host=host, insecure=insecure))
    service, url = app.state.service, url_of(listening)
    check_exposure(service, host, insecure=insecure)
    here_only = is_for_this_machine(config, host)
    link = login_link(service, url) if here_only else None  # elsewhere the output is kept as a log
    stop = StopRequest()  # who is told the address may end it at once
    if session.json:
        print_json({"schema": 1, "url": url, "login_link": link})
    else:
        say(f"driftgate serves {masked(config.store.url)} at {url}")
        if link is not None:
            say(f"to operate, open within a day: {link}")
    if insecure and not here_only:
        say(f"driftgate: --insecure: WHOEVER REACHES {host} MAY READ EVERYTHING, without a token")
    log_to(sys.stderr)
    run(app, listening, stop)

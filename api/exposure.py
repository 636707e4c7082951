"""May a service listen there? Beyond this machine nobody comes in unknown, unless somebody asked for just that."""

from __future__ import annotations

from api.hosts import is_loopback
from api.service import Service
from gate.errors import ConfigError


def check_exposure(service: Service, host: str, *, insecure: bool = False) -> None:
    """Refuse to listen on ``host`` before anybody could be let in. ``insecure``: whoever reaches it may read.

    Behind a configured proxy a loopback address is as open as any other.

    Raises: ConfigError, StoreUnavailable.
    """
    here_only = is_loopback(host) and not service.settings.proxies
    if here_only or insecure:
        return
    if service.settings.open_reading:
        raise ConfigError(f"on {host} everybody could read; turn open reading off, or say --insecure")
    behind = " behind a proxy" if service.settings.proxies else ""
    if service.settings.verify_identity_token is None and not service.store.tokens.any_valid():
        raise ConfigError(
            f"on {host}{behind} nobody could come in: make a token first (driftgate token create NAME --scope read), "
            "configure an OIDC rule, or serve to everybody with --insecure"
        )

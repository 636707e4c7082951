"""The configuration as the settings of a service: the service itself reads no configuration."""

from __future__ import annotations

import socket
from collections.abc import Mapping

from api.hosts import is_loopback
from api.jwks import IssuerKeys
from api.oidc import IdentityRule, IdentityTokens, Issuer
from api.settings import LOOPBACK, IdentityVerifier, ServiceSettings
from driftgate.config.model import Config
from driftgate.config.service import PROVIDERS, OidcIssuer, OidcRule
from gate.errors import ConfigError


def is_for_this_machine(config: Config, host: str) -> bool:
    """Whether nobody else reaches a service that listens on ``host``: behind a proxy others do."""
    return is_loopback(host) and not config.service.proxies


def service_settings(config: Config, *, host: str, insecure: bool = False) -> ServiceSettings:
    """For a service that listens on ``host``. ``insecure``: whoever reaches it may read. Raises ConfigError."""
    if insecure and config.service.proxies:
        text = "--insecure and service.proxies contradict each other: where everybody reads, no proxy is believed"
        raise ConfigError(f"{text}; remove one")
    return ServiceSettings(
        config.store.url,
        project=config.project,
        policy=config.gate,
        trust=config.trust,
        journal=config.store.journal,
        allowed_hosts=(*LOOPBACK, host, socket.gethostname(), *config.service.allowed_hosts),
        proxies=config.service.proxies,
        open_reading=insecure or is_for_this_machine(config, host),
        verify_identity_token=identity_verifier(config.service.oidc, config.project),
    )


def identity_verifier(issuers: Mapping[str, OidcIssuer], project: str) -> IdentityVerifier | None:
    """None where no rule lets anybody in. ``project``: of rules that name none."""
    found = [_issuer(one, project) for one in issuers.values() if one.rules]
    return IdentityTokens(found) if found else None


def _issuer(issuer: OidcIssuer, project: str) -> Issuer:
    provider = PROVIDERS[issuer.provider]
    return Issuer(
        url=issuer.issuer_url,
        audience=issuer.audience,
        keys=IssuerKeys(issuer.keys_url),
        event_claim=provider.event_claim,
        provenance=provider.provenance,
        actor=provider.actor,
        rules=[_rule(rule, project) for rule in issuer.rules.values()],
    )


def _rule(rule: OidcRule, project: str) -> IdentityRule:
    events = rule.allowed_events
    return IdentityRule(
        name=rule.name,
        project=rule.project or project,
        scope=rule.scope,
        claims=rule.claims,
        events=None if events is None else frozenset(events),
        cadence=rule.cadence,
    )

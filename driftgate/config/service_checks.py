"""What ``[service.oidc]`` must not leave open: a rule without these claims lets in somebody else's jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from driftgate.config.model import Config
from driftgate.config.schema import dotted
from driftgate.config.service import PROVIDERS, OidcRule, Provider
from gate.wording import listed, nearest, shown


def complaints_about_service(config: Config) -> Iterator[str]:
    """One line for each rule that is too wide or refers to nothing."""
    for name, issuer in config.service.oidc.items():
        for rule in issuer.rules.values():
            key = dotted(("service", "oidc", name, "rules", rule.name))
            yield from _claims(key, rule, PROVIDERS[issuer.provider])
            yield from _events(key, rule, PROVIDERS[issuer.provider])
            yield from _cadence(key, rule, config)
    for url, count in Counter(issuer.issuer_url for issuer in config.service.oidc.values()).items():
        if count > 1:
            yield f"service.oidc: {url} is the issuer of more than one table; put their rules into one"


def _claims(key: str, rule: OidcRule, provider: Provider) -> Iterator[str]:
    if "sub" in rule.claims:
        yield f"{key}.claims.sub: is put together from names, which others can take over; pin the claims it is made of"
    missing = [claim for claim in provider.write_claims if claim not in rule.claims]
    if rule.scope == "write" and missing:
        yield f"{key}: writes, so it needs claims.{listed(missing)}; see how-to/github-actions-without-secrets.md"
    if not any(claim in rule.claims for claim in provider.owner_claims):
        yield f"{key}: would hold for everybody's jobs; give claims.{' or claims.'.join(provider.owner_claims)}"
    for claim, value in rule.claims.items():
        if claim in provider.owner_claims and not (value.isascii() and value.isdecimal()):
            yield f"{key}.claims.{claim}: found {shown(value)}, expected the number, which no rename changes"
    if provider.event_claim in rule.claims:
        yield f"{key}.claims.{provider.event_claim}: belongs into events"


def _events(key: str, rule: OidcRule, provider: Provider) -> Iterator[str]:
    if rule.events == ():
        yield f"{key}.events: holds for no event; name some, or leave the key out"
    if rule.scope != "write":
        return
    for event in rule.allowed_events or ():
        if event not in provider.write_events:
            valid = listed(provider.write_events)
            yield f"{key}.events: {shown(event)} may not write{nearest(event, provider.write_events)}; valid: {valid}"


def _cadence(key: str, rule: OidcRule, config: Config) -> Iterator[str]:
    if rule.cadence is None:
        return
    cadence = config.cadences.get(rule.cadence)
    if rule.scope != "write":
        yield f"{key}.cadence: says what is written; this rule only reads"
    elif cadence is None:
        yield (
            f"{key}.cadence: unknown {shown(rule.cadence)}{nearest(rule.cadence, config.cadences)}; "
            f"valid: {listed(config.cadences) or 'none'}"
        )
    elif not cadence.writes:
        yield f"{key}.cadence: {rule.cadence} does not write; see cadences.{rule.cadence}.writes"

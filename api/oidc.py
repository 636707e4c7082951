"""Identity tokens of CI jobs instead of secrets: who signed one, for whom, and what the rules let its job do."""

from __future__ import annotations

import base64
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Literal

import orjson
from joserfc import jwt
from joserfc.errors import ClaimError, JoseError
from joserfc.jwk import RSAKey

from api.authentication import CHALLENGE
from api.callers import Caller
from api.claims import MAX_CLAIM_CHARACTERS, text_of, vouched_provenance
from api.jwks import IssuerKeys
from api.problems import Refused
from gate.wording import printable, shown

ALGORITHMS = ("RS256",)
"""What GitHub and GitLab sign with. A list of one: no token chooses."""
LEEWAY_S = 30
"""By which the clocks of the issuer and of this machine may differ."""
MAX_KEY_ID_CHARACTERS = 200

_LOG = logging.getLogger("driftgate.api.oidc")


@dataclass(frozen=True, slots=True)
class IdentityRule:
    """Tokens whose claims equal all of ``claims``, and whose event is one of ``events`` (None: any), are a caller with
    ``scope`` in ``project``; what it writes has ``cadence``, where one is given.
    """

    name: str
    project: str
    scope: Literal["read", "write"]
    claims: Mapping[str, str]
    events: frozenset[str] | None = None
    cadence: str | None = None

    def mismatch(self, claims: Mapping[str, Any], event_claim: str) -> str | None:
        """The first claim that does not fit, in words; None where the rule holds."""
        event = text_of(claims.get(event_claim))
        if self.events is not None and event not in self.events:
            return f"{event_claim} is {shown(event)}"
        wrong = next((name for name, value in self.claims.items() if text_of(claims.get(name)) != value), None)
        return None if wrong is None else f"{wrong} is {shown(claims.get(wrong))}"


@dataclass(frozen=True, slots=True)
class Issuer:
    """A CI service. ``url`` is what ``iss`` must be, ``audience`` what ``aud`` must be, both to the letter.

    ``event_claim``, ``provenance`` (field to claim) and ``actor`` say how its tokens are written.
    """

    url: str
    audience: str
    keys: IssuerKeys
    event_claim: str
    provenance: Mapping[str, str]
    actor: tuple[str, str, str]
    rules: Sequence[IdentityRule]


class IdentityTokens:
    """An `api.settings.IdentityVerifier`: an identity token of a configured issuer, as the caller that the rules make
    of it. Of several rules that hold, one that writes goes first, then the order in which they are given decides.
    """

    def __init__(self, issuers: Sequence[Issuer], *, now: Callable[[], float] = time.time) -> None:
        self._issuers = {issuer.url: issuer for issuer in issuers}
        self._now = now

    def __call__(self, token: str) -> Caller:
        """Raises Refused: 401 for a token that does not hold, 403 where no rule lets its job in, 503 where the issuer's
        keys cannot be had. The token is never repeated.
        """
        kid, given = _unverified(token)
        issuer = self._issuers.get(given) if isinstance(given, str) else None
        if issuer is None:
            raise _refused(f"nobody here believes its issuer {shown(given)}")
        claims = self._verified(token, issuer.keys.find(kid), issuer)
        rule = _rule_for(issuer, claims)
        writes = rule.scope == "write"
        vouched = vouched_provenance(claims, issuer.provenance)
        return Caller(
            project=rule.project,
            scope=rule.scope,
            actor=_actor(issuer, claims),
            may_trust=writes,
            claims=replace(vouched, cadence=rule.cadence, fork=False if writes else None),
        )

    def _verified(self, token: str, key: RSAKey, issuer: Issuer) -> Mapping[str, Any]:
        expected = jwt.JWTClaimsRegistry(
            now=int(self._now()),
            leeway=LEEWAY_S,
            iss={"essential": True, "value": issuer.url},
            aud={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
        )
        try:
            claims = jwt.decode(token, key, algorithms=list(ALGORITHMS)).claims
            expected.validate(claims)
        except ClaimError as error:
            raise _refused(_WORDS.get(error.claim, f"claim {error.claim} is missing or of a wrong kind")) from None
        except (JoseError, ValueError, RecursionError):
            raise _refused("its signature does not hold") from None
        if claims["aud"] not in (issuer.audience, [issuer.audience]):
            raise _refused(f"it is for {shown(claims['aud'])}; request one for {shown(issuer.audience)}")
        if claims["iat"] > claims["exp"]:
            raise _refused("it ended before it began")
        return claims


_WORDS = {
    "exp": "it has expired or does not say when; request a fresh one for each call",
    "nbf": "it is not valid yet; compare the clocks",
    "iat": "it was issued in the future or does not say when; compare the clocks",
}


def _unverified(token: str) -> tuple[str, Any]:
    """The id of the key and the issuer that a token claims to have, which only choose among what is configured."""
    parts = token.split(".")
    if len(parts) != 3:
        raise _refused("three parts are expected, joined by dots")
    header, claims = _object(parts[0]), _object(parts[1])
    if header.get("alg") not in ALGORITHMS:
        raise _refused(f"signed with {shown(header.get('alg'))}; only {ALGORITHMS[0]} is accepted")
    kid = header.get("kid")
    if not isinstance(kid, str) or not 0 < len(kid) <= MAX_KEY_ID_CHARACTERS:
        raise _refused("it does not name its key")
    return kid, claims.get("iss")


def _object(part: str) -> Mapping[str, Any]:
    try:
        found = orjson.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise _refused("a part of it is no JSON object")
    return found


def _rule_for(issuer: Issuer, claims: Mapping[str, Any]) -> IdentityRule:
    passed_over: list[str] = []
    for rule in sorted(issuer.rules, key=lambda rule: rule.scope != "write"):
        mismatch = rule.mismatch(claims, issuer.event_claim)
        if mismatch is None:
            if passed_over:
                _LOG.info("%s: rule %s; not %s", _actor(issuer, claims), rule.name, "; ".join(passed_over))
            return rule
        passed_over.append(f"{rule.name}: {mismatch}")
    _LOG.warning("%s: no rule; %s", _actor(issuer, claims), "; ".join(passed_over))
    event = shown(claims.get(issuer.event_claim))
    text = f"no rule of this service lets in {_actor(issuer, claims)} ({event}); its log says what each rule misses"
    raise Refused(HTTPStatus.FORBIDDEN, text)


def _actor(issuer: Issuer, claims: Mapping[str, Any]) -> str:
    repository, workflow, run = (
        printable((text_of(claims.get(name)) or "?")[:MAX_CLAIM_CHARACTERS]) for name in issuer.actor
    )
    return f"oidc:{repository}@{workflow}#{run}"


def _refused(text: str) -> Refused:
    return Refused(HTTPStatus.UNAUTHORIZED, f"identity token: {text}", CHALLENGE)

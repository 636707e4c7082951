"""What an identity token vouches for: where a run comes from, and whether it may enter a baseline."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from http import HTTPStatus
from typing import Any

from api.authentication import CHALLENGE
from api.callers import Caller
from api.problems import Refused
from gate.provenance import Provenance
from gate.wording import shown

VOUCHED = ("ci_run_id", "ci_run_attempt", "event", "ref", "ci_sha", "cadence", "fork")
"""The fields of a `Provenance` that claims may hold."""
MAX_CLAIM_CHARACTERS = 500
_NUMBERS = frozenset({"ci_run_id", "ci_run_attempt"})
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LARGEST_NUMBER = 2**63 - 1


def reconcile(said: Provenance, claims: Provenance | None) -> Provenance:
    """What a body says of a run, completed by what ``claims`` vouch for; itself where there are none.

    Raises Refused (403) naming each fact in which the two contradict each other.
    """
    if claims is None:
        return said
    vouched = {name: value for name in VOUCHED if (value := getattr(claims, name)) is not None}
    contradicted = [
        f"provenance.{name} is {shown(given)}, but the identity token says {shown(value)}"
        for name, value in vouched.items()
        if (given := getattr(said, name)) is not None and _comparable(name, given) != _comparable(name, value)
    ]
    if contradicted:
        raise Refused(HTTPStatus.FORBIDDEN, "; ".join(contradicted))
    return replace(said, **vouched)


def held_back(provenance: Provenance, caller: Caller) -> str | None:
    """Why a run that ``caller`` writes is stored untrusted, None where the gate decides: with an identity token only
    the very commit that its job was started for may enter a baseline. ``provenance``: as `reconcile` gives it.
    """
    if not caller.may_trust:
        return f"written by {caller.actor}, which may not trust"
    if caller.claims is None:
        return None
    tested, claimed = provenance.tested_sha, caller.claims.ci_sha
    if tested is None or claimed is None or tested.lower() != claimed.lower():
        return f"tested_sha {tested or 'unknown'} is not the commit of the identity token, {claimed or 'unknown'}"
    return None


def vouched_provenance(claims: Mapping[str, Any], names: Mapping[str, str]) -> Provenance:
    """``names``: field of the provenance to the claim that holds it.

    Raises Refused (401) where a claim is missing or no value of its kind: what is not vouched for, a body could invent.
    """
    fields: dict[str, Any] = {field: _value(field, claim, claims) for field, claim in names.items()}
    return Provenance(**fields)


def text_of(value: Any) -> str | None:
    """A claim as rules compare it: text as it is, numbers and flags as JSON writes them, nothing else."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int) else None


def _value(field: str, claim: str, claims: Mapping[str, Any]) -> str | int:
    text = text_of(claims.get(claim))
    if text is None or not 0 < len(text) <= MAX_CLAIM_CHARACTERS or not text.isprintable():
        raise _unfit(claim, claims.get(claim), "text")
    if field == "ci_sha":
        if not _SHA.fullmatch(text.lower()):
            raise _unfit(claim, text, "a commit")
        return text.lower()
    if field not in _NUMBERS:
        return text
    if not (text.isascii() and text.isdecimal() and len(text) <= 19 and int(text) <= _LARGEST_NUMBER):
        raise _unfit(claim, text, "a number")
    return int(text)


def _unfit(claim: str, value: Any, expected: str) -> Refused:
    text = f"identity token: claim {claim} is {shown(value)}, expected {expected}"
    return Refused(HTTPStatus.UNAUTHORIZED, text, CHALLENGE)


def _comparable(field: str, value: Any) -> Any:
    return value.lower() if field == "ci_sha" else value

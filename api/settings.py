"""What a service is started with: where its store is, how it judges, and whom it lets in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from api.callers import Caller
from gate.policy import GatePolicy
from store.contract import TrustGrain

PORT = 8321
LOOPBACK = ("127.0.0.1", "localhost", "::1")

IdentityVerifier = Callable[[str], Caller]
"""Who bears this identity token of a CI service. Raises `api.problems.Refused` (401; 403: nobody let
in here; 503: cannot be told now), never repeating the token."""


@dataclass(frozen=True, slots=True)
class ServiceSettings:
    """``database_url`` as `store.opening.open_store` takes it. ``policy`` and ``trust``: how written runs are judged.

    ``project`` is the one that an unauthenticated caller on loopback sees where it names none. ``allowed_hosts`` are
    the names, without port, by which this service may be addressed (against DNS rebinding); ``proxies`` the addresses
    whose forwarded headers are believed. ``open_reading``: whoever asks may read; only ever true on loopback or by an
    explicit choice. ``verify_identity_token``: asked about every bearer token that is not one of the store's own.
    """

    database_url: str
    project: str = "default"
    policy: GatePolicy = field(default_factory=GatePolicy)
    trust: TrustGrain = "run"
    journal: Literal["wal", "delete"] = "wal"
    allowed_hosts: tuple[str, ...] = LOOPBACK
    proxies: tuple[str, ...] = ()
    open_reading: bool = True
    verify_identity_token: IdentityVerifier | None = None

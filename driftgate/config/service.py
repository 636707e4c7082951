"""What ``[service]`` says: where the HTTP service listens, and which CI jobs it knows by their identity tokens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

IdentityScope = Literal["read", "write"]
IDENTITY_SCOPES: tuple[IdentityScope, ...] = ("read", "write")
"""What a job may be given. Operating is for people."""
WRITING_EVENTS = ("schedule",)
"""Of a write rule that names none; GitHub and GitLab call it the same."""


@dataclass(frozen=True, slots=True)
class Provider:
    """How a CI service writes its identity tokens.

    ``key_path``: from the issuer's URL to its keys. ``owner_claims``: a rule that pins none of them would hold for
    everybody's jobs. ``write_claims``: what a write rule pins, all of it. ``write_events``: which events a write rule
    may allow; in all others somebody else's code, or text of a stranger, may be what runs. ``provenance``: field of
    `gate.provenance.Provenance` to the claim that vouches for it. ``actor``: the claims that name the job.
    """

    issuer: str
    key_path: str
    event_claim: str
    owner_claims: tuple[str, ...]
    write_claims: tuple[str, ...]
    write_events: tuple[str, ...]
    provenance: Mapping[str, str]
    actor: tuple[str, str, str]


PROVIDERS: Mapping[str, Provider] = {
    "github": Provider(
        issuer="https://token.actions.githubusercontent.com",
        key_path="/.well-known/jwks",
        event_claim="event_name",
        owner_claims=("repository_id", "repository_owner_id"),
        write_claims=("workflow_ref", "ref", "repository_id", "repository_owner_id"),
        write_events=("schedule", "push", "workflow_dispatch"),
        provenance={
            "ci_run_id": "run_id",
            "ci_run_attempt": "run_attempt",
            "event": "event_name",
            "ref": "ref",
            "ci_sha": "sha",
        },
        actor=("repository", "workflow_ref", "run_id"),
    ),
    "gitlab": Provider(
        issuer="https://gitlab.com",
        key_path="/oauth/discovery/keys",
        event_claim="pipeline_source",
        owner_claims=("project_id", "namespace_id"),
        write_claims=("ci_config_ref_uri", "ref_path", "ref_protected", "project_id", "namespace_id"),
        write_events=("schedule", "push", "web"),
        provenance={
            "ci_run_id": "pipeline_id",
            "ci_run_attempt": "job_id",
            "event": "pipeline_source",
            "ref": "ref",
            "ci_sha": "sha",
        },
        actor=("project_path", "ci_config_ref_uri", "pipeline_id"),
    ),
}


@dataclass(frozen=True, slots=True)
class OidcRule:
    """Jobs whose claims equal all ``claims`` may do in ``project`` what ``scope`` allows; what they write has
    ``cadence``, where one is given.

    ``project`` None: the configuration's own. ``events`` None: any for reading, `WRITING_EVENTS` for writing.
    """

    name: str
    scope: IdentityScope = "read"
    project: str | None = None
    cadence: str | None = None
    events: tuple[str, ...] | None = None
    claims: Mapping[str, str] = field(default_factory=dict)

    @property
    def allowed_events(self) -> tuple[str, ...] | None:
        """None: any."""
        return WRITING_EVENTS if self.events is None and self.scope == "write" else self.events


@dataclass(frozen=True, slots=True)
class OidcIssuer:
    """Who signs identity tokens for ``audience``. Of several rules that hold, one that writes goes first.

    ``issuer`` and ``jwks_url`` None: those of the provider.
    """

    name: str
    audience: str
    provider: str = "github"
    issuer: str | None = None
    jwks_url: str | None = None
    rules: Mapping[str, OidcRule] = field(default_factory=dict)

    @property
    def issuer_url(self) -> str:
        """What the claim ``iss`` must be, to the letter."""
        return self.issuer or PROVIDERS[self.provider].issuer

    @property
    def keys_url(self) -> str:
        return self.jwks_url or self.issuer_url.rstrip("/") + PROVIDERS[self.provider].key_path


@dataclass(frozen=True, slots=True)
class ServiceConfig:
    """``allowed_hosts``: names, without port, by which the service may be called besides those of loopback.
    ``proxies``: addresses and ranges whose forwarded headers are believed.
    """

    host: str = "127.0.0.1"
    port: int = 8321
    allowed_hosts: tuple[str, ...] = ()
    proxies: tuple[str, ...] = ()
    oidc: Mapping[str, OidcIssuer] = field(default_factory=dict)

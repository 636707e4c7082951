"""A CI service that signs identity tokens, on this machine. Loaded by ``conftest.py`` under ``identity_issuer``."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

AUDIENCE = "https://gate.example"
JOB_SECRET = "of one job"  # noqa: S105 - of a job that is none
SHA, OTHER_SHA = "ab" * 20, "cd" * 20
PINNED = {
    "workflow_ref": "octo/repo/.github/workflows/nightly.yml@refs/heads/main",
    "ref": "refs/heads/main",
    "repository_id": "74",
    "repository_owner_id": "65",
}
"""What a write rule pins."""
FACTS = {"ci_run_id": 4711, "ci_run_attempt": 2, "tested_sha": SHA}
"""What an honest job says of itself."""
CLAIMS = {
    **PINNED,
    "sub": "repo:octo/repo:ref:refs/heads/main",
    "repository": "octo/repo",
    "repository_owner": "octo",
    "event_name": "schedule",
    "run_id": "4711",
    "run_attempt": "2",
    "sha": SHA,
    "ref_type": "branch",
    "actor": "mona",
}
"""As GitHub writes those of a scheduled job."""


@cache
def key(kid: str) -> RSAKey:
    """Always the same for one id."""
    return RSAKey.generate_key(2048, {"kid": kid, "use": "sig", "alg": "RS256"})


@dataclass
class Issuer:
    """``served`` are the ids of the keys it lists; ``status`` and ``body`` change its answer. Counts ``fetches``."""

    url: str = ""
    served: list[str] = field(default_factory=lambda: ["first"])
    status: int = 200
    body: bytes | None = None
    fetches: int = 0

    @property
    def job(self) -> dict[str, str]:
        """The variables by which GitHub lets a job ask for its tokens."""
        url = f"{self.url}/token?api-version=2.0"
        return {"ACTIONS_ID_TOKEN_REQUEST_URL": url, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": JOB_SECRET}

    @property
    def keys_url(self) -> str:
        return f"{self.url}/.well-known/jwks"

    def service(self, url: str) -> Any:
        """Settings of a service that lets in nobody but the jobs of one repository: its schedule writes."""
        from api.jwks import IssuerKeys
        from api.oidc import IdentityRule, IdentityTokens, Issuer
        from api.settings import ServiceSettings
        from driftgate.config.service import PROVIDERS

        rules = (
            IdentityRule("nightly", "default", "write", PINNED, frozenset({"schedule"}), "nightly"),
            IdentityRule("readers", "default", "read", {"repository_id": PINNED["repository_id"]}),
        )
        github, keys = PROVIDERS["github"], IssuerKeys(self.keys_url, allow_http=True)
        known = Issuer(self.url, AUDIENCE, keys, github.event_claim, github.provenance, github.actor, rules)
        return ServiceSettings(url, open_reading=False, verify_identity_token=IdentityTokens([known]))

    def document(self) -> bytes:
        rows = [key(kid).as_dict(private=False) for kid in self.served]
        return json.dumps({"keys": rows}).encode() if self.body is None else self.body

    def token(self, kid: str = "first", header: dict[str, Any] | None = None, **changed: Any) -> str:
        """A good token, but for what is ``changed``; None leaves a claim out."""
        return jwt.encode({"alg": "RS256", "kid": kid} | (header or {}), self.claims(**changed), key(kid))

    def claims(self, **changed: Any) -> dict[str, Any]:
        now = int(time.time())
        times = {"iat": now, "nbf": now - 5, "exp": now + 300}
        claims = {"iss": self.url, "aud": AUDIENCE, **times, **CLAIMS, **changed}
        return {name: value for name, value in claims.items() if value is not None}


@contextmanager
def running_issuer() -> Iterator[Issuer]:
    """Ended with the block."""
    issuer = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            status, body = issuer.status, issuer.document()
            if asked.path == "/token":
                known = self.headers["Authorization"] == f"Bearer {JOB_SECRET}"
                status, audience = (200 if known else 401), parse_qs(asked.query).get("audience", ["none"])[0]
                body = json.dumps({"count": 1, "value": issuer.token(aud=audience)}).encode()
            else:
                issuer.fetches += 1
            self.send_response(status)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

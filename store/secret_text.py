"""Secrets that the store gives out: 256 random bits behind a prefix by which people and log filters know them."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

TOKEN, SESSION, LOGIN_KEY = OURS = ("dg_", "dgs_", "dgl_")
"""Prefixes. They are hashed too, so that a secret of one kind is nothing as another."""
_BYTES = 32
_SECRET = re.compile(r"dg[sl]?_[A-Za-z0-9_-]{40,}|eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*")
"""Ours, and identity tokens of CI services, which are JSON web tokens."""
_WORD = re.compile(rf"\b(?:{_SECRET.pattern})")


def new_secret(prefix: str) -> str:
    return prefix + secrets.token_urlsafe(_BYTES)


def secret_hash(secret: str) -> str:
    """What is stored instead. A plain hash does: nobody guesses 256 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def is_hash_of(secret: str, stored: str) -> bool:
    """In constant time."""
    return hmac.compare_digest(secret_hash(secret), stored)


def holds_secret(text: str) -> bool:
    """Whether a word of ``text`` is a secret; long names hold ``dg_`` in their midst."""
    return _WORD.search(text) is not None


def redacted(text: str) -> str:
    """``text`` with every secret cut down to its first four characters, also behind letters: those of an escape."""
    return _SECRET.sub(lambda found: f"{found[0][:4]}[hidden]", text)

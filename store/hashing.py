"""Content hashes: the same bytes on every machine for the same content, doubles bit by bit."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence

import orjson

from gate.identity import SeriesIdentity, SpecKey
from store.contract import SeriesValues


def series_hash(identity: SeriesIdentity) -> str:
    return _sha256(orjson.dumps([identity.project, identity.test_path, identity.backend, identity.suite]))


def spec_hash(key: SpecKey) -> str:
    return _sha256(orjson.dumps([key.metric_key, key.steps_key, key.constraint_key]))


def steps_hash(steps: Sequence[int]) -> str:
    return _sha256(struct.pack(f"<{len(steps)}q", *steps))


def content_hash(identity: SeriesIdentity, series: Sequence[SeriesValues]) -> str:
    """Hash of identity, coordinates and values, whatever the order of the gate specs."""
    digest = hashlib.sha256(series_hash(identity).encode())
    for one in sorted(series, key=lambda one: one.key):
        digest.update(f"{spec_hash(one.key)}{steps_hash(one.steps)}".encode())
        digest.update(struct.pack(f"<{len(one.values)}d", *one.values))
    return digest.hexdigest()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

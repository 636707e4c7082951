"""What a store refuses before it touches the database. Every refusal is a ValueError of one line."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import orjson

from gate.identity import SeriesIdentity
from gate.provenance import Provenance
from store.contract import Attempt, NewRun, SeriesValues

MAX_IDENTITY_BYTES = 2000
"""A longer address would not fit into a Postgres index."""
MAX_KEY_CHARACTERS = 500
MAX_INTEGER = 2**63 - 1
MAX_CLOCK_LEAD = timedelta(days=1)
_FULL_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}", re.IGNORECASE)


def check_run(run: NewRun, now: datetime) -> None:
    check_identity(run.identity)
    _check_created_at(run.created_at, now)
    if len({one.key for one in run.series}) != len(run.series):
        raise ValueError("the same gate spec stands twice in one run; give each gate spec once")
    for one in run.series:
        _check_series(one)
    _check_ci_numbers(run.provenance)
    check_json("verdict", run.verdict)


def check_attempt(attempt: Attempt) -> None:
    check_identity(attempt.identity)
    _check_ci_numbers(attempt)


def check_identity(identity: SeriesIdentity) -> None:
    parts = {
        "project": identity.project,
        "test_path": identity.test_path,
        "backend": identity.backend,
        "suite": identity.suite,
    }
    for name, value in parts.items():
        check_text(name, value)
    if sum(len(value.encode()) for value in parts.values()) > MAX_IDENTITY_BYTES:
        raise ValueError(f"project, test path, backend and suite together exceed {MAX_IDENTITY_BYTES} bytes")


def check_text(name: str, value: str) -> str:
    """The text, if a database can hold it: not blank, no NUL, valid Unicode."""
    if not value.strip():
        raise ValueError(f"{name} is empty; give one")
    check_storable(name, value)
    return value


def check_storable(name: str, value: str) -> None:
    if "\0" in value:
        raise ValueError(f"{name} holds a NUL character, which no database stores: {value!r:.80}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} is not valid Unicode: {value!r:.80}") from None


def check_json(name: str, value: Mapping[str, Any]) -> None:
    try:
        orjson.dumps(value, default=dict)
    except TypeError as error:
        raise ValueError(f"{name} cannot be written as JSON: {error}") from error


def check_sha(commit_sha: str) -> str:
    """The commit in lower case; a short one is refused, because it may name several commits."""
    if not _FULL_SHA.fullmatch(commit_sha):
        raise ValueError(f"commit {commit_sha!r:.80} is not a full SHA; give all 40 (or 64) hexadecimal digits")
    return commit_sha.lower()


def check_key(key: str) -> str:
    """An idempotency key as given by the caller."""
    check_text("idempotency key", key)
    if len(key) > MAX_KEY_CHARACTERS:
        raise ValueError(f"idempotency key of {len(key)} characters is too long; give at most {MAX_KEY_CHARACTERS}")
    return key


def check_limit(limit: int) -> None:
    if limit < 1:
        raise ValueError(f"limit {limit} is not a number of values; give 1 or more")


def check_ci_run_id(ci_run_id: int) -> int:
    """The id of a CI run as somebody selects by it."""
    _check_number("ci_run_id", ci_run_id, least=1)
    return ci_run_id


def _check_ci_numbers(facts: Provenance | Attempt) -> None:
    for name in ("ci_run_id", "ci_run_attempt", "test_attempt"):
        number = getattr(facts, name)
        if number is not None:
            _check_number(name, number, least=0)


def _check_number(name: str, number: int, *, least: int) -> None:
    if not least <= number <= MAX_INTEGER:
        raise ValueError(f"{name} {number} is out of range; give a number from {least} to 2**63 - 1")


def _check_created_at(created_at: datetime, now: datetime) -> None:
    if created_at.tzinfo is None or created_at.utcoffset() is None:
        raise ValueError(f"created_at {created_at.isoformat()} has no time zone; give an aware time")
    if created_at > now + MAX_CLOCK_LEAD:
        raise ValueError(f"created_at {created_at.isoformat()} is more than a day ahead; set the clock right")


def _check_series(one: SeriesValues) -> None:
    metric = one.key.metric_key
    for name in ("metric_key", "steps_key", "constraint_key"):
        check_storable(name, getattr(one.key, name))
    if len(one.steps) != len(one.values):
        raise ValueError(f"{metric}: {len(one.steps)} steps but {len(one.values)} values; give one value per step")
    if any(later <= earlier for earlier, later in zip(one.steps, one.steps[1:], strict=False)):
        raise ValueError(f"{metric}: steps do not ascend; sort them and give each once")
    if any(abs(step) > MAX_INTEGER for step in one.steps[:1] + one.steps[-1:]):
        raise ValueError(f"{metric}: a step needs more than 64 bits; give steps below 2**63")
    for step, value in zip(one.steps, one.values, strict=True):
        if not math.isfinite(value):
            raise ValueError(f"{metric} step {step}: {value} is not a finite number and is never stored")

"""The table of all keys of driftgate.toml. A default stands in the model, beside the field that the key fills."""

from __future__ import annotations

from typing import Any, get_args

from driftgate.config import service_values, values
from driftgate.config.label_registry import label_registry
from driftgate.config.model import BACKENDS, Root
from driftgate.config.schema import KeyPath, Table, read_table
from driftgate.config.service import IDENTITY_SCOPES, PROVIDERS
from driftgate.config.values import RefusedValueError
from gate.policy import Profile
from gate.wording import shown

LONGEST_HISTORY = 500
"""Runs: the store looks at no more than these."""
FEWEST_SHIFT_RUNS, MOST_SHIFT_RUNS = 5, 20
LONGEST_TIMEOUT_S = 604_800.0
MOST_ATTEMPTS = 10
LONGEST_RETRY_WAIT_S = 86_400.0
MOST_GPUS = 1024
MOST_SHARDS = 256
LAST_PORT = 65_535

BACKEND = values.choice(*BACKENDS)
SECONDS = values.positive(LONGEST_TIMEOUT_S)


def _backends(value: Any) -> tuple[str, ...]:
    return tuple(BACKEND(item) for item in values.texts(value))


_ROOT: Table = {
    "path": values.text,
    "pattern": values.text,
    "command": values.command,
    "forbid": _backends,
    "default": {"backend": BACKEND, "suite": values.text, "est_time": SECONDS},
}
_ROOT_FIELDS: dict[KeyPath, str] = {
    ("default", "backend"): "default_backend",
    ("default", "suite"): "default_suite",
    ("default", "est_time"): "default_est_time_s",
}


def roots(value: Any) -> tuple[Root, ...]:
    """A list of folders, each a string or a table; its default registration is whole or absent."""
    if not isinstance(value, list | tuple):
        raise RefusedValueError(f'found {shown(value)}, expected a list of folders such as ["tests"]')
    return tuple(_root({"path": item} if isinstance(item, str) else item) for item in value)


def _root(item: Any) -> Root:
    if not isinstance(item, dict):
        raise RefusedValueError(f"found {shown(item)}, expected a folder or a table with path")
    entries, complaints = read_table(item, _ROOT, "")
    if complaints:
        raise RefusedValueError("; ".join(complaints))
    fields = {_ROOT_FIELDS.get(path, path[0]): entry.value for path, entry in entries.items()}
    if "path" not in fields:
        raise RefusedValueError(f"found {shown(item)}, expected a path in each entry")
    if len(fields.keys() & set(_ROOT_FIELDS.values())) not in (0, len(_ROOT_FIELDS)):
        raise RefusedValueError(f"default of {shown(item['path'])} needs backend, suite and est_time")
    return Root(**fields)


KEYS: Table = {
    "project": values.text,
    "preset": values.text,
    "command": values.command,
    "generations": values.texts,
    "capture": {"metrics": values.texts},
    "gate": {
        "profile": values.choice(*get_args(Profile)),
        "history": values.integer(1, LONGEST_HISTORY),
        "anchor_runs": values.integer(1, LONGEST_HISTORY),
        "min_points_ratio": values.positive(1.0),
        "shift_runs": values.integer(FEWEST_SHIFT_RUNS, MOST_SHIFT_RUNS),
        "shift_fraction": values.positive(1.0),
        "trust": values.choice("run", "metric"),
        "defaults": {"*": {"steps": values.steps, "constraint": values.constraint}},
    },
    "discovery": {"roots": roots, "label_registry": label_registry},
    "labels": {"*": values.text},
    "suites": {
        "*": {
            "backend": BACKEND,
            "generation": values.text,
            "gpus": values.integer(0, MOST_GPUS),
            "runner": values.texts,
            "capabilities": values.texts,
            "needs": values.texts,
            "shards": values.integer(1, MOST_SHARDS),
            "command": values.command,
            "retry": values.flag,
        }
    },
    "cadences": {
        "*": {
            "crons": values.crons,
            "events": values.texts,
            "pr_labels": values.texts,
            "scope": values.scope,
            "nightly_only": values.flag,
            "fast_fail": values.flag,
            "writes": values.flag,
        }
    },
    "requests": {
        "prefix": values.text,
        "generation_prefix": values.text,
        "scopes": {
            "*": {"scope": values.scope, "over_cadence": values.flag, "only_generation": values.text},
        },
        "generations": {"*": values.text},
        "bypass_fast_fail": values.texts,
    },
    "changes": {"harmless": values.texts},
    "write": {"events": values.texts, "branch": values.text, "pr_label_writes": values.flag},
    "retry": {
        "enabled": values.flag,
        "max_attempts": values.integer(1, MOST_ATTEMPTS),
        "wait": values.not_negative(LONGEST_RETRY_WAIT_S),
        "wrappers": values.texts,
        "rules": {
            "*": {
                "exceptions": values.texts,
                "patterns": values.patterns,
                "timeouts": values.flag,
                "retry": values.flag,
            }
        },
    },
    "timeouts": {
        "timeout_per_file": SECONDS,
        "retry_timeout_increase": SECONDS,
        "cap": SECONDS,
        "kill_grace": SECONDS,
    },
    "enforcement": {"allow": values.texts, "on_outage": values.choice("fail", "shadow")},
    "store": {"url": values.url, "migration_url": values.url, "journal": values.choice("wal", "delete")},
    "provenance": {"packages": values.texts, "tested_sha": values.text, "image_digest": values.text},
    "service": {
        "host": service_values.host,
        "port": values.integer(0, LAST_PORT),
        "allowed_hosts": service_values.hosts,
        "proxies": service_values.proxies,
        "oidc": {
            "*": {
                "provider": values.choice(*PROVIDERS),
                "audience": values.text,
                "issuer": service_values.https_url,
                "jwks_url": service_values.https_url,
                "rules": {
                    "*": {
                        "scope": values.choice(*IDENTITY_SCOPES),
                        "project": values.text,
                        "cadence": values.text,
                        "events": values.texts,
                        "claims": {"*": service_values.claim},
                    }
                },
            }
        },
    },
}

REQUIRED: dict[KeyPath, tuple[str, ...]] = {
    ("suites",): ("backend",),
    ("requests", "scopes"): ("scope",),
    ("retry", "rules"): ("retry",),
    ("gate", "defaults"): ("steps", "constraint"),
    ("service", "oidc"): ("audience",),
}
"""What each row of these tables must have, once all sources are merged."""

ENVIRONMENT: tuple[tuple[str, str], ...] = (
    ("DRIFTGATE_PROJECT", "project"),
    ("NEON_DATABASE_URL", "store.url"),
    ("DRIFTGATE_DATABASE_URL", "store.url"),
    ("DRIFTGATE_MIGRATION_URL", "store.migration_url"),
    ("DRIFTGATE_TESTED_SHA", "provenance.tested_sha"),
    ("DRIFTGATE_IMAGE_DIGEST", "provenance.image_digest"),
)
"""Variable to key; of two for one key the later wins. A variable that is set but empty counts as absent."""

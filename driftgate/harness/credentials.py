"""What a test's process may know of the job's environment: everything but the credentials."""

from __future__ import annotations

from collections.abc import Mapping

CREDENTIALS = frozenset(
    {"DRIFTGATE_DATABASE_URL", "DRIFTGATE_MIGRATION_URL", "NEON_DATABASE_URL", "DRIFTGATE_TOKEN"},
)
CREDENTIAL_PREFIX = "ACTIONS_ID_TOKEN_REQUEST_"


def without_credentials(environment: Mapping[str, str]) -> dict[str, str]:
    """A copy of the environment without the variables that open the store. Hygiene, not isolation."""
    return {
        name: value
        for name, value in environment.items()
        if name not in CREDENTIALS and not name.startswith(CREDENTIAL_PREFIX)
    }

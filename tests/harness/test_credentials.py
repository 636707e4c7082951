"""A test's process gets the environment without the keys to the store."""

from driftgate.harness.credentials import without_credentials

SECRET = {
    "DRIFTGATE_DATABASE_URL": "x",
    "DRIFTGATE_MIGRATION_URL": "x",
    "NEON_DATABASE_URL": "x",
    "DRIFTGATE_TOKEN": "x",
    "ACTIONS_ID_TOKEN_REQUEST_URL": "x",
    "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "x",
}


def test_credentials_are_removed_and_nothing_else():
    """All named variables go, the rest stays, and the given mapping is untouched."""
    environment = {**SECRET, "PATH": "/bin", "DRIFTGATE_STRICT": "1"}
    assert without_credentials(environment) == {"PATH": "/bin", "DRIFTGATE_STRICT": "1"}
    assert set(SECRET) < set(environment)

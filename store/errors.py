"""What can go wrong in a store, in words that do not depend on the database behind it."""

from __future__ import annotations

from gate.errors import DriftgateError


class StoreError(DriftgateError):
    """Base of all store errors. No message ever contains a password."""


class StoreUnavailable(StoreError):
    """The store cannot be reached or opened now: no server, no permission, locked, not a database."""


class StoreConflict(StoreError):
    """The request contradicts what is stored: same key with other content, or a superseded run marked trusted."""


class SchemaMismatch(StoreUnavailable):
    """The database was made by a newer driftgate, or needs ``driftgate db upgrade``."""


class NotFound(StoreError):
    """No such run, epoch or series in this project."""


def no_epoch(project: str, epoch_id: str) -> NotFound:
    return NotFound(f"no epoch {epoch_id!r:.80} in project {project!r}; `driftgate epoch list` shows what is")

"""Where attempts leave their records: ``<base>/<slug>-<hash>/attempt-<n>/``, each made for one attempt only."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import uuid
from contextlib import suppress
from pathlib import Path

from driftgate.harness.regular_files import NotRegular, opened_folder, read_regular
from gate.errors import ConfigError, RecordError
from gate.identity import SeriesIdentity

KEY_FILE = "idempotency-key"
SEED_METRIC = "seed"
"""Kept in every record, declared or not: where a test logs it, it belongs to the run's provenance."""
_SLUG_CHARACTERS = 60


def new_attempt_folder(base: Path, identity: SeriesIdentity, call: str, attempt: int) -> Path:
    """Make the folder of one attempt. ``call`` is different in every call of the harness, so none is ever reused.

    Raises: ConfigError (it cannot be made).
    """
    folder = base.absolute() / f"{_slug(identity.test_path)}-{_digest(identity, call)}" / f"attempt-{attempt}"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir()
    except OSError as error:
        raise ConfigError(f"records folder {folder}: cannot be created: {error.strerror}") from None
    return folder


def discard(folder: Path) -> None:
    """Remove an attempt's folder with all in it, and its test's where it was the last; what cannot go is left."""
    with suppress(OSError):
        shutil.rmtree(folder)
        folder.parent.rmdir()


def idempotency_key(folder: Path) -> str:
    """The attempt's own UUID, made at the first call and found again by every later one, of other processes too.

    Raises: RecordError (it can neither be read nor written).
    """
    try:
        with opened_folder(folder) as descriptor:
            return _stored_key(descriptor) or _store_key(descriptor)
    except (NotRegular, ValueError):
        raise RecordError(f"{folder / KEY_FILE}: not the key of this attempt; remove it") from None
    except OSError as error:
        raise RecordError(f"{folder / KEY_FILE}: {error.strerror}; writing needs a key of its own here") from None


def _stored_key(folder: int) -> str | None:
    try:
        return str(uuid.UUID(read_regular(KEY_FILE, folder, 64).decode("ascii").strip()))
    except FileNotFoundError:
        return None


def _store_key(folder: int) -> str:
    key = str(uuid.uuid4())
    temporary = f".{KEY_FILE}-{key}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644, dir_fd=folder)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(key + "\n")
        file.flush()
        os.fsync(descriptor)
    try:
        os.link(temporary, KEY_FILE, src_dir_fd=folder, dst_dir_fd=folder)
    except FileExistsError:
        return _stored_key(folder) or key
    finally:
        os.unlink(temporary, dir_fd=folder)
    return key


def _slug(test_path: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", test_path.removesuffix(".py"))[-_SLUG_CHARACTERS:].strip("-") or "test"


def _digest(identity: SeriesIdentity, call: str) -> str:
    parts = (identity.project, identity.test_path, identity.backend, identity.suite, call)
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:12]

"""The record of a passing attempt: the files of its processes, merged into one."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from driftgate.harness.regular_files import NotRegular, opened_folder, read_regular
from gate.errors import RecordError
from gate.record import Record, dump_record, merge, parse

MERGED_NAME = "record.merged"
"""Beside its sources; not ``*.jsonl``, so that merging again does not read it."""
FILE_BYTES = 64 << 20
TOTAL_BYTES = 256 << 20
MOST_FILES = 10_000


def merge_attempt(folder: Path) -> Record:
    """Every regular ``*.jsonl`` of the attempt's folder, in order of name, as one record.

    Links, FIFOs and other files that are not regular are refused and noted. What is too large or too many to be read
    makes the record damaged. An empty folder gives an empty record.

    Raises: RecordError (the folder or a file in it cannot be read).
    """
    try:
        with opened_folder(folder) as descriptor:
            with os.scandir(descriptor) as entries:
                names = sorted(entry.name for entry in entries if entry.name.endswith(".jsonl"))
            return merge(_read_all(names, descriptor))
    except OSError as error:
        # Of a file inside only its name is known, and of the open folder only a descriptor.
        inside = isinstance(error.filename, str) and error.filename != str(folder)
        where = folder / error.filename if inside else folder
        raise RecordError(f"record directory {where}: cannot be read: {error.strerror}") from None


def write_merged(record: Record, folder: Path) -> Path:
    """Put the merged record into the folder, whole or not at all; a link planted at its name is replaced.

    Raises: OSError (no space, a read-only folder).
    """
    target, temporary = folder / MERGED_NAME, folder / f".{MERGED_NAME}-{uuid.uuid4().hex}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(dump_record(record))
            file.flush()
            os.fsync(descriptor)
        temporary.replace(target)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
    return target


def _read_all(names: list[str], folder: int) -> list[Record]:
    records = []
    left = TOTAL_BYTES
    for name in names[:MOST_FILES]:
        record, size = _read(name, folder, min(left, FILE_BYTES))
        records.append(record)
        left -= size
    if len(names) > MOST_FILES:
        records.append(Record(damaged=f"{len(names)} files, more than the {MOST_FILES} that are read"))
    return records


def _read(name: str, folder: int, limit: int) -> tuple[Record, int]:
    shown = name.encode("utf-8", "replace").decode()
    try:
        data = read_regular(name, folder, limit)
    except NotRegular as error:
        return Record(notes=(f"{shown}: refused, {error}",)), 0
    if len(data) > limit:
        return Record(damaged=f"{shown}: not read, larger than the {limit} bytes left for it"), 0
    return parse(data, shown), len(data)

"""Reading files that a test may have planted: no link is followed, no FIFO waited for, no size trusted."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NOT_A_FILE = {errno.ELOOP: "a symbolic link", errno.ENXIO: "a socket or device"}


class NotRegular(Exception):
    """What stands where a regular file was expected; the text names it."""


@contextmanager
def opened_folder(path: Path) -> Iterator[int]:
    """A descriptor of the folder, for listing and for opening what is in it."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_regular(name: str, folder: int, limit: int) -> bytes:
    """At most ``limit`` + 1 bytes of the file, so that the caller sees when it holds more.

    Raises: NotRegular (a link, FIFO, socket, device or directory), OSError.
    """
    try:
        descriptor = os.open(name, _OPEN, dir_fd=folder)
    except OSError as error:
        if error.errno in _NOT_A_FILE:
            raise NotRegular(_NOT_A_FILE[error.errno]) from None
        raise
    try:
        _check_regular(os.fstat(descriptor).st_mode)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read(limit + 1)
    finally:
        os.close(descriptor)


def _check_regular(mode: int) -> None:
    if stat.S_ISFIFO(mode):
        raise NotRegular("a FIFO")
    if stat.S_ISDIR(mode):
        raise NotRegular("a directory")
    if not stat.S_ISREG(mode):
        raise NotRegular("a socket or device")

"""Reading files that a test may have planted: no link is followed, no FIFO waited for, no size trusted."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path, PurePosixPath

_FOLLOW = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_OPEN = _FOLLOW | os.O_NOFOLLOW
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
    return _read(name, folder, _OPEN, limit)


def read_named(path: Path, limit: int) -> bytes:
    """As ``read_regular``, of a file that somebody named: links on its path are followed."""
    return _read(path, None, _FOLLOW, limit)


def read_below(folder: Path, name: PurePosixPath, limit: int) -> bytes:
    """As ``read_regular``, of a file below ``folder``, in a tree that somebody else made and may be changing.

    Neither ``folder`` nor any part of ``name`` may be a link: each is opened from within the one above it.
    """
    with ExitStack() as opened:
        descriptor = None
        parts: tuple[str | Path, ...] = (folder, *name.parent.parts)
        for part in parts:
            descriptor = _entered(part, descriptor)
            opened.callback(os.close, descriptor)
        return _read(name.name, descriptor, _OPEN, limit)


def _entered(part: str | Path, above: int | None) -> int:
    try:
        return os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=above)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and stat.S_ISLNK(
            os.stat(part, dir_fd=above, follow_symlinks=False).st_mode
        ):
            raise NotRegular("below a symbolic link") from None
        raise


def _read(path: str | Path, folder: int | None, flags: int, limit: int) -> bytes:
    try:
        descriptor = os.open(path, flags, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ENXIO or (error.errno == errno.ELOOP and flags & os.O_NOFOLLOW):
            raise NotRegular(_NOT_A_FILE[error.errno]) from None
        raise
    try:
        status = os.fstat(descriptor)
        _check_regular(status.st_mode)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            content = file.read(min(status.st_size, limit) + 1)  # asking for the limit would reserve it for each file
            return content if len(content) <= status.st_size else content + file.read(limit + 1 - len(content))
    finally:
        os.close(descriptor)


def _check_regular(mode: int) -> None:
    if stat.S_ISFIFO(mode):
        raise NotRegular("a FIFO")
    if stat.S_ISDIR(mode):
        raise NotRegular("a directory")
    if not stat.S_ISREG(mode):
        raise NotRegular("a socket or device")

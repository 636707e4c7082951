"""Processes that lose their parent come to this one instead of the machine's first: none is lost. Linux only."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

import psutil

_SET_SUBREAPER, _GET_SUBREAPER = 36, 37
"""PR_SET_CHILD_SUBREAPER and PR_GET_CHILD_SUBREAPER of prctl(2)."""


@contextmanager
def adopted_orphans() -> Iterator[None]:
    """While entered, this process becomes the parent of whichever descendant loses its own.

    Where the system has no such thing nothing changes.
    """
    before = _is_subreaper()
    if before is None:
        yield
        return
    _prctl(_SET_SUBREAPER, 1)
    try:
        yield
    finally:
        _prctl(_SET_SUBREAPER, before)


def children_outside() -> list[psutil.Process]:
    """Children of this process that are in another session than it is: those it put there, and those it adopted."""
    return [child for child in psutil.Process().children() if _is_outside(child.pid)]


def bury(owned: Collection[int]) -> None:
    """Take note of the end of adopted children, so that no zombie stays; ``owned`` are left to who started them."""
    if sys.platform != "linux":
        return
    with suppress(ChildProcessError):
        while ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if ended.si_pid in owned or not _is_outside(ended.si_pid):
                return
            os.waitpid(ended.si_pid, os.WNOHANG)


def _is_outside(pid: int) -> bool:
    try:
        return os.getsid(pid) != os.getsid(0)
    except OSError:
        return False


def _is_subreaper() -> int | None:
    if sys.platform != "linux":
        return None
    answer = ctypes.c_int()
    return answer.value if _prctl(_GET_SUBREAPER, ctypes.byref(answer)) == 0 else None


def _prctl(option: int, argument: object) -> int:
    try:
        return int(ctypes.CDLL(None).prctl(option, argument, 0, 0, 0))
    except (OSError, AttributeError):
        return -1

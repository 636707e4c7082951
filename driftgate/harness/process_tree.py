"""Every process that a test started, wherever it went, found and ended."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

import psutil

from driftgate.harness.orphans import children_outside

MARK_PREFIX = "DRIFTGATE_MARK_"
PAUSE_S = 0.02
KILL_ROUNDS = 20
KILL_WAIT_S = 0.25

Pause = Callable[[float], None]


def _new_mark() -> str:
    return MARK_PREFIX + secrets.token_hex(16)


@dataclass(slots=True)
class ProcessTree:
    """The descendants of one process, known by a variable of random name in their environment.

    The variable is inherited by whoever starts a session of its own or outlives its parent. Each tree has its own
    variable, so that a harness inside a harness leaves the outer mark in place. A process that overwrote its
    environment (a title set in place) is still found by its session or its parent.

    ``strangers`` are children of this process, by their numbers, that do not belong to the tree. Where they are known,
    every other child in a session of its own does: it is the process itself, or an orphan that was adopted.
    """

    mark: str = field(default_factory=_new_mark)
    session: int | None = None
    strangers: frozenset[int] | None = None

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        return {**base, self.mark: "1"}

    def find(self) -> list[psutil.Process]:
        """Every living member, found anew; zombies are no longer living."""
        members = {process for process in psutil.process_iter() if self._owns(process)}
        if self.strangers is not None:
            members.update(child for child in children_outside() if child.pid not in self.strangers and _alive(child))
        for member in tuple(members):
            with suppress(psutil.Error):
                members.update(child for child in member.children(recursive=True) if _alive(child))
        return sorted(members, key=lambda process: process.pid)

    def end(self, grace_s: float, pause: Pause = time.sleep) -> tuple[int, int]:
        """End all members: TERM, after ``grace_s`` KILL. Returns how many there were and how many would not end.

        ``pause`` is called with seconds to wait and may use them, to pass output on for example.
        """
        found = self.find()
        for process in found:
            with suppress(psutil.Error):
                process.terminate()
        _wait(found, grace_s, pause)
        return len(found), self.kill(pause)

    def kill(self, pause: Pause = time.sleep) -> int:
        """KILL members until none is left; returns how many would not go (a process stuck in the kernel)."""
        for _ in range(KILL_ROUNDS):
            found = self.find()
            if not found:
                return 0
            for process in found:
                with suppress(psutil.Error):
                    process.kill()
            _wait(found, KILL_WAIT_S, pause)
        return len(self.find())

    def _owns(self, process: psutil.Process) -> bool:
        if process.pid == os.getpid():
            return False
        try:
            marked = self.mark in process.environ()
        except (psutil.Error, OSError):
            marked = False
        return marked or (self._in_session(process.pid) and _alive(process))

    def _in_session(self, pid: int) -> bool:
        if self.session is None:
            return False
        try:
            return os.getsid(pid) == self.session
        except OSError:
            return False


def _wait(processes: Iterable[psutil.Process], limit_s: float, pause: Pause) -> None:
    deadline = time.monotonic() + limit_s
    waiting = [process for process in processes if _alive(process)]
    while waiting and time.monotonic() < deadline:
        pause(PAUSE_S)
        waiting = [process for process in waiting if _alive(process)]


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False

"""One process of a test from start to end: output passed on, time limited, nothing left running."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from driftgate.harness.interruption import Interruption
from driftgate.harness.last_lines import LastLines
from driftgate.harness.orphans import adopted_orphans, bury, children_outside
from driftgate.harness.process_tree import ProcessTree
from gate.errors import ConfigError

CHUNK_BYTES = 65_536
DRAIN_BYTES = 1 << 20
POLL_S = 0.02
REAP_S = 5.0

Ending = Literal["exited", "timeout", "interrupted"]
Output = Callable[[bytes], None]


@dataclass(frozen=True, slots=True)
class Execution:
    """What to start. ``timeout_s`` is wall clock; ``kill_grace_s`` is what TERM gets before KILL."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    folder: Path
    timeout_s: float
    kill_grace_s: float


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended. ``exit_code`` is negative for a signal, as in `subprocess`, None where it would not end at all.

    ``leftovers`` counts processes that outlived the test, or its time, and were ended; ``survivors`` those that even
    KILL did not end.
    """

    ending: Ending
    exit_code: int | None
    duration_s: float
    last_lines: tuple[str, ...]
    leftovers: int
    survivors: int


def run_process(execution: Execution, output: Output, interruption: Interruption) -> Ended:
    """Run the command in a session of its own until it exits, its time is up or a stop is requested.

    When this returns or raises, every process that it started has been ended. Standard output and error go to
    ``output`` as they come; what a leftover process still writes after that is dropped.

    Raises: ConfigError (the command cannot be started).
    """
    tree = ProcessTree(strangers=frozenset(child.pid for child in children_outside()))
    started = time.monotonic()
    with adopted_orphans(), _started(execution, tree) as process, _Pump(process, output) as pump:
        ending = _watch(process, pump, started + execution.timeout_s, interruption)
        duration_s = time.monotonic() - started
        leftovers, survivors = tree.end(execution.kill_grace_s, pump.wait)
        pump.drain()
    return Ended(ending, process.returncode, duration_s, pump.last.lines(), leftovers, survivors)


@contextmanager
def _started(execution: Execution, tree: ProcessTree) -> Iterator[subprocess.Popen[bytes]]:
    """The process; whatever comes in between, at the end nothing of its tree is left."""
    process = _start(execution, tree)
    tree.session = process.pid
    try:
        yield process
    finally:
        tree.kill()
        _reap(process)
        bury(tree.strangers or ())


def _start(execution: Execution, tree: ProcessTree) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - the command is the configuration's own, without a shell
            execution.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            cwd=execution.folder,
            env=tree.environment(execution.environment),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ConfigError(f"command {execution.command[0]!r}: cannot be started: {reason}") from None


def _watch(process: subprocess.Popen[bytes], pump: _Pump, deadline: float, interruption: Interruption) -> Ending:
    while process.poll() is None:
        if interruption.requested is not None:
            return "interrupted"
        left = deadline - time.monotonic()
        if left <= 0:
            return "timeout"
        pump.wait(min(POLL_S, left))
    return "exited"


def _reap(process: subprocess.Popen[bytes]) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(REAP_S)


class _Pump:
    """Carries bytes from a process to an output, never waiting longer than it was told to."""

    def __init__(self, process: subprocess.Popen[bytes], output: Output) -> None:
        pipe = process.stdout
        if pipe is None:
            raise ValueError("the process has no output pipe")
        os.set_blocking(pipe.fileno(), False)
        self.last = LastLines()
        self._pipe = pipe
        self._output = output
        self._selector = selectors.DefaultSelector()
        self._selector.register(pipe, selectors.EVENT_READ)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        self._pipe.close()

    def wait(self, seconds: float) -> None:
        """Pass on one chunk if one comes within so many seconds."""
        if not self._selector.get_map():
            time.sleep(seconds)
        elif self._selector.select(seconds):
            self._pass_on()

    def drain(self) -> None:
        """Pass on what lies in the pipe; bounded, because somebody may still be writing."""
        passed = 0
        while passed < DRAIN_BYTES and self._selector.get_map() and self._selector.select(0):
            passed += self._pass_on()

    def _pass_on(self) -> int:
        data = os.read(self._pipe.fileno(), CHUNK_BYTES)
        if not data:
            self._selector.unregister(self._pipe)
        self.last.feed(data)
        self._output(data)
        return len(data)

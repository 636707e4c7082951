"""Writes metrics inside the training process, one JSON line per metric and call. Standard library only.

Two laws: training never fails, waits or slows because of the gate; and what is written is true. So nothing here raises
outside strict mode, and a value that is no number leaves a *defect line*, which makes its metric an error at the gate.

Warnings go straight to standard error: the ``warnings`` module may be set to raise, and loggers belong to the training.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import json
import os
import sys
import threading
import unicodedata
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

DEFAULT_METRICS = (
    "train/grad_norm",
    "train/ppo_kl",
    "train/train_rollout_logprob_abs_diff",
    "train/train_rollout_kl",
    "rollout/raw_reward",
    "rollout/tito_session_mismatch_rate/v1/assistant_text",
    "rollout/tito_session_mismatch_rate/v2/assistant_text",
)

_NON_FINITE = {"nan": '"NaN"', "inf": '"Infinity"', "-inf": '"-Infinity"'}
_LARGEST_STEP = 2**63 - 1


class Collector:
    """Appends metrics to a file of its own in ``directory``: safe to share between threads and across ``fork``.

    ``metrics`` are the keys to keep; any other key is ignored before its value is looked at. The file appears at the
    first kept metric. Under ``strict`` an author's mistake raises instead of leaving a defect line.
    """

    __slots__ = ("_directory", "_files", "_names", "_strict", "_warned")

    def __init__(self, directory: str, metrics: Iterable[str] = DEFAULT_METRICS, *, strict: bool = False) -> None:
        self._directory = directory
        self._names = {spelling: json.dumps(name) for name in metrics for spelling in _spellings(name)}
        self._strict = strict
        self._warned: set[str] = set()
        self._files: dict[int, _RecordFile] = {}

    @classmethod
    def from_env(cls, env: Mapping[str, str] | None = None) -> Collector:
        """The collector that ``DRIFTGATE_RECORD_DIR``, ``DRIFTGATE_METRICS`` and ``DRIFTGATE_STRICT`` ask for.

        A no-op object when ``DRIFTGATE_RECORD_DIR`` is unset or empty. Raises ValueError only in strict mode, when
        ``DRIFTGATE_METRICS`` is not a JSON list of strings; otherwise that is one warning and the built-in list.
        """
        env = os.environ if env is None else env
        directory = env.get("DRIFTGATE_RECORD_DIR")
        if not directory:
            return _Off()
        with contextlib.suppress(OSError):  # the working folder may be gone; training may also change it later
            directory = os.path.abspath(directory)  # noqa: PTH100 - pathlib is not worth its import time here
        strict = env.get("DRIFTGATE_STRICT") == "1"
        return cls(directory, _whitelist(env.get("DRIFTGATE_METRICS"), strict=strict), strict=strict)

    def log(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        """Append the kept metrics of one training step with a single write, whatever was logged before.

        Values: int, float or a 0-d numpy or torch scalar; NaN and infinities are evidence and kept. ``step``: an int
        of at least 0, or None. I/O trouble is one warning, after which this process collects nothing more.
        Raises TypeError or ValueError in strict mode only, and then nothing of the call is written.
        """
        try:
            lines = self._lines(metrics, step)
        except Exception as error:
            if self._strict:
                raise
            self._warn_once(f"log() kept nothing of this call: {type(error).__name__}: {error}")
            return
        if lines:
            self._file().append(lines.encode("ascii"))

    def finish(self) -> None:
        """Close this process's file. Optional, never raises; a later ``log()`` continues the same file."""
        file = self._files.get(os.getpid())
        if file is not None:
            file.close()

    def _lines(self, metrics: Mapping[str, Any], step: object) -> str:
        if not hasattr(metrics, "keys"):
            raise TypeError(f"expected a mapping of metrics, got {type(metrics).__name__}")
        names = self._names
        kept = [key for key in list(metrics) if key in names]
        if not kept:
            return ""
        try:
            at = _step_text(step)
        except (TypeError, ValueError) as error:
            return "".join([self._defect(names[key], error, "null") for key in kept])
        return "".join([self._line(names[key], metrics[key], at) for key in kept])

    def _line(self, name: str, value: object, at: str) -> str:
        try:
            return f'{{"metric": {name}, "series": [[{at}, {_value_text(value)}]]}}\n'
        except (TypeError, ValueError) as error:
            return self._defect(name, error, at)

    def _defect(self, name: str, error: TypeError | ValueError, at: str) -> str:
        if self._strict:
            raise type(error)(f"metric {name}: {error}") from error
        self._warn_once(f"metric {name}: {error}; the gate will report this metric as ERROR")
        return f'{{"metric": {name}, "defect": {json.dumps(str(error))}, "step": {at}}}\n'

    def _file(self) -> _RecordFile:
        # Keyed by process: after a fork the child finds no file of its own and no lock that another thread held.
        pid = os.getpid()
        return self._files.get(pid) or self._files.setdefault(pid, _RecordFile(self._directory, pid))

    def _warn_once(self, message: str) -> None:
        if message not in self._warned:
            self._warned.add(message)
            warn(message)


class _Off(Collector):
    """What ``from_env`` returns when nothing is to be collected: looks at nothing, costs a function call."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("", ())

    def log(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        pass

    def finish(self) -> None:
        pass


class _RecordFile:
    """The file one process writes for one collector. The first failure turns it off for good, with one warning."""

    __slots__ = ("_descriptor", "_inode", "_lock", "_off", "_path")

    def __init__(self, directory: str, pid: int) -> None:
        self._path = f"{directory}/{pid}-{uuid.uuid4().hex}.jsonl"
        self._lock = threading.RLock()  # re-entrant: a signal handler may log while log() is at work
        self._descriptor: int | None = None
        self._inode: tuple[int, int] | None = None
        self._off = False

    def append(self, lines: bytes) -> None:
        with self._lock:
            if self._off:
                return
            try:
                self._write(lines)
            except (OSError, ValueError) as error:
                self._turn_off(error)

    def close(self) -> None:
        with self._lock:
            descriptor, self._descriptor = self._descriptor, None
            if self._off or descriptor is None:
                return
            try:
                self._check(descriptor)
                os.close(descriptor)
            except OSError as error:
                self._turn_off(error)

    def _write(self, lines: bytes) -> None:
        if self._descriptor is None:
            self._descriptor = self._open()
        self._check(self._descriptor)
        written = os.write(self._descriptor, lines)
        if written != len(lines):
            raise OSError(errno.EIO, f"short write, {written} of {len(lines)} bytes; is the disk full?")

    def _open(self) -> int:
        created = self._inode is not None
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | (0 if created else os.O_CREAT | os.O_EXCL), 0o666)
        found = os.fstat(descriptor)
        self._inode = (found.st_dev, found.st_ino)
        return descriptor

    def _check(self, descriptor: int) -> None:
        found = os.fstat(descriptor)
        # Training may close descriptors it did not open; the next file opened then has our number.
        if (found.st_dev, found.st_ino) != self._inode:
            raise OSError(errno.EBADF, "the record file was closed by somebody else")
        # An unlinked file takes writes without complaint, and nobody would ever read them.
        if found.st_nlink == 0:
            raise FileNotFoundError(errno.ENOENT, "the record file or its directory was removed")

    def _turn_off(self, error: OSError | ValueError) -> None:
        self._off = True
        reason = f"[Errno {error.errno}] {error.strerror}" if isinstance(error, OSError) else str(error)
        warn(f"{self._path}: {reason}; no metrics are collected in process {os.getpid()} from here on")


@functools.cache
def _default() -> Collector:
    return Collector.from_env()


def log(metrics: Mapping[str, Any], step: int | None = None) -> None:
    """``Collector.log`` on this process's default collector, made from the environment at the first call."""
    _default().log(metrics, step)


def _value_text(value: object) -> str:
    number = value if type(value) is float else _plain(value)
    if isinstance(number, float):
        text = float.__repr__(number)
        return _NON_FINITE.get(text, text)
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"expected a number, got {type(number).__name__}")
    try:
        float(number)
    except OverflowError:
        raise ValueError("expected a number, got an int too large for a double") from None
    return int.__repr__(number)


def _step_text(step: object) -> str:
    if step is None:
        return "null"
    number = step if type(step) is int else _plain(step)
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"expected a step that is an int >= 0 or None, got {type(number).__name__}")
    if number < 0:
        raise ValueError("expected a step that is an int >= 0 or None, got a negative one")
    if number > _LARGEST_STEP:
        raise ValueError("expected a step that is an int >= 0 or None, got one above 2**63 - 1")
    return int.__repr__(number)


def _plain(value: Any) -> object:
    """A 0-d numpy or torch scalar as Python's own number, recognised by shape alone; any other value as it is."""
    try:
        if isinstance(value, (int, float)) or not hasattr(value, "item") or _dimensions(value) != 0:
            return value
        item = value.item()
        # Python has no long double: item() of numpy's returns it as it was.
        return float(item) if getattr(getattr(item, "dtype", None), "kind", None) == "f" else item
    except Exception as error:
        raise TypeError(f"expected a number, got {type(value).__name__} ({type(error).__name__} when read)") from error


def _dimensions(value: Any) -> Any:
    dimensions = getattr(value, "ndim", None)
    return len(getattr(value, "shape", ())) if dimensions is None else dimensions


def _whitelist(text: str | None, *, strict: bool) -> Iterable[str]:
    if not text:
        return DEFAULT_METRICS
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        names = None
    if isinstance(names, list) and all(isinstance(name, str) for name in names):
        return names
    message = 'DRIFTGATE_METRICS is not a JSON list of metric keys, such as ["train/ppo_kl"]'
    if strict:
        raise ValueError(message)
    warn(f"{message}; collecting the built-in list")
    return DEFAULT_METRICS


def _spellings(name: str) -> set[str]:
    """Metric names are compared by their NFC form when records are merged: all spellings of one are kept."""
    return {name, unicodedata.normalize("NFC", name), unicodedata.normalize("NFD", name)}


def warn(message: str) -> None:
    """One line on standard error; never raises."""
    with contextlib.suppress(Exception):  # standard error may be closed, None or anything the training put there
        sys.stderr.write(f"driftgate: warning: {message}\n")
        sys.stderr.flush()

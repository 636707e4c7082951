"""Which suites a change affects, from ``git diff --name-status -M -z``. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from driftgate.config.model import Config
from driftgate.harness.test_files import root_of
from gate.wording import printable, shown

LARGEST_BYTES = 64 << 20
_ONE_PATH = re.compile(rb"[AMDTUX]")
_TWO_PATHS = re.compile(rb"[RC][0-9]{1,3}")


@dataclass(frozen=True, slots=True)
class Changes:
    """``paths`` in the diff's order, both of a rename; None where they are not known, and ``unknown`` says why."""

    paths: tuple[str, ...] | None
    unknown: str = ""


@dataclass(frozen=True, slots=True)
class Effect:
    """``suites`` that one changed path affects; ``rule`` says why in a few words."""

    path: str
    suites: frozenset[str]
    rule: str


def read_changes(file: Path) -> Changes:
    """The changed paths. A diff that is missing, empty or malformed gives unknown changes, never none."""
    name = printable(str(file))
    try:
        with file.open("rb") as opened:
            content = opened.read(LARGEST_BYTES + 1)
    except OSError as error:
        return Changes(None, f"{name} cannot be read ({error.strerror})")
    if len(content) > LARGEST_BYTES:
        return Changes(None, f"{name} is above {LARGEST_BYTES >> 20} MiB")
    if not content:
        return Changes(None, f"{name} is empty")
    try:
        return Changes(tuple(_paths(content)))
    except ValueError as error:
        return Changes(None, f"{name} is not what git diff --name-status -M -z writes: {error}")


def _paths(content: bytes) -> Iterator[str]:
    """Raises ValueError, which says what is wrong."""
    fields, end = content.split(b"\0")[:-1], content[-1:]
    if end != b"\0":
        raise ValueError("it does not end with a NUL")
    rest = iter(fields)
    for status in rest:
        count = 1 if _ONE_PATH.fullmatch(status) else 2 if _TWO_PATHS.fullmatch(status) else 0
        if count == 0:
            raise ValueError(f"found the status {shown(status.decode(errors='replace'))}")
        for _ in range(count):
            yield _path(next(rest, b""))


def _path(name: bytes) -> str:
    if not name:
        raise ValueError("a path is missing")
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise ValueError("a path is not UTF-8") from None


def effects_of(paths: Iterable[str], suites_of: Mapping[str, Collection[str]], config: Config) -> Iterator[Effect]:
    """What each changed path affects. ``suites_of`` maps each discovered test to the suites that it belongs to."""
    every = frozenset(config.suites)
    for path in paths:
        if path in suites_of:
            yield Effect(path, frozenset(suites_of[path]), "a test affects its own suites")
        elif any(fnmatchcase(path, pattern) for pattern in config.changes.harmless):
            yield Effect(path, frozenset(), "harmless ([changes] harmless)")
        elif _was_test(path, config):
            yield Effect(path, _suites_allowed_in(path, config), "a test that is gone affects all its folder may use")
        else:
            yield Effect(path, every, "no test, so it may affect every suite")


def _was_test(path: str, config: Config) -> bool:
    """Whether discovery would find the file if it existed. Its suites cannot be read any more."""
    root = root_of(path, config)
    return root is not None and fnmatchcase(PurePosixPath(path).name, root.pattern)


def _suites_allowed_in(path: str, config: Config) -> frozenset[str]:
    root = root_of(path, config)
    forbidden = root.forbid if root is not None else ()
    return frozenset(suite.name for suite in config.suites.values() if suite.backend not in forbidden)

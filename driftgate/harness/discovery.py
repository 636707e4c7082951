"""Which test files there are: every file below the configured roots that matches. Standard library only."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from driftgate.config.model import Config, Root
from driftgate.harness.plan_notice import PlanNotice
from driftgate.harness.suite_names import suite_name_notices
from driftgate.harness.test_files import TestFile, read_discovered, unregistered
from gate.errors import ConfigError, Problem
from gate.wording import listed, printable, shown

_KEY = "discovery.roots"
_CACHES = frozenset({"__pycache__", "node_modules"})
_VIRTUAL_ENVIRONMENT = "pyvenv.cfg"


@dataclass(frozen=True, slots=True)
class Tree:
    """All test files in the order of their paths, and all of their mistakes in file order."""

    files: tuple[TestFile, ...]
    problems: tuple[Problem, ...]
    notices: tuple[PlanNotice, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """``names`` are relative to the repository root, with ``/``, sorted; each with the root that holds it."""

    names: dict[str, Root]
    problems: tuple[Problem, ...]
    notices: tuple[PlanNotice, ...]


def read_tree(config: Config) -> Tree:
    """Every test file with what it declares. Raises ConfigError where a root does not exist or cannot be searched."""
    found = _find(config)
    with _no_collector():
        files = tuple(
            read_discovered(config.repository / name, name, root, config) for name, root in found.names.items()
        )
    problems = [*found.problems, *(problem for file in files for problem in (*file.problems, *unregistered(file)))]
    in_order = tuple(sorted(problems, key=lambda problem: (problem.file, problem.line)))
    return Tree(files, in_order, (*suite_name_notices(config), *found.notices))


@contextmanager
def _no_collector() -> Iterator[None]:
    """Reading makes no cycles that outlive it, and the collector would look at every syntax tree several times."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _find(config: Config) -> _Found:
    _check_roots(config)
    search = _Search(config)
    for root in config.roots:
        search.root(root)
    return _Found(
        dict(sorted(search.names.items())),
        tuple(search.problems),
        tuple(sorted(search.notices, key=lambda notice: notice.text)),
    )


def _check_roots(config: Config) -> None:
    """Raises ConfigError with one line for each kind of mistake."""
    lines = [line for root in config.roots for line in _mistakes(root)]
    paths = [_normal(root) for root in config.roots]
    lines += [
        f"{_KEY}: {shown(path)} is listed twice; keep one" for path in dict.fromkeys(paths) if paths.count(path) > 1
    ]
    if lines:
        raise ConfigError("\n".join(lines))
    missing = [root.path for root in config.roots if not _is_folder(config.repository / root.path)]
    if missing or not config.roots:
        raise ConfigError(_missing(missing, config))


def _mistakes(root: Root) -> Iterator[str]:
    path = Path(root.path)
    if path.is_absolute() or ".." in path.parts:
        yield f"{_KEY}: {shown(root.path)} may lie outside of the repository; write a path relative to its root"
    if "/" in root.pattern:
        yield f"{_KEY}: pattern {shown(root.pattern)} holds a slash; it is compared with names of files, in any depth"


def _missing(missing: list[str], config: Config) -> str:
    source = config.sources.get(_KEY, "default")
    what = f"no folder {listed(map(shown, missing))} in {config.repository}" if missing else "names no folder"
    advice = 'list the folders that hold your tests in driftgate.toml, as in [discovery] roots = ["tests"]'
    return f"{_KEY} ({source}): {what}; {advice}"


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name too long, a folder that may not be entered
        return False


def _normal(root: Root) -> str:
    return Path(root.path).as_posix()


class _Search:
    """Collects the files of one root after another; a root inside of another is left to itself."""

    def __init__(self, config: Config) -> None:
        self.repository = config.repository
        self.roots = {_normal(root) for root in config.roots}
        self.names: dict[str, Root] = {}
        self.problems: list[Problem] = []
        self.notices: list[PlanNotice] = []

    def root(self, root: Root) -> None:
        before = len(self.names), len(self.problems)
        waiting = [_normal(root)]
        while waiting:
            waiting += self._folder(waiting.pop(), root)
        if (len(self.names), len(self.problems)) == before:
            what = f"no file in {root.path} matches {shown(root.pattern)}"
            text = f"{what}; correct [discovery] roots, or leave it out"
            self.notices.append(PlanNotice("empty_root", text))

    def _folder(self, folder: str, root: Root) -> list[str]:
        """Takes the files of one folder; gives the folders in it."""
        try:
            with os.scandir(self.repository / folder) as entries:
                inside = {entry.name: entry for entry in entries}
        except OSError as error:
            self.problems.append(Problem(folder, 0, "", "", f"cannot be listed ({error.strerror}); check the folder"))
            return []
        if _VIRTUAL_ENVIRONMENT in inside and folder not in self.roots:
            return []
        folders: list[str] = []
        for entry in inside.values():
            name = entry.name if folder == "." else f"{folder}/{entry.name}"
            if entry.name.startswith(".") or entry.name in _CACHES or name in self.roots:
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(name)
            elif _is_linked_folder(entry):
                text = "is a link to a folder and not searched; make it a root if its tests are to run"
                self.notices.append(PlanNotice("linked_folder", f"{printable(name)} {text}"))
            elif fnmatchcase(entry.name, root.pattern):
                self.names[name] = root
        return folders


def _is_linked_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # links in a circle, or through a folder that may not be entered
        return False

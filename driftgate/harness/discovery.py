"""Which test files there are: every file below the configured roots that matches. Standard library only."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from driftgate.config.model import Config, Root
from driftgate.harness.plan_notice import PlanNotice
from driftgate.harness.test_files import TestFile, read_test_file, unregistered
from gate.errors import ConfigError, Problem, SourceError
from gate.wording import listed, shown

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
    """Names are relative to the repository root, with ``/``."""

    names: tuple[str, ...]
    problems: tuple[Problem, ...]
    notices: tuple[PlanNotice, ...]


def discover(config: Config) -> tuple[Path, ...]:
    """The test files of all roots, each once, sorted by their path relative to the repository root.

    Raises: ConfigError (a root that does not exist or cannot be searched), SourceError (a folder below a root that
    cannot be listed).
    """
    found = _find(config)
    if found.problems:
        raise SourceError(found.problems)
    return tuple(config.repository / name for name in found.names)


def read_tree(config: Config) -> Tree:
    """Every test file with what it declares. Raises ConfigError where a root does not exist or cannot be searched."""
    found = _find(config)
    files = tuple(read_test_file(config.repository / name, config.repository, config) for name in found.names)
    problems = [*found.problems, *(problem for file in files for problem in (*file.problems, *unregistered(file)))]
    return Tree(files, tuple(sorted(problems, key=lambda problem: (problem.file, problem.line))), found.notices)


def _find(config: Config) -> _Found:
    _check_roots(config)
    search = _Search(config)
    for root in config.roots:
        search.root(root)
    return _Found(tuple(sorted(search.names)), tuple(search.problems), tuple(search.notices))


def _check_roots(config: Config) -> None:
    """Raises ConfigError with one line for each kind of mistake."""
    lines = [line for root in config.roots for line in _mistakes(root)]
    paths = [_normal(root) for root in config.roots]
    lines += [
        f"{_KEY}: {shown(path)} is listed twice; keep one" for path in dict.fromkeys(paths) if paths.count(path) > 1
    ]
    if lines:
        raise ConfigError("\n".join(lines))
    missing = [root.path for root in config.roots if not (config.repository / root.path).is_dir()]
    if missing or not config.roots:
        raise ConfigError(_missing(missing, config))


def _mistakes(root: Root) -> Iterator[str]:
    path = Path(root.path)
    if path.is_absolute() or ".." in path.parts or "\0" in root.path:
        yield f"{_KEY}: {shown(root.path)} may lie outside of the repository; write a path relative to its root"
    if "/" in root.pattern:
        yield f"{_KEY}: pattern {shown(root.pattern)} holds a slash; it is compared with names of files, in any depth"


def _missing(missing: list[str], config: Config) -> str:
    source = config.sources.get(_KEY, "default")
    existing = [root.path for root in config.roots if root.path not in missing] or ["tests"]
    example = listed(f'"{path}"' for path in existing)
    advice = f"name the folders that hold your tests in driftgate.toml: [discovery] roots = [{example}]"
    what = f"no folder {listed(map(shown, missing))} in {config.repository}" if missing else "no folder is configured"
    return f"{_KEY} ({source}): {what}; {advice}"


def _normal(root: Root) -> str:
    return Path(root.path).as_posix()


class _Search:
    """Collects the files of one root after another; a root inside of another is left to itself."""

    def __init__(self, config: Config) -> None:
        self.repository = config.repository
        self.roots = {_normal(root) for root in config.roots}
        self.names: list[str] = []
        self.problems: list[Problem] = []
        self.notices: list[PlanNotice] = []

    def root(self, root: Root) -> None:
        before = len(self.names), len(self.problems)
        waiting = [_normal(root)]
        while waiting:
            waiting += self._folder(waiting.pop(), root.pattern)
        if (len(self.names), len(self.problems)) == before:
            text = f"no file in {root.path} matches {root.pattern}; correct [discovery] roots, or leave it out"
            self.notices.append(PlanNotice("empty_root", text))

    def _folder(self, folder: str, pattern: str) -> list[str]:
        """Takes the files of one folder; gives the folders in it."""
        try:
            with os.scandir(self.repository / folder) as entries:
                inside = list(entries)
        except OSError as error:
            self.problems.append(Problem(folder, 0, "", "", f"cannot be listed ({error.strerror}); check the folder"))
            return []
        if any(entry.name == _VIRTUAL_ENVIRONMENT for entry in inside):
            return []
        below = "" if folder == "." else f"{folder}/"
        folders: list[str] = []
        for entry in inside:
            name = f"{below}{entry.name}"
            if entry.name.startswith(".") or entry.name in _CACHES or name in self.roots:
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(name)
            elif entry.is_dir():
                text = f"{name} is a link to a folder, which is not searched; make it a root if its tests are to run"
                self.notices.append(PlanNotice("linked_folder", text))
            elif fnmatchcase(entry.name, pattern):
                self.names.append(name)
        return folders

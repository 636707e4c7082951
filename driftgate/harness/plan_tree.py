"""The test files of a plan: the whole tree, or the one that was asked for. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from driftgate.config.model import Config
from driftgate.harness.discovery import Tree, read_tree
from driftgate.harness.snapshot import read_snapshot
from driftgate.harness.test_files import TestFile, read_test_file, unregistered
from gate.errors import SourceError


@dataclass(frozen=True, slots=True)
class PlanTree:
    """``config`` is the given one, but for the labels of an untrusted checkout."""

    tree: Tree
    config: Config


def plan_tree(config: Config, file: Path | None, snapshot: Path | None) -> PlanTree:
    """Raises: SourceError (every mistake of every file that counts), ConfigError (a root or file that cannot be)."""
    found = _read(config, file, snapshot)
    if found.tree.problems:
        raise SourceError(found.tree.problems)
    return found


def _read(config: Config, file: Path | None, snapshot: Path | None) -> PlanTree:
    if file is None:
        return PlanTree(read_tree(config), config)
    if snapshot is None:
        return PlanTree(_single(read_test_file(file, config.repository, config)), config)
    found = read_snapshot(file, snapshot, config)
    return PlanTree(_single(found.test), found.config)


def _single(test: TestFile) -> Tree:
    return Tree((test,), (*test.problems, *unregistered(test)), ())

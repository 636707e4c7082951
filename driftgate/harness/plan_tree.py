"""The test files of a plan: the whole tree, or the one that was asked for. Standard library only."""

from __future__ import annotations

from pathlib import Path

from driftgate.config.model import Config
from driftgate.harness.discovery import Tree, read_tree
from driftgate.harness.test_files import read_test_file, unregistered
from gate.errors import SourceError


def plan_tree(config: Config, file: Path | None) -> Tree:
    """Raises: SourceError (every mistake of every file that counts), ConfigError (a root that does not exist)."""
    tree = read_tree(config) if file is None else _single(config, file)
    if tree.problems:
        raise SourceError(tree.problems)
    return tree


def _single(config: Config, file: Path) -> Tree:
    test = read_test_file(file, config.repository, config)
    return Tree((test,), (*test.problems, *unregistered(test)), ())

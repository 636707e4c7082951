"""The generated tree that planning is measured on: real test files, all of them planned."""

from __future__ import annotations

from benchmarks.generated_tree import LINES, write_tree
from driftgate.config.load import load_config
from driftgate.harness.discovery import read_tree


def test_every_file_is_as_long_as_said_and_free_of_mistakes(tmp_path):
    """A tree that were refused, or shorter, would be planned faster."""
    write_tree(tmp_path / "repository", 8)
    tree = read_tree(load_config(file=None, start=tmp_path / "repository", env={}, options={}))
    assert (len(tree.files), tree.problems) == (8, ())
    assert {len(file.path.read_text().splitlines()) for file in tree.files} == {LINES}
    assert {found.backend for file in tree.files for found in file.registrations} == {"cpu", "cuda", "rocm"}
    assert all(len(file.specs) == 2 for file in tree.files)

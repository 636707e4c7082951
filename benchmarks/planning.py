"""A plan of 400 test files, in a new interpreter that sees the standard library alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.generated_tree import LINES, write_tree
from benchmarks.measure import Row, median_seconds

FILES = 400
TARGET_MS = 500.0
_PLAN = Path(__file__).parents[1] / "driftgate" / "plan.py"


def rows() -> list[Row]:
    with TemporaryDirectory() as folder:
        repository = Path(folder) / "repository"
        write_tree(repository, FILES)
        command = [sys.executable, "-I", "-S", str(_PLAN), "--cadence", "weekly", "--json"]
        ours = 1e3 * median_seconds(lambda: _planned(command, repository), repeat=9)
        texts = [path.read_text(encoding="utf-8") for path in repository.rglob("test_*.py")]
        parsing = 1e3 * median_seconds(lambda: _parsed(texts), repeat=5)
    note = f"interpreter's start included; files of {LINES} lines, ast.parse alone takes {parsing:.0f} ms"
    return [Row(f"plan, {FILES} files", ours, "ms", f"<= {TARGET_MS:.0f} ms", ours <= TARGET_MS, note=note)]


def _planned(command: list[str], repository: Path) -> None:
    subprocess.run(command, cwd=repository, check=True, stdout=subprocess.DEVNULL)


def _parsed(texts: list[str]) -> None:
    for text in texts:
        ast.parse(text)

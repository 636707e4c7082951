"""The CI files, each a parameter. Test folders are no packages, so the helper module is loaded by path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"_ci_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


FILES = _load("ci_files")


@pytest.fixture
def files() -> ModuleType:
    """Where the CI files are, and how they are read."""
    return FILES


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """``workflow`` is every example workflow; ``step`` every step of them and of the action."""
    if "workflow" in metafunc.fixturenames:
        metafunc.parametrize("workflow", FILES.WORKFLOWS, ids=lambda path: path.stem)
    if "step" in metafunc.fixturenames:
        steps = [step for path in (*FILES.WORKFLOWS, FILES.ACTION) for step in FILES.steps_of(path)]
        metafunc.parametrize("step", steps, ids=lambda step: step.where)

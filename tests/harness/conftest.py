"""Helpers of the harness's tests. Test folders are no packages, so helper modules are loaded by path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture(scope="session")
def made() -> ModuleType:
    """Results of runs, without processes and without a store."""
    return _beside("run_builders")


@pytest.fixture
def planner(tmp_path: Path) -> Any:
    """A repository as the miles preset expects one, and plans of it: a `Planner` of plan_builders.py."""
    home = tmp_path / "repository"
    home.mkdir()
    return _beside("plan_builders").Planner(home)


def _beside(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module

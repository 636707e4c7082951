"""Helpers of the harness's tests. Test folders are no packages, so helper modules are loaded by path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def made() -> ModuleType:
    """Results of runs, without processes and without a store."""
    spec = importlib.util.spec_from_file_location("_run_builders", Path(__file__).with_name("run_builders.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module

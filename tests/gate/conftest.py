"""Helpers of the gate's tests. Test folders are no packages, so helper modules are loaded by path."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"_gate_{name}", Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def build() -> ModuleType:
    """Small values: specs, records, stored rows, a reader that counts its calls."""
    return _load("builders")


@pytest.fixture(scope="session")
def twin() -> ModuleType:
    """The gate's rules again in plain Python, slow and without numpy."""
    return _load("twin")

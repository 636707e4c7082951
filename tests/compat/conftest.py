"""A user of the reference design: test files, merged records and stores as they know them."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from driftgate.compat import NeonMetricHistoryStore, SQLiteMetricHistoryStore

REGISTRATION = 'register_cuda_ci(est_time=600, suite="stage-c-8-gpu-h100")\n'


def _load(name: str):
    spec = spec_from_file_location(f"_compat_{name}", Path(__file__).with_name(f"{name}.py"))
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


sys.modules["compat_builders"] = _load("compat_builders")


@pytest.fixture
def test_file(tmp_path: Path) -> Callable[..., str]:
    """Writes a test file with these declarations and a registration; returns its name."""

    def write(declarations: str, *, registration: str = REGISTRATION, name: str = "test_a.py") -> str:
        path = tmp_path / name
        path.write_text(registration + declarations)
        return str(path)

    return write


@pytest.fixture
def record(tmp_path: Path) -> Callable[..., str]:
    """Writes a merged record; returns its name."""

    def write(**metrics: Any) -> str:
        path = tmp_path / "merged.jsonl"
        lines = [json.dumps({"metric": name.replace("__", "/"), "series": series}) for name, series in metrics.items()]
        path.write_text("".join(f"{line}\n" for line in lines))
        return str(path)

    return write


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """A fresh, empty store of each kind."""
    if request.param == "postgres":
        opened = NeonMetricHistoryStore(request.getfixturevalue("postgres_url"))
    else:
        opened = SQLiteMetricHistoryStore(*([tmp_path / "history.db"] if request.param == "sqlite" else []))
    with opened:
        yield opened


@pytest.fixture
def memory() -> Iterator[SQLiteMetricHistoryStore]:
    """A fresh, empty store where the database does not matter."""
    with SQLiteMetricHistoryStore() as opened:
        yield opened

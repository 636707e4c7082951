"""What changed since the last trusted run."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from driftgate.harness.differences import differences
from gate.history import History, RunRef, SpecHistory, StoredSeries, last_trusted_run
from gate.identity import SpecKey
from gate.provenance import Provenance

THEN = Provenance(tested_sha="a" * 40, host="h1", gpu_driver="550", packages={"torch": "2.3", "gone": "1"})


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "changed: nothing that is known; the same: code, GPU driver, host, gone, torch"),
        (
            {"tested_sha": "b" * 40, "host": None, "packages": {}},
            "changed: code (aaaaaaaaaaaa -> bbbbbbbbbbbb); the same: GPU driver",
        ),
        (
            {"gpu_driver": "560", "packages": {"torch": "2.4", "new": "1"}},
            "changed: GPU driver (550 -> 560), torch (2.3 -> 2.4); the same: code, host",
        ),
        (
            {"image_digest": "sha256:1", "gpu_model": "H100"},
            "changed: nothing that is known; the same: code, GPU driver, host, gone, torch",
        ),
    ],
)
def test_differences(changes, text):
    """Only what both runs know is compared; what changed is shown with both values."""
    assert differences(replace(THEN, **changes), THEN) == text


def test_nothing_known():
    """Two runs that say nothing of themselves cannot be compared."""
    assert differences(Provenance(), THEN) is None


def run(age, *, counting):
    return RunRef(f"run{age}", datetime(2026, 1, 1, tzinfo=UTC) - timedelta(days=age), counting, counting, valid=True)


def test_the_last_trusted_run():
    """The newest that counts, also where only a baseline reaches back that far; None where none does."""
    row = StoredSeries(run(9, counting=True), np.array([0]), np.array([1.0]), 1)
    specs = {SpecKey("m", "", ""): SpecHistory(baseline=(row,))}
    assert last_trusted_run(History(specs, (run(1, counting=False), run(2, counting=True)))) == "run2"
    assert last_trusted_run(History(specs, (run(1, counting=False),))) == "run9"
    assert last_trusted_run(History({}, (run(1, counting=False),))) is None

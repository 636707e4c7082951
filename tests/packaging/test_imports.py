"""What the modules of training and planning cost a fresh interpreter."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
OURS = {"driftgate", "gate"}
MOST = {
    "driftgate": 90,
    "driftgate.collector": 90,
    "driftgate.markers": 90,
    "gate.declarations": 130,
    "driftgate.harness.registrations": 130,
    "driftgate.harness.policy": 150,
}
"""Module to the number of modules that its import may load, the interpreter's own start included."""


@pytest.mark.parametrize("module", MOST)
def test_an_import_stays_small(module):
    """Nothing but ours and the standard library is loaded, and not much of that."""
    code = f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); import {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert {name.partition(".")[0] for name in loaded} <= sys.stdlib_module_names | OURS | {"__main__"}
    assert len(loaded) <= MOST[module]

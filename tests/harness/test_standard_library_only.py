"""Planning runs on a bare CI runner: these modules load where nothing is installed."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
MODULES = [
    "driftgate.config.load",
    "driftgate.harness.dispatch",
    "driftgate.harness.failure_class",
    "driftgate.harness.job_names",
    "driftgate.harness.plan",
    "driftgate.harness.policy",
    "driftgate.harness.registrations",
    "driftgate.harness.rerun_policy",
    "driftgate.harness.selecting",
    "driftgate.harness.test_files",
    "driftgate.harness.trigger",
    "driftgate.markers",
    "driftgate.plan",
    "gate.declarations",
]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_of_planning_loads_without_site_packages(module):
    """A fresh interpreter that sees only the standard library and the checkout can import it."""
    code = f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); import {module}"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_configuration_loads_with_its_preset_without_site_packages(tmp_path):
    """Reading the preset needs no more than importing."""
    code = f"""
import sys; sys.path.insert(0, {str(CHECKOUT)!r})
from pathlib import Path
from driftgate.config.load import load_config
print(len(load_config(file=None, start=Path({str(tmp_path)!r}), env={{}}, options={{}}).suites))
"""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("6\n", "")

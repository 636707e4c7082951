"""What importing driftgate loads into a training process."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("module", ["driftgate", "driftgate.collector", "driftgate.markers", "driftgate.tracking"])
def test_importing_loads_the_standard_library_alone(module):
    """No third-party module, and none of driftgate's other parts, is loaded by what training imports."""
    code = (
        "import sys\n"
        "before = set(sys.modules)\n"
        f"import {module}\n"
        "new = {name for name in set(sys.modules) - before if name.split('.')[0] not in sys.stdlib_module_names}\n"
        "print(sorted(new))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ["driftgate", "driftgate.collector", "driftgate.markers", "driftgate.tracking"]
    assert done.stdout.strip() == str(loaded)


def test_everything_public_is_there():
    """Each name of the public surface exists."""
    import driftgate

    assert all(getattr(driftgate, name) for name in driftgate.__all__)


def test_markers_do_nothing_whatever_they_are_given():
    """A test file never fails on its own because of a marker."""
    import driftgate

    for marker in (
        driftgate.register_cpu_ci,
        driftgate.register_cuda_ci,
        driftgate.register_rocm_ci,
        driftgate.register_ci_gate,
    ):
        assert marker(1, "suite", nonsense=True) is None

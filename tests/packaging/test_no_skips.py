"""The plugin ``tests/no_skips.py``: in CI a skip is a failure."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
SKIPS = {
    "mark": "import pytest\n@pytest.mark.skip(reason='too slow')\ndef test_it(): pass\n",
    "condition": "import pytest\n@pytest.mark.skipif(True, reason='too slow')\ndef test_it(): pass\n",
    "call": "import pytest\ndef test_it(): pytest.skip('too slow')\n",
    "fixture": "import pytest\n@pytest.fixture\ndef part(): pytest.skip('too slow')\ndef test_it(part): pass\n",
    "module": "import pytest\npytest.skip('too slow', allow_module_level=True)\n",
    "unittest": "import unittest\nclass TestIt(unittest.TestCase):\n  def test_it(self): self.skipTest('too slow')\n",
}
XFAIL = "import pytest\n@pytest.mark.xfail\ndef test_it(): assert False\n"


def _pytest(folder, sources, ci):
    """A run of its own over one test file for each source."""
    for name, source in sources.items():
        (folder / f"test_{name}.py").write_text(source)
    environment = os.environ | {"CI": ci, "PYTHONPATH": str(TESTS), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    options = ["-p", "no_skips", "-p", "no:cacheprovider", "-c", os.devnull, "-rfE", "--continue-on-collection-errors"]
    command = [sys.executable, "-m", "pytest", *options, "."]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def in_ci(tmp_path_factory):
    return _pytest(tmp_path_factory.mktemp("skips"), SKIPS, "true").stdout


@pytest.mark.parametrize("name", SKIPS)
def test_a_skip_fails_in_ci(name, in_ci):
    """Each way to skip a test is a failure or, at collection, an error under CI=true."""
    assert [line for line in in_ci.splitlines() if line.startswith(("FAILED", "ERROR")) and f"test_{name}.py" in line]


def test_the_failure_keeps_the_reason(in_ci):
    """Each says that CI skips nothing, and why the test wanted to be skipped."""
    assert in_ci.count("CI skips nothing") >= len(SKIPS)
    assert in_ci.count("too slow") >= len(SKIPS)


def test_elsewhere_a_skip_stays_a_skip(tmp_path):
    """Without CI=true nothing changes."""
    assert f"{len(SKIPS)} skipped in" in _pytest(tmp_path, SKIPS, "").stdout


def test_an_expected_failure_is_no_skip(tmp_path):
    """An xfail that fails as expected stays green under CI=true."""
    assert "1 xfailed in" in _pytest(tmp_path, {"expected": XFAIL}, "true").stdout


def test_the_plugin_is_in_use(pytestconfig):
    """The suite itself runs with it."""
    assert pytestconfig.pluginmanager.has_plugin("tests.no_skips")

"""The child's interpreter gets the options of this one, taken from real command lines."""

import json
import subprocess
import sys

import pytest

from driftgate.harness.interpreter import interpreter_options

REPORT = (
    "import json, sys; sys.path.insert(0, {root!r});"
    "from driftgate.harness.interpreter import interpreter_command; print(json.dumps(interpreter_command()))"
)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], ()),
        (["script.py", "-I"], ()),
        (["-Ic", "code", "-W"], ("-I",)),
        (["-Im", "driftgate", "run"], ("-I",)),
        (["-cprint()"], ()),
        (["-mdriftgate"], ()),
        (["-Wignore", "s.py"], ("-Wignore",)),
        (["-W", "ignore", "s.py"], ("-W", "ignore")),
        (["-bW", "ignore", "s.py"], ("-bW", "ignore")),
        (["-Xdev", "-X", "utf8=1", "-"], ("-Xdev", "-X", "utf8=1")),
        (["-Wc", "s.py"], ("-Wc",)),
        (["--check-hash-based-pycs", "never", "-OO", "s.py"], ("--check-hash-based-pycs", "never", "-OO")),
        (["-I", "--", "-odd.py"], ("-I",)),
    ],
)
def test_options_are_kept_and_the_entry_point_is_not(arguments, options):
    """Whatever the interpreter itself would read as its options, and nothing of what it was told to run."""
    assert interpreter_options(["python", *arguments]) == options


@pytest.mark.parametrize("options", [["-Ic"], ["-W", "ignore", "-Xdev", "-c"], ["-Wignore", "-bbc"], ["-OOuc"]])
def test_a_real_child_has_the_same_flags(options, pytestconfig):
    """A child started by the answer of a real interpreter sees the flags, warnings and -X options of that one."""
    root = str(pytestconfig.rootpath)
    first = subprocess.run(
        [sys.executable, *options, REPORT.format(root=root)], capture_output=True, check=True, text=True
    )
    command = json.loads(first.stdout)
    probe = "import sys; print(sys.flags, sys.warnoptions, sys._xoptions)"
    wanted = subprocess.run([sys.executable, *options, probe], capture_output=True, check=True, text=True)
    got = subprocess.run([*command, "-c", probe], capture_output=True, check=True, text=True)
    assert got.stdout == wanted.stdout
    assert "-c" not in command

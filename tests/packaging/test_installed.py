"""Installed from the wheel, from the sdist or as an editable install, driftgate works in any folder."""

import pytest

import driftgate

EXAMPLE = "tests/e2e/test_driftgate_example.py"


@pytest.fixture
def call(installed, tmp_path):
    """Run a program of the installation in an empty folder; returns its stdout. It must succeed."""

    def run(*command):
        done = installed.call(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


def test_the_command_says_its_version(call):
    """The console script is there and starts."""
    assert call("driftgate", "--version") == f"driftgate {driftgate.__version__}\n"


def test_the_module_is_the_same_command(call):
    """``python -m driftgate`` is the command too."""
    assert call("python", "-m", "driftgate", "--version") == f"driftgate {driftgate.__version__}\n"


def test_the_database_is_made_and_upgraded(call, tmp_path):
    """The migrations are found."""
    call("driftgate", "db", "upgrade", "--db", "sqlite:///history.db")
    assert (tmp_path / "history.db").is_file()
    assert "0002" in call("driftgate", "db", "current", "--db", "sqlite:///history.db")


def test_the_example_of_init_runs_and_is_stored(call):
    """Templates and preset are found; a run is judged and written."""
    call("driftgate", "init")
    call("driftgate", "run", EXAMPLE, "--cadence", "nightly")
    assert EXAMPLE in call("driftgate", "runs", "list")


def test_the_demo_of_the_wheel_ends_with_its_verdict(from_wheel, tmp_path):
    """The example that the demo trains comes with the wheel, and its bug is caught."""
    done = from_wheel.call("driftgate", "demo", "--nights", "4", cwd=tmp_path)
    assert (done.returncode, "NOT TRUSTED" in done.stdout) == (0, True), done.stdout + done.stderr


def test_the_wheel_brings_its_own_packages(from_wheel, tmp_path):
    """Nothing is loaded from the checkout, so that the tests above say something about the wheel."""
    code = "import driftgate, gate, store, api, migrations as m\nfor p in driftgate, gate, store, api, m: print(p.__file__)"
    origins = from_wheel.call("python", "-c", code, cwd=tmp_path).stdout.splitlines()
    assert len(origins) == 5
    assert all(origin.startswith(f"{from_wheel.folder}/lib/") for origin in origins)


def test_an_editable_install_follows_the_checkout(installed, tmp_path):
    """Where it is editable, and only there, the checkout's files are what runs."""
    code = "import driftgate; print(driftgate.__file__)"
    loaded = installed.call("python", "-c", code, cwd=tmp_path).stdout.strip()
    editable = installed.folder.parent.name.startswith("editable")
    assert (loaded == driftgate.__file__) == editable

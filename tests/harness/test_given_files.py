"""Files given to one call: all mistakes at once, each at its home suites, nothing started."""

import textwrap

import pytest

from driftgate.config.load import load_config
from driftgate.harness.given_files import given_files
from driftgate.harness.run_request import RunRequest
from gate.errors import ConfigError, SourceError

CPU = 'register_cpu_ci(est_time=1, suite="stage-a-cpu")'
CUDA = (
    'register_cuda_ci(est_time=9, suite="stage-c-8-gpu-h100", labels=["megatron"], hardware=["hopper"], nightly=True)'
)
ROCM = 'register_rocm_ci(est_time=9, suite="stage-c-4-gpu-mi350", labels=["amd"])'


@pytest.fixture
def config(tmp_path):
    def make(text="", **options):
        (tmp_path / "driftgate.toml").write_text(textwrap.dedent(text))
        return load_config(file=None, start=tmp_path, env={}, options=options)

    return make


@pytest.fixture
def file(tmp_path):
    def write(name, *lines):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(("from driftgate import *", *lines, "")))
        return path

    return write


def given(files, config, **more):
    return given_files(RunRequest(config, {}, tuple(files), **more))


def test_home_suites(config, file):
    """A file registered twice comes once for each, at home; labels and nightly do not deselect."""
    found = given([file("t.py", CUDA, ROCM)], config())
    assert [(test.identity.backend, test.identity.suite) for test in found.ready] == [
        ("cuda", "stage-c-8-gpu-h100"),
        ("rocm", "stage-c-4-gpu-mi350"),
    ]
    assert found.ready[0].identity.test_path == "t.py"
    assert found.skipped == ()


def test_backend_and_suite_choose(config, file):
    """--hw and --suite keep the registrations that have them; none left is an error that says what there is."""
    path = file("t.py", CUDA, ROCM)
    (test,) = given([path], config(), hw="rocm").ready
    assert test.identity.backend == "rocm"
    (test,) = given([path], config(), suite="stage-c-8-gpu-h100").ready
    assert test.identity.backend == "cuda"
    with pytest.raises(ConfigError, match=r"t\.py: registered for cuda stage-c-8-gpu-h100, rocm stage-c-4-gpu-mi350"):
        given([path], config(), hw="cpu")


@pytest.mark.parametrize(
    ("backend", "suite", "message"),
    [("cudaa", None, "--hw: unknown 'cudaa' .did you mean 'cuda'"), (None, "stage-a-cpus", "--suite: unknown")],
)
def test_unknown_names(config, file, backend, suite, message):
    """A backend or suite that does not exist is named with the nearest one that does."""
    with pytest.raises(ConfigError, match=message):
        given([file("t.py", CPU)], config(), hw=backend, suite=suite)


def test_all_mistakes_of_all_files(config, file, tmp_path):
    """Missing, unreadable, wrong and unregistered files are told of together, before anything starts."""
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe")
    files = [tmp_path / "gone.py", tmp_path / "binary.py", file("none.py"), file("bad.py", "register_cpu_ci()", CPU)]
    with pytest.raises(SourceError) as caught:
        given(files, config())
    named = [problem.file for problem in caught.value.problems]
    assert list(dict.fromkeys(named)) == ["gone.py", "binary.py", "none.py", "bad.py"]


def test_disabled_registrations_are_skipped_with_their_reason(config, file):
    """What its author switched off does not run, and the reason is told."""
    path = file("t.py", CPU.replace(")", ', disabled="flaky, #12")'), ROCM)
    found = given([path], config())
    assert [skipped.reason for skipped in found.skipped] == ["disabled: flaky, #12"]
    assert [test.identity.backend for test in found.ready] == ["rocm"]


def test_a_file_named_twice_runs_once(config, file, tmp_path):
    """Two spellings of one path are one file."""
    path = file("t.py", CPU)
    assert len(given([path, path.parent / "t.py"], config()).ready) == 1


def test_what_the_collector_keeps(config, file):
    """The configured metrics, those declared in the test and the seed, each once."""
    declaration = 'register_ci_gate(metric_key="{}", steps="last", constraint={{"rel_up": 1, "rel_down": 1}})'
    path = file("t.py", CPU, declaration.format("mine"), declaration.format("a"))
    (test,) = given([path], config("[capture]\nmetrics = ['a', 'b']")).ready
    assert test.runnable.metrics == ("a", "b", "mine", "seed")
    assert [spec.metric_key for spec in test.specs] == ["mine", "a"]


def test_whose_command(config, file):
    """The suite's own command before the root's before the general one."""
    text = """
    command = ["sh", "{file}"]
    [suites.stage-c-4-gpu-mi350]
    command = ["env", "{python}", "{file}"]
    """
    found = given([file("t.py", CPU, ROCM), file("tests/fast/test_x.py")], config(text))
    assert [test.runnable.command[0] for test in found.ready] == ["sh", "env", "{python}"]
    assert found.ready[2].runnable.command[1:] == ("-m", "pytest", "{file}")


def test_a_program_that_does_not_exist(config, file):
    """A command that cannot be started is found before the first test."""
    with pytest.raises(ConfigError, match="command: 'no-such-program' is not an executable program"):
        given([file("t.py", CPU)], config('command = ["no-such-program"]'))

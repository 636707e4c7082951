"""What a call of ``run`` is going to do: the plan's tests on this machine, everything wrong found before a start."""

import textwrap

import pytest

from driftgate.config.load import load_config
from driftgate.harness.prepared_run import prepare
from driftgate.harness.run_request import RunRequest, Selection
from driftgate.harness.sharding import Shard
from driftgate.harness.trigger import Requests
from gate.errors import ConfigError, SourceError

CONFIG = """
[timeouts]
cap = 5000
timeout_per_file = 4000
[discovery]
roots = [{path = "tests/fast", default = {backend = "cpu", suite = "stage-a-cpu", est_time = 1}}, {path = "tests/e2e"}]
"""
CUDA = 'register_cuda_ci(est_time={}, suite="stage-c-8-gpu-h100", labels=["{}"], hardware=[{}])'
FILES = {
    "tests/fast/test_a.py": "",
    "tests/fast/test_b.py": "",
    "tests/e2e/test_c.py": CUDA.format(90, "megatron", '"hopper"'),
    "tests/e2e/test_d.py": CUDA.format(30, "fsdp", '"hopper", "blackwell"'),
    "tests/e2e/test_e.py": 'register_rocm_ci(est_time=9, suite="stage-c-4-gpu-mi350", labels=["amd"], disabled="broken")',
}
NIGHTLY = Requests(cadence="nightly")


@pytest.fixture
def prepared(tmp_path):
    """The tests of one call, by file and suite."""

    def call(requests=NIGHTLY, *, config="", tests=FILES, options=None, environment=None, **more):
        (tmp_path / "driftgate.toml").write_text(textwrap.dedent(CONFIG + config))
        for name, text in tests.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"from driftgate import *\n{text}\n")
        loaded = load_config(file=None, start=tmp_path, env={}, options=options or {})
        return prepare(RunRequest(loaded, environment or {}, requests=requests, **more))

    return call


def places(prepared):
    return [(test.identity.test_path[-4:-3], test.identity.suite) for test in prepared.tests.ready]


@pytest.mark.parametrize(
    ("labels", "more", "wanted"),
    [
        ((), {"hw": "cpu"}, [("a", "stage-a-cpu"), ("b", "stage-a-cpu")]),
        ((), {"hw": "cuda"}, [("c", "stage-c-8-gpu-h100"), ("d", "stage-c-8-gpu-h100")]),
        ((), {"suite": "stage-a-cpu", "selection": Selection(shard=Shard(1, 2))}, [("b", "stage-a-cpu")]),
        (("run-on-blackwell",), {"hw": "cuda"}, [("d", "stage-c-8-gpu-b200")]),
        (("run-on-blackwell",), {"suite": "stage-c-8-gpu-h100"}, []),
        ((), {"hw": "rocm"}, []),
    ],
)
def test_the_plan_of_this_machine(prepared, labels, more, wanted):
    """Selected tests in plan order; a test's suite is the one that executes it, wherever its home is."""
    assert places(prepared(Requests(cadence="nightly", labels=labels), **more)) == wanted


def test_labels_select_in_a_pull_request(prepared):
    """Only what is asked for runs, and --match-all-labels asks for everything."""
    assert places(prepared(Requests(labels=("fsdp",)), hw="cuda")) == [("d", "stage-c-8-gpu-h100")]
    everything = prepared(Requests(), hw="cuda", selection=Selection(match_all_labels=True))
    assert [name for name, _ in places(everything)] == ["c", "d"]


def test_one_file_of_the_plan(prepared, tmp_path):
    """--file runs it whatever labels and cadence say."""
    asked = Selection(file=tmp_path / "tests" / "e2e" / "test_c.py")
    assert places(prepared(Requests(), selection=asked)) == [("c", "stage-c-8-gpu-h100")]


def test_changed_files_prune(prepared, tmp_path):
    """A change of documents needs no suite, and that nothing runs is said."""
    (tmp_path / "diff").write_bytes(b"M\0docs/a.md\0")
    found = prepared(Requests(event="pull_request"), hw="cpu", selection=Selection(changed_files=tmp_path / "diff"))
    assert places(found) == []
    assert [notice.kind for notice in found.tests.notices][-1:] == ["nothing_to_run"]


def test_a_plan_for_several_machines(prepared):
    """GPU tests on a CPU runner make no sense: the call must say which it is, unless there is one backend only."""
    with pytest.raises(ConfigError, match=r"tests for cpu, cuda, this is one machine; give --suite or --hw"):
        prepared()
    assert [name for name, _ in places(prepared(Requests()))] == ["a", "b"]


def test_what_is_not_run_is_told(prepared):
    """Disabled tests and generations that were asked for in vain, each with its reason; an empty shard too."""
    disabled = prepared(hw="rocm").tests
    assert [skipped.reason for skipped in disabled.skipped] == ["disabled: broken"]
    assert disabled.notices[-1].text.startswith("nothing to run: 0 not selected, 1 disabled; ")
    vain = prepared(Requests(cadence="nightly", labels=("run-on-blackwell",)), hw="cuda").tests
    assert [(skipped.identity.test_path[-4:-3], "blackwell" in skipped.reason) for skipped in vain.skipped] == [
        ("c", True)
    ]
    empty = prepared(suite="stage-a-cpu", selection=Selection(shard=Shard(3, 4))).tests
    assert (empty.ready, empty.notices[-1].text) == ((), "nothing to run: shard 3/4 is empty")


def test_all_declarations_are_checked(prepared):
    """A wrong declaration in any file, of another suite too, keeps everything from starting."""
    files = {**FILES, "tests/e2e/test_c.py": "register_cuda_ci()", "tests/fast/test_b.py": "register_ci_gate()"}
    with pytest.raises(SourceError) as caught:
        prepared(tests=files, suite="stage-a-cpu")
    assert {problem.file for problem in caught.value.problems} == {"tests/e2e/test_c.py", "tests/fast/test_b.py"}


def test_files_are_not_selected_from(prepared, tmp_path):
    """Files that are named run as they are; options that select from the plan contradict them."""
    with pytest.raises(ConfigError, match="FILE: the files given are run as they are"):
        prepared(files=(tmp_path / "tests/fast/test_a.py",), selection=Selection(shard=Shard(0, 2)))


def test_labels_beside_files(prepared, tmp_path):
    """They select nothing; what is wrong with one is told all the same."""
    labels = ("bypass-fastfail", "run-ci-\x1b[31m")
    found = prepared(Requests(labels=labels), files=(tmp_path / "tests/fast/test_a.py",))
    assert (places(found), found.policy.fast_fail) == ([("a", "stage-a-cpu")], False)
    assert [notice.kind for notice in found.tests.notices] == ["unsafe_label"]


@pytest.mark.parametrize(
    ("config", "asked", "retried"),
    [
        ("", None, [False, False]),
        ("", True, [True, True]),
        ("[retry]\nenabled = true", None, [True, True]),
        ("[retry]\nenabled = true\n[suites.stage-a-cpu]\nretry = false", None, [False, False]),
        ("[suites.stage-a-cpu]\nretry = true", None, [True, True]),
        ("[suites.stage-a-cpu]\nretry = true", False, [False, False]),
        ("[suites.stage-c-8-gpu-h100]\nretry = true", None, [False, False]),
    ],
)
def test_which_suites_retry(prepared, config, asked, retried):
    """Option over suite over [retry] enabled, which is off."""
    found = prepared(hw="cpu", config=config, retry=asked)
    assert [test.runnable.retry for test in found.tests.ready] == retried


@pytest.mark.parametrize("option", ["retry.max_attempts", "retry.wait"])
def test_options_about_retries_that_there_are_not(prepared, option):
    """Refused instead of ignored."""
    with pytest.raises(ConfigError, match=r"--(max-attempts|retry-wait): no test of this run is tried again; add --r"):
        prepared(hw="cpu", options={option: 2})
    assert len(prepared(hw="cpu", options={option: 2}, retry=True).tests.ready) == 2


def test_an_estimate_beyond_the_cap(prepared):
    """Named with its line; with retry on, the longer time counts."""
    files = {"tests/e2e/test_c.py": CUDA.format(4001, "fsdp", '"hopper"'), "tests/fast/test_a.py": ""}
    with pytest.raises(SourceError, match=r"tests/e2e/test_c\.py:2: register_cuda_ci est_time: 1\.25 x 4001 s is abov"):
        prepared(tests=files, hw="cuda")
    files = {"tests/e2e/test_c.py": CUDA.format(3600, "fsdp", '"hopper"'), "tests/fast/test_a.py": ""}
    assert len(prepared(tests=files, hw="cuda").tests.ready) == 1
    with pytest.raises(SourceError, match=r"1\.25 x 3600 s and timeouts\.retry_timeout_increase 600 is above"):
        prepared(tests=files, hw="cuda", retry=True)


def test_timeouts_that_are_together_beyond_the_cap(prepared):
    """The key is named, not a test."""
    options = {"timeouts.timeout_per_file": 4500}
    assert prepared(hw="cpu", options=options).tests.ready
    with pytest.raises(ConfigError, match=r"^timeouts\.retry_timeout_increase: 600 more than .* above timeouts\.cap"):
        prepared(hw="cpu", options=options, retry=True)


def test_the_kill_switch_must_be_readable(prepared):
    """Neither on nor off is a mistake, found before anything starts."""
    with pytest.raises(ConfigError, match="DRIFTGATE_ENFORCEMENT"):
        prepared(hw="cpu", environment={"DRIFTGATE_ENFORCEMENT": "no"})

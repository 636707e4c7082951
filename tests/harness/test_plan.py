"""The plan: every registered test on the suite that executes it, or a reason why not."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftgate.harness.sharding import Shard
from gate.errors import ConfigError, SourceError

H100, H200_2, H200_4, B200 = "stage-c-8-gpu-h100", "stage-b-2-gpu-h200", "stage-c-4-gpu-h200", "stage-c-8-gpu-b200"
ROCM, CPU = "stage-c-4-gpu-mi350", "stage-a-cpu"
ON_CPU = {"test_policy", "test_metric_naming", "test_arguments"}


def where(plan):
    """Suite to the names of its tests."""
    found = {}
    for test in plan.tests:
        found.setdefault(test.suite, set()).add(test.test.path.stem)
    return found


def needed(plan):
    return {suite.name for suite in plan.suites if suite.need.needed}


def kinds(plan):
    return [warning.kind for warning in plan.warnings]


@pytest.mark.parametrize(
    ("cadence", "labels", "expected"),
    [
        ("regular", (), {CPU: ON_CPU}),
        ("regular", ("megatron",), {CPU: ON_CPU, H100: {"test_qwen3_4B_ppo", "test_moonlight_16B_A3B"}}),
        ("regular", ("run-ci-amd",), {CPU: ON_CPU, ROCM: {"test_moonlight_16B_A3B"}}),
        ("regular", ("run-ci-fsdp",), {CPU: ON_CPU}),
        ("regular", ("run-ci-blackwell-only",), {CPU: ON_CPU, B200: {"test_nvfp4"}}),
        ("regular", ("megatron", "run-on-blackwell"), {CPU: ON_CPU, B200: {"test_qwen3_4B_ppo"}}),
        (
            "regular",
            ("megatron", "run-on-blackwell", "run-on-hopper"),
            {CPU: ON_CPU, B200: {"test_qwen3_4B_ppo"}, H100: {"test_qwen3_4B_ppo", "test_moonlight_16B_A3B"}},
        ),
        (
            "nightly",
            (),
            {
                CPU: ON_CPU,
                H200_2: {"test_fp8_kernels"},
                H200_4: {"test_qwen3_0.6B_fsdp"},
                H100: {"test_qwen3_4B_ppo", "test_moonlight_16B_A3B"},
                B200: {"test_nvfp4"},
                ROCM: {"test_moonlight_16B_A3B"},
            },
        ),
        (
            "weekly",
            (),
            {
                CPU: ON_CPU,
                H200_2: {"test_fp8_kernels"},
                H200_4: {"test_qwen3_0.6B_fsdp"},
                H100: {"test_qwen3_4B_ppo", "test_moonlight_16B_A3B", "test_gsm8k_long"},
                B200: {"test_nvfp4"},
                ROCM: {"test_moonlight_16B_A3B"},
            },
        ),
    ],
)
def test_what_runs_where(planner, cadence, labels, expected):
    """Each selected test once on each suite that executes it."""
    assert where(planner.plan(cadence, *labels)) == expected


@pytest.mark.parametrize(
    ("request_", "suites"),
    [
        ({"hw": "cpu"}, {CPU}),
        ({"hw": "rocm"}, {ROCM}),
        ({"hw": "cuda"}, {H100, H200_2, H200_4, B200}),
        ({"suite": H100}, {H100}),
        ({"suite": H100, "hw": "cuda"}, {H100}),
    ],
)
def test_narrowed(planner, request_, suites):
    """--hw and --suite keep what these suites execute."""
    assert needed(planner.plan("nightly", **request_)) == suites


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"hw": "tpu"}, "--hw: unknown 'tpu'"),
        ({"suite": "stage-a-cpus"}, "--suite: unknown 'stage-a-cpus' (did you mean 'stage-a-cpu'?)"),
        ({"suite": H100, "hw": "cpu"}, f"--suite: {H100} is a suite for cuda, not cpu"),
    ],
)
def test_wrong_requests(planner, request_, message):
    """Refused, never an empty plan."""
    with pytest.raises(ConfigError) as caught:
        planner.plan("nightly", **request_)
    assert str(caught.value).startswith(message)


def test_a_moved_test_is_asked_for_on_its_new_suite(planner):
    """--suite means where a test executes, not its home."""
    plan = planner.plan("regular", "megatron", "run-on-blackwell", suite=B200)
    assert where(plan) == {B200: {"test_qwen3_4B_ppo"}}
    assert [one.test.path.stem for one in plan.covered if one.skipped] == []
    assert where(planner.plan("regular", "megatron", "run-on-blackwell", suite=H100)) == {}


TWICE = (
    'register_cuda_ci(est_time=10, suite="stage-c-8-gpu-h100", labels=["lora"], hardware=["hopper", "blackwell"])',
    'register_cuda_ci(est_time=20, suite="stage-c-8-gpu-b200", labels=["lora"], hardware=["blackwell"])',
)


@pytest.mark.parametrize("calls", [TWICE, TWICE[::-1]], ids=["home last", "home first"])
def test_a_test_runs_once_where_two_registrations_lead(planner, calls):
    """One registration moved to the home of the other: the one at home counts, wherever it stands in the file."""
    planner.write("tests/e2e/test_twice.py", "\n".join(calls))
    plan = planner.plan("regular", "lora", "run-on-blackwell", hw="cuda")
    ((test),) = plan.tests
    assert (test.suite, test.registration.suite, test.cost_s) == (B200, B200, 20.0)


def test_every_shard_together_is_the_plan(planner):
    """Every test of a suite is in exactly one of its shards, whichever job asks."""
    whole = [(test.suite, test.test.test_path) for test in planner.plan("weekly").tests]
    parts = [
        (test.suite, test.test.test_path)
        for index in range(3)
        for test in planner.plan("weekly", shard=Shard(index, 3)).tests
    ]
    assert sorted(parts) == sorted(whole)


def test_configured_shards(planner):
    """[suites] shards cuts a suite where no --shard is given; the longest test comes first."""
    plan = planner.plan("weekly", suite=H100, config=planner.config(**{f"suites__{H100}__shards": 2}))
    (suite,) = plan.suites
    assert [[test.test.path.stem for test in suite.in_shard(index)] for index in range(2)] == [
        ["test_gsm8k_long"],
        ["test_moonlight_16B_A3B", "test_qwen3_4B_ppo"],
    ]


def test_an_empty_shard_is_no_error(planner):
    """More shards than tests: the rest has nothing to do."""
    plan = planner.plan("nightly", suite=B200, shard=Shard(1, 2))
    assert (plan.tests, plan.needs_image["cuda"]) == ((), False)


def test_learned_durations_balance_shards(planner):
    """Where a duration was learned it counts instead of est_time, which stays what is declared."""
    rows = [
        {"file": "tests/e2e/megatron/test_qwen3_4B_ppo.py", "backend": "cuda", "suite": H100, "p90_s": 5000, "n": 9}
    ]
    file = planner.write("durations.json", json.dumps({"schema": 1, "durations": rows}))
    plan = planner.plan("weekly", suite=H100, durations=file, shard=Shard(0, 2))
    ((test),) = plan.tests
    assert (test.test.path.stem, test.cost_s, test.registration.est_time_s) == ("test_qwen3_4B_ppo", 5000.0, 300.0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[]", 'has no "durations" of schema 1'),
        ('{"schema": 2, "durations": []}', 'has no "durations" of schema 1'),
        ('{"schema": 1, "durations": [3]}', "a row is wrong"),
        ('{"schema": 1, "durations": [{"file": "a", "backend": "cpu", "suite": "s"}]}', "a row is wrong ('p90_s')"),
        ('{"schema": 1, "durations": [{"file": 3, "backend": "cpu", "suite": "s", "p90_s": 1}]}', "a row is wrong"),
        ('{"schema": 1, "durations": [{"file": "a", "backend": "cpu", "suite": "s", "p90_s": NaN}]}', "a row is wrong"),
        (
            '{"schema": 1, "durations": [{"file": "a", "backend": "cpu", "suite": "s", "p90_s": 1e999}]}',
            "found p90_s inf",
        ),
        ('{"schema": 1, "durations": [{"file": "a", "backend": "cpu", "suite": "s", "p90_s": -1}]}', "found p90_s -1"),
        (
            '{"schema": 1, "durations": [{"file": "a", "backend": "cpu", "suite": "s", "p90_s": true}]}',
            "found p90_s True",
        ),
    ],
)
def test_wrong_durations(planner, content, message):
    """A durations file that cannot be used is refused: jobs that guess cut their shards differently."""
    with pytest.raises(ConfigError, match=r"^--durations: ") as caught:
        planner.plan("weekly", durations=planner.write("d.json", content))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_durations_of_something_else(planner):
    """A file that knows none of the tests changes nothing, and that is told."""
    file = planner.write("durations.json", '{"schema": 1, "durations": []}')
    assert kinds(planner.plan("weekly", durations=file)) == ["unknown_durations"]
    assert kinds(planner.plan("nightly", suite=B200, shard=Shard(0, 1))) == []


def test_missing_durations(planner):
    """So is one that is not there."""
    with pytest.raises(ConfigError, match="cannot be read"):
        planner.plan("weekly", durations=planner.home / "missing")


def test_gpu_suites_wait_for_the_cpu_gate(planner):
    """Unless fast-fail is off, by the cadence or by a label."""
    waits = {suite.name: suite.waits_for for suite in planner.plan("regular", "megatron").suites}
    assert (waits[CPU], waits[H100]) == ((), (CPU,))
    for plan in (planner.plan("nightly"), planner.plan("regular", "megatron", "bypass-fastfail")):
        assert plan.bypass_fast_fail
        assert {suite.waits_for for suite in plan.suites} == {()}


def test_waiting_reaches_through_suites_that_are_not_planned(planner):
    """C needs b needs a: without a test on b, c waits for a; and a suite starts behind what it waits for."""
    needs = {f"suites__{CPU}__needs": [], f"suites__{H200_2}__needs": [CPU], f"suites__{H100}__needs": [H200_2]}
    plan = planner.plan("regular", "megatron", config=planner.config(**needs))
    assert {suite.name: suite.waits_for for suite in plan.suites if suite.tests} == {CPU: (), H100: (CPU,)}
    turned = planner.config(**{f"suites__{CPU}__needs": [H100], f"suites__{H100}__needs": []})
    assert [suite.name for suite in planner.plan("regular", "megatron", config=turned).suites if suite.tests] == [
        H100,
        CPU,
    ]


def test_disabled_tests_are_told(planner):
    """With their reason, where this request would have run them."""
    assert [one.registration.disabled for one in planner.plan("nightly").disabled] == ["waits for NCCL 2.27"]
    assert planner.plan("nightly", hw="cpu").disabled == ()


def test_one_file(planner):
    """--file plans it whatever labels, nightly and cadence say, at home or where labels send it; the tree is not read."""
    planner.write("tests/e2e/test_broken.py", "def (")
    file = planner.home / "tests/e2e/fsdp/test_qwen3_0.6B_fsdp.py"
    assert where(planner.plan("regular", file=file)) == {H200_4: {"test_qwen3_0.6B_fsdp"}}
    assert "nothing_requested" not in kinds(planner.plan("regular", file=file))
    portable = planner.home / "tests/e2e/megatron/test_qwen3_4B_ppo.py"
    assert where(planner.plan("regular", "run-on-blackwell", file=portable)) == {B200: {"test_qwen3_4B_ppo"}}
    disabled = planner.plan("regular", file=planner.home / "tests/e2e/ft/test_rollout_fault.py")
    assert (disabled.tests, len(disabled.disabled)) == ((), 1)


@pytest.mark.parametrize("name", ["tests/e2e/test_missing.py", "tests/e2e", "conftest.py"])
def test_one_file_that_is_no_test(planner, name):
    """A missing file, a folder and a file that registers nothing are mistakes, not empty plans."""
    planner.write("conftest.py", "")
    with pytest.raises(SourceError) as caught:
        planner.plan("regular", file=planner.home / name)
    assert [problem.file for problem in caught.value.problems] == [name]


def test_all_mistakes_at_once(planner):
    """Every mistake of every file, and no plan."""
    planner.write("tests/e2e/test_x.py", "register_cuda_ci(est_time=0, suite=3, labels=[])\n")
    planner.write("tests/e2e/test_y.py", "pass\n")
    planner.write(
        "tests/ci/test_z.py",
        'register_cpu_ci(est_time=True, suite="stage-a-cpu")\nregister_ci_gate(metric_key=1e999)\n',
    )
    with pytest.raises(SourceError) as caught:
        planner.plan("nightly")
    assert {problem.file for problem in caught.value.problems} == {
        "tests/ci/test_z.py",
        "tests/e2e/test_x.py",
        "tests/e2e/test_y.py",
    }
    assert len(caught.value.problems) >= 6


@pytest.mark.parametrize("est_time", ["0", "-1", "True", "1e999", "float('inf')", "None", "10**400", "'5'"])
def test_a_wrong_est_time_never_reaches_a_plan(planner, est_time):
    """Refused with its place, whatever it is."""
    planner.write("tests/ci/test_z.py", f'register_cpu_ci(est_time={est_time}, suite="stage-a-cpu")\n')
    with pytest.raises(SourceError) as caught:
        planner.plan("nightly")
    ((problem),) = caught.value.problems
    assert (problem.line, problem.call, problem.field) == (1, "register_cpu_ci", "est_time")


def test_a_plan_without_gpu_tests_says_so(planner):
    """A run by hand without labels is a common surprise; a plan of CPU suites alone has nothing to warn about."""
    assert kinds(planner.plan(event="workflow_dispatch")) == ["nothing_requested"]
    assert kinds(planner.plan(event="workflow_dispatch", hw="cpu")) == []
    everything = planner.plan(event="workflow_dispatch", match_all_labels=True)
    assert (kinds(everything), H100 in needed(everything)) == ([], True)


def test_ten_thousand_labels(planner):
    """However many labels a pull request has, the ones that count are found and the warnings stay few."""
    planner.environment = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request"}
    names = [*(f"run-ci-nonsense-{index}" for index in range(10_000)), "run-ci-megatron"]
    event = {"pull_request": {"labels": [{"name": name} for name in names]}}
    planner.environment["GITHUB_EVENT_PATH"] = str(planner.write("event.json", json.dumps(event)))
    plan = planner.plan()
    assert where(plan)[H100] == {"test_qwen3_4B_ppo", "test_moonlight_16B_A3B"}
    assert 0 < len(plan.warnings) < 20


@pytest.mark.parametrize("content", ["{", "[]", '{"pull_request": {"labels": 3}}', "[" * 100_000, "\0"])
def test_malformed_labels_are_no_empty_list(planner, content):
    """An event file that cannot be read fails the plan: without its labels it would silently run less."""
    path = planner.write("event.json", content)
    planner.environment = {
        "GITHUB_ACTIONS": "true",
        "GITHUB_EVENT_NAME": "pull_request",
        "GITHUB_EVENT_PATH": str(path),
    }
    with pytest.raises(ConfigError, match="labels"):
        planner.plan()


def test_strange_names_of_files(planner):
    """Spaces, letters of any alphabet and leading dashes are names like others."""
    names = ("test_with space.py", "test_größe.py", "-x/test_dash.py", "test_::error::.py")
    for name in names:
        planner.write(f"tests/fast/{name}", "")
    planned = {test.test.test_path for test in planner.plan("nightly", hw="cpu").tests}
    assert {f"tests/fast/{name}" for name in names} <= planned


LABELS = st.sets(
    st.sampled_from(
        [
            "megatron",
            "amd",
            "precision",
            "run-ci-all",
            "run-ci-image",
            "run-on-hopper",
            "run-on-blackwell",
            "bypass-fastfail",
        ]
    )
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the repository is only read
@given(st.sampled_from(["regular", "nightly", "weekly", "release"]), LABELS, st.integers(1, 4))
def test_laws(planner, cadence, labels, count):
    """Whatever is asked: each test at most once on a suite, a suite of its backend, on a generation it supports; the
    shards together are the whole; nothing that is disabled.
    """
    whole = planner.plan(cadence, *sorted(labels))
    places = [(test.suite, test.test.test_path) for test in whole.tests]
    assert len(set(places)) == len(places)
    for test in whole.tests:
        suite = whole.request.config.suites[test.suite]
        assert suite.backend == test.registration.backend
        assert suite.generation is None or suite.generation in test.registration.hardware
        assert test.registration.disabled is None
    shards = [planner.plan(cadence, *sorted(labels), shard=Shard(index, count)).tests for index in range(count)]
    assert sorted((test.suite, test.test.test_path) for tests in shards for test in tests) == sorted(places)

"""Why one test file runs or not: the first rule that stops it, in words."""

from pathlib import Path

import pytest

from driftgate.harness.explanation import explain, explanation_json, explanation_lines
from driftgate.harness.sharding import Shard

H100, B200 = "stage-c-8-gpu-h100", "stage-c-8-gpu-b200"
QWEN = "tests/e2e/megatron/test_qwen3_4B_ppo.py"
MOONLIGHT = "tests/e2e/megatron/test_moonlight_16B_A3B.py"


def stops(planner, name, plan):
    """The rules that stop the test, each with its text."""
    found = explain(planner.home / name, plan)
    steps = [found.discovered, *(step for place in found.places for step in place.steps)]
    return [(step.rule, step.text) for step in steps if step.stops]


@pytest.mark.parametrize(
    ("name", "rule", "text"),
    [
        ("tests/e2e/long/test_gsm8k_long.py", "labels", "long"),
        ("tests/e2e/fsdp/test_qwen3_0.6B_fsdp.py", "cadence", "nightly=True"),
        ("tests/e2e/ft/test_rollout_fault.py", "enabled", "disabled: waits for NCCL 2.27"),
        ("tests/e2e/precision/test_nvfp4.py", "labels", "run-ci-precision"),
        ("tests/fast/test_metric_namin.py", "discovered", "did you mean 'tests/fast/test_metric_naming.py'?"),
        ("somewhere/test_nvfp4.py", "discovered", "did you mean 'tests/e2e/precision/test_nvfp4.py'?"),
        ("nothing", "discovered", "there is no such file"),
        ("tests/e2e/helpers.py", "discovered", "does not match the pattern test_*.py of root tests/e2e"),
        (
            "scripts/test_launch.py",
            "discovered",
            "outside of the roots (tests/fast, tests/fast-gpu, tests/e2e, tests/ci)",
        ),
        ("tests/e2e/.cache/test_a.py", "discovered", "its folder is left out: hidden folders"),
        ("tests/e2e", "discovered", "is a folder"),
        ("x" * 5000, "discovered", "there is no such file"),
        ("/etc/hosts", "discovered", "outside of the roots"),
    ],
)
def test_the_rule_that_stops_it(planner, name, rule, text):
    """Exactly one rule stops a test, and its text says what to do or look at."""
    for other in ("tests/e2e/helpers.py", "scripts/test_launch.py", "tests/e2e/.cache/test_a.py"):
        planner.write(other, "")
    ((found, said),) = stops(planner, name, planner.plan("regular"))
    assert (found, text in said) == (rule, True), said
    assert not explain(planner.home / name, planner.plan("regular")).planned


@pytest.mark.parametrize(
    ("request_", "rule", "text"),
    [
        ({"hw": "cpu"}, "request", f"{H100} is not what --hw cpu asks for"),
        ({"suite": B200, "hw": "cuda"}, "request", f"{H100} is not what --hw cuda and --suite {B200} asks for"),
        ({"shard": Shard(0, 2)}, "shard", "it is in shard 1/2, this plan is for 0/2"),
    ],
)
def test_what_the_call_leaves_out(planner, request_, rule, text):
    """A selected test that this call does not plan."""
    assert stops(planner, QWEN, planner.plan("nightly", **request_)) == [(rule, text)]


def test_a_change_that_does_not_affect_it(planner):
    """Pruned by changed files."""
    plan = planner.plan("nightly", changed_files=planner.write("diff", "M\0README.md\0"))
    assert stops(planner, QWEN, plan) == [("suite", f"{H100}: no changed file affects it")]


def test_a_generation_asked_for_in_vain(planner):
    """A test that does not support it runs nowhere."""
    plan = planner.plan("regular", "megatron", "run-on-blackwell")
    assert ("place", "not on blackwell: it supports hopper, not blackwell") in stops(planner, MOONLIGHT, plan)


def test_a_test_of_another_file(planner):
    """A plan of one file knows no other."""
    plan = planner.plan("regular", file=planner.home / QWEN)
    ((rule, text),) = stops(planner, MOONLIGHT, plan)
    assert (rule, text.startswith("this plan is about --file")) == ("discovered", True)


def test_two_registrations_of_which_one_is_enough(planner):
    """The other says that the test runs there already."""
    planner.write(
        "tests/e2e/test_twice.py",
        'register_cuda_ci(est_time=10, suite="stage-c-8-gpu-h100", labels=["lora"], hardware=["hopper", "blackwell"])\n'
        'register_cuda_ci(est_time=20, suite="stage-c-8-gpu-b200", labels=["lora"], hardware=["blackwell"])\n',
    )
    plan = planner.plan("regular", "lora", "run-on-blackwell")
    found = explain(planner.home / "tests/e2e/test_twice.py", plan)
    assert [place.runs_on for place in found.places] == [(), (B200,)]
    assert stops(planner, "tests/e2e/test_twice.py", plan) == [
        ("once", f"its registration for {B200} runs it there already; it runs once")
    ]


def test_in_words(planner):
    """Every rule in order, the answer first and again for each registration."""
    plan = planner.plan("nightly", hw="cuda")
    assert list(explanation_lines(explain(planner.home / MOONLIGHT, plan))) == [
        f"{MOONLIGHT}: runs",
        "  yes discovered: root tests/e2e, pattern test_*.py",
        f"  registered in line 2 for cuda, home {H100}, labels megatron",
        "    yes enabled: not disabled",
        "    yes cadence: cadence nightly admits it",
        "    yes labels: cadence nightly covers its label megatron",
        f"    yes place: {H100}, its home",
        f"    yes suite: {H100}: its tests are selected",
        f"    => runs on {H100}",
        "  registered in line 3 for rocm, home stage-c-4-gpu-mi350, labels amd",
        "    yes enabled: not disabled",
        "    yes cadence: cadence nightly admits it",
        "    yes labels: cadence nightly covers its label amd",
        "    yes place: stage-c-4-gpu-mi350, its home",
        "    no  request: stage-c-4-gpu-mi350 is not what --hw cuda asks for",
        "    => does not run",
    ]


def test_for_machines(planner):
    """The same as data."""
    document = explanation_json(explain(planner.home / "tests/fast/test_metric_naming.py", planner.plan("regular")))
    assert (document["file"], document["planned"]) == ("tests/fast/test_metric_naming.py", True)
    ((registration),) = document["registrations"]
    assert registration["runs_on"] == ["stage-a-cpu"]
    assert registration["title"].startswith("registered by its root's default for cpu")
    assert all(rule["passes"] for rule in registration["rules"])


def test_hostile_names_stay_on_their_line(planner):
    """Neither a name that is asked for nor a reason out of a test file breaks a line or reaches the terminal."""
    planner.write(
        "tests/ci/test_x.py", 'register_cpu_ci(est_time=1, suite="stage-a-cpu", disabled="a\\n::error::b\\x1b[31m")\n'
    )
    plan = planner.plan("regular")
    for name in ("tests/ci/test_x.py", "tests/fast/a\n::error::\x1b[31m.py"):
        lines = list(explanation_lines(explain(planner.home / name, plan)))
        assert all(line.isprintable() and not line.startswith("::") for line in lines)


def test_a_path_from_the_root_is_known_in_any_folder(planner, monkeypatch):
    """As in a plan or a log, from which people copy it; a path from the folder goes first."""
    name = "tests/e2e/megatron/test_qwen3_4B_ppo.py"
    plan = planner.plan("nightly")
    monkeypatch.chdir(planner.home / "tests/e2e")
    for given in (name, "megatron/test_qwen3_4B_ppo.py"):
        found = explain(Path(given), plan)
        assert (found.file, found.planned) == (name, True)

"""Which suites a plan needs: a test can run there, and a change affects it or somebody asked for it."""

import json

import pytest

from driftgate.harness.github_outputs import github_outputs

H100, H200_2, B200 = "stage-c-8-gpu-h100", "stage-b-2-gpu-h200", "stage-c-8-gpu-b200"
ROCM, CPU = "stage-c-4-gpu-mi350", "stage-a-cpu"
NIGHTLY = {CPU, H200_2, "stage-c-4-gpu-h200", H100, B200, ROCM}
QWEN = "tests/e2e/megatron/test_qwen3_4B_ppo.py"


def diff(*paths):
    return "".join(f"M\0{path}\0" for path in paths)


@pytest.fixture
def needed(planner):
    """The needed suites of a pull request with these labels and this diff."""

    def plan(labels, content, **more):
        file = planner.write("diff", content) if content is not None else planner.home / "missing"
        found = planner.plan(None, *labels, event="pull_request", changed_files=file, **more)
        return {suite.name for suite in found.suites if suite.need.needed}

    return plan


@pytest.mark.parametrize(
    ("labels", "content", "expected"),
    [
        # nothing is asked for: the change alone decides
        (("nightly",), diff("README.md"), set()),
        (("nightly",), diff("tests/fast/test_metric_naming.py", "docs/a.md"), {CPU}),
        (("nightly",), diff(QWEN), {H100}),
        (("nightly",), diff("tests/e2e/megatron/test_moonlight_16B_A3B.py"), {H100, ROCM}),
        (("nightly",), diff("miles/trainer.py"), NIGHTLY),
        (("nightly",), "R100\0docs/a.md\0docs/b.md\0", set()),
        (("nightly",), "R100\0miles/a.py\0docs/b.md\0", NIGHTLY),
        (("nightly",), "R100\0tests/fast/test_was.py\0tests/fast/test_metric_naming.py\0", {CPU}),
        (("nightly",), "D\0tests/e2e/test_was.py\0", NIGHTLY),
        # a suite without a test to run is never needed
        ((), diff("miles/trainer.py"), {CPU}),
        ((), diff(QWEN), set()),
        # what was asked for is needed whatever changed
        (("run-ci-megatron",), diff("README.md"), {H100}),
        (("run-ci-megatron",), diff(QWEN), {H100}),
        (("run-ci-megatron",), diff("tests/fast/test_metric_naming.py"), {CPU, H100}),
        (("run-ci-megatron", "run-on-blackwell"), diff("README.md"), {B200}),
        (("run-ci-blackwell-only",), diff(QWEN), {B200}),
        (("run-ci-image",), diff("README.md"), NIGHTLY - {CPU, "stage-c-4-gpu-h200"}),
        (("bypass-fastfail",), diff("README.md"), set()),
        # no usable diff: everything runnable
        (("nightly",), None, NIGHTLY),
        (("nightly",), "", NIGHTLY),
        (("nightly",), "M\0README.md", NIGHTLY),
        (("nightly",), "garbage\0", NIGHTLY),
        (("run-ci-megatron",), None, {CPU, H100}),
    ],
)
def test_needed(needed, labels, content, expected):
    """A suite is needed iff a test can run there and it is affected or asked for."""
    assert needed(labels, content) == expected


def test_options_ask_too(needed, planner):
    """--suite, --file and --match-all-labels are requests of a person."""
    assert needed(("nightly",), diff("README.md"), suite=H100) == {H100}
    assert needed((), diff("README.md"), file=planner.home / QWEN) == {H100}
    assert CPU in needed((), diff("README.md"), match_all_labels=True)
    assert H100 in needed((), diff("README.md"), match_all_labels=True)


@pytest.mark.parametrize(
    ("content", "why"), [(None, "cannot be read"), ("", "is empty"), ("M\0x", "does not end with a NUL")]
)
def test_an_unusable_diff_is_told(planner, content, why):
    """A warning says why nothing was pruned."""
    file = planner.write("diff", content) if content is not None else planner.home / "missing"
    plan = planner.plan(None, "nightly", event="pull_request", changed_files=file)
    ((warning),) = plan.warnings
    assert (warning.kind, why in warning.text) == ("changed_files_unknown", True)
    assert warning.text.endswith("everything runnable is needed")


@pytest.mark.parametrize("event", ["schedule", "workflow_dispatch", "push"])
def test_changed_files_count_for_pull_requests_alone(planner, event):
    """A nightly run is judged against its history: a day without changes must not leave it out."""
    planner.environment = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": event}
    plan = planner.plan("nightly", changed_files=planner.write("diff", diff("README.md")))
    assert {suite.name for suite in plan.suites if suite.need.needed} == NIGHTLY
    assert [warning.kind for warning in plan.warnings] == ["changed_files_ignored"]


def test_an_event_that_is_told_counts_as_the_services(planner):
    """Changed files prune a pull request alone, whoever says what started the run."""
    file = planner.write("diff", diff("README.md"))
    plan = planner.plan("nightly", event="schedule", changed_files=file)
    assert {suite.name for suite in plan.suites if suite.need.needed} == NIGHTLY
    assert "changed_files_ignored" in [warning.kind for warning in plan.warnings]


def test_changed_files_count_for_a_person(planner):
    """Outside of CI there is no event, and whoever gives a diff means it."""
    plan = planner.plan("nightly", changed_files=planner.write("diff", diff(QWEN)))
    assert {suite.name for suite in plan.suites if suite.need.needed} == {H100}


def test_a_change_of_cpu_tests_alone_prepares_no_image(planner):
    """The outputs say that no GPU image is needed."""
    file = planner.write("diff", diff("tests/fast/test_metric_naming.py"))
    outputs = github_outputs(planner.plan(None, "nightly", event="pull_request", changed_files=file))
    assert (outputs["needs_image_cuda"], outputs["needs_image_rocm"], outputs["has_tests"]) == (
        "false",
        "false",
        "true",
    )
    assert set(json.loads(outputs["skipped_suites"])) == NIGHTLY - {CPU}


def test_reasons(planner):
    """Each suite says why it is needed or not."""
    file = planner.write("diff", diff(QWEN, "tests/e2e/long/test_gsm8k_long.py"))
    plan = planner.plan(None, "run-ci-amd", "nightly", event="pull_request", changed_files=file)
    reasons = {suite.name: suite.need.reason for suite in plan.suites}
    assert reasons[H100] == f"affected by {QWEN} and 1 more"
    assert reasons[ROCM] == "asked for by a label of its tests"
    assert reasons[CPU] == "no changed file affects it"

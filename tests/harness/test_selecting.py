"""Whether a test belongs to a run: cadence, labels, scope; each answer with its rule and a sentence."""

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.config.load import load_config
from driftgate.harness.label_requests import read_requests
from driftgate.harness.registrations import Registration
from driftgate.harness.scope import scope_of
from driftgate.harness.selecting import decide_selected

CONFIG = load_config(file=None, start=Path("/"), env={}, options={})
CPU = Registration("cpu", "stage-a-cpu", 1.0)
CPU_EVAL = Registration("cpu", "stage-a-cpu", 1.0, ("eval",))
HOPPER = Registration("cuda", "stage-c-8-gpu-h100", 1.0, ("megatron",), hardware=("hopper",))
BOTH = Registration("cuda", "stage-c-8-gpu-h100", 1.0, ("megatron", "long"), hardware=("hopper", "blackwell"))
BLACKWELL = Registration("cuda", "stage-c-8-gpu-b200", 1.0, ("fsdp",), hardware=("blackwell",))
LONG = Registration("cuda", "stage-c-8-gpu-h100", 1.0, ("long", "ft-long"), hardware=("hopper",))
BLACKWELL_LONG = Registration("cuda", "stage-c-8-gpu-b200", 1.0, ("long",), hardware=("blackwell",))
FT_SHORT = Registration("cuda", "stage-c-8-gpu-h100", 1.0, ("ft-short",), hardware=("hopper",))
ROCM = Registration("rocm", "stage-c-4-gpu-mi350", 1.0, ("amd",))
TESTS = {
    "cpu": CPU, "cpu_eval": CPU_EVAL, "hopper": HOPPER, "both": BOTH, "blackwell": BLACKWELL, "long": LONG,
    "blackwell_long": BLACKWELL_LONG, "ft_short": FT_SHORT, "rocm": ROCM,
}  # fmt: skip
EVERYTHING = set(TESTS)
ONLY_BLACKWELL = {"cpu", "blackwell", "blackwell_long"}


def changed(registration, **fields):
    kept = {name: getattr(registration, name) for name in registration.__slots__}
    return Registration(**kept | fields)


def decision(registration, cadence, *labels, config=CONFIG, match_all_labels=False):
    requests = read_requests(labels, config)
    scope = scope_of(config.cadences[cadence], requests, config, match_all_labels=match_all_labels)
    return decide_selected(registration, config.cadences[cadence], scope, requests, config)


def selected(cadence, *labels, **options):
    return {name for name, test in TESTS.items() if decision(test, cadence, *labels, **options).selected}


@pytest.mark.parametrize(
    ("cadence", "labels", "names"),
    [
        ("regular", (), {"cpu"}),
        ("regular", ("bug", "run-on-hopper"), {"cpu"}),
        ("regular", ("run-ci-megatron",), {"cpu", "hopper", "both"}),
        ("regular", ("run-ci-eval", "run-ci-amd"), {"cpu", "cpu_eval", "rocm"}),
        ("regular", ("run-ci-all",), EVERYTHING),
        ("regular", ("run-ci-image",), EVERYTHING - {"long", "blackwell_long", "ft_short"}),
        ("regular", ("run-ci-image", "run-ci-ft-short"), EVERYTHING - {"long", "blackwell_long"}),
        ("nightly", (), EVERYTHING - {"long", "blackwell_long"}),
        ("nightly", ("run-ci-long",), EVERYTHING),
        ("nightly", ("run-ci-ft-long",), EVERYTHING - {"blackwell_long"}),
        ("nightly", ("run-ci-all",), EVERYTHING),
        ("nightly", ("run-ci-blackwell-only",), EVERYTHING - {"long", "blackwell_long"}),
        ("weekly", (), EVERYTHING),
        ("release", (), EVERYTHING),
        ("regular", ("run-ci-blackwell-only",), ONLY_BLACKWELL),
        ("regular", ("run-ci-blackwell-only", "run-on-blackwell"), ONLY_BLACKWELL),
        ("regular", ("run-ci-blackwell-only", "run-ci-megatron"), ONLY_BLACKWELL | {"hopper", "both"}),
        ("regular", ("run-ci-blackwell-only", "run-ci-amd", "run-ci-eval"), ONLY_BLACKWELL | {"rocm", "cpu_eval"}),
        ("regular", ("run-ci-blackwell-only", "run-ci-all"), EVERYTHING),
    ],
)
def test_what_each_cadence_and_label_selects(cadence, labels, names):
    """A subtraction is no veto: one label in scope suffices, and a request beats it."""
    assert selected(cadence, *labels) == names


@pytest.mark.parametrize("labels", [(), ("run-ci-blackwell-only",), ("run-ci-image",)])
def test_match_all_labels_selects_everything_that_the_cadence_admits(labels):
    """It asks for the whole registry."""
    assert selected("regular", *labels, match_all_labels=True) == EVERYTHING


@pytest.mark.parametrize(
    ("cadence", "labels", "match_all", "expected"),
    [
        ("regular", (), False, False),
        ("regular", ("run-ci-megatron",), False, False),
        ("regular", ("run-ci-all",), False, False),
        ("regular", (), True, False),
        ("nightly", (), False, True),
        ("weekly", (), False, True),
        ("release", (), False, True),
    ],
)
def test_nightly_only_tests_run_in_the_cadences_that_admit_them(cadence, labels, match_all, expected):
    """No label brings one into a pull request; a CPU test without labels is no exception."""
    for test in (HOPPER, CPU):
        found = decision(changed(test, nightly=True), cadence, *labels, match_all_labels=match_all)
        assert found.selected is expected
        assert (found.rule == "nightly_only") is not expected


@pytest.mark.parametrize("cadence", list(CONFIG.cadences))
def test_a_disabled_test_never_runs(cadence):
    """No request brings it back; its reason is shown on one line."""
    found = decision(changed(HOPPER, disabled="flaky\n::error::x\x1b[1m"), cadence, "run-ci-megatron", "run-ci-all")
    assert (found.selected, found.rule) == (False, "disabled")
    assert found.reason == r"it is disabled: 'flaky\n::error::x\x1b[1m'"


@pytest.mark.parametrize(
    ("test", "cadence", "labels", "rule", "reason"),
    [
        (CPU, "regular", (), "unlabelled", "a CPU test without labels always runs"),
        (HOPPER, "regular", (), "no_request", "cadence regular runs a test like this only when asked; ask for it: run-ci-megatron"),
        (LONG, "regular", ("run-ci-megatron",), "no_request", "only when asked; ask for it: run-ci-long, run-ci-ft-long"),
        (HOPPER, "regular", ("run-ci-megatron",), "requested", "run-ci-megatron asks for its label megatron"),
        (BOTH, "nightly", ("run-ci-long",), "requested", "run-ci-long asks for its label long"),
        (BOTH, "nightly", (), "in_scope", "cadence nightly covers its label megatron"),
        (LONG, "nightly", (), "not_in_scope", "cadence nightly leaves out long, ft-long; ask for it: run-ci-long, run-ci-ft-long"),
        (FT_SHORT, "regular", ("run-ci-image",), "not_in_scope", "label run-ci-image leaves out ft-short; ask for it: run-ci-ft-short"),
        (BLACKWELL, "regular", ("run-ci-blackwell-only",), "in_scope", "label run-ci-blackwell-only covers its label fsdp"),
        (BOTH, "regular", ("run-ci-blackwell-only",), "other_generation", "label run-ci-blackwell-only covers tests for blackwell alone, this is for hopper, blackwell"),
        (ROCM, "regular", ("run-ci-blackwell-only",), "other_generation", "this is for rocm; ask for it: run-ci-amd"),
        (changed(CPU, nightly=True), "regular", (), "nightly_only", "it is registered with nightly=True; cadence regular runs no such test, these do: nightly, weekly, release"),
    ],
)  # fmt: skip
def test_each_answer_names_its_rule_and_says_it_in_a_sentence(test, cadence, labels, rule, reason):
    """What `plan --explain` shows, with the label that would change it."""
    found = decision(test, cadence, *labels)
    assert found.rule == rule
    assert reason in found.reason


@pytest.mark.parametrize(
    ("cadence", "labels", "expected", "rule"),
    [
        ("regular", (), False, "no_request"),
        ("nightly", (), True, "in_scope"),
        ("weekly", (), True, "in_scope"),
        ("regular", ("run-ci-blackwell-only",), False, "other_generation"),
    ],
)
def test_a_gpu_test_without_labels_runs_where_everything_runs(cadence, labels, expected, rule):
    """A root's default may register one: no label asks for it, and none leaves it out."""
    found = decision(Registration("cuda", "stage-c-8-gpu-h100", 1.0, implicit=True), cadence, *labels)
    assert (found.selected, found.rule) == (expected, rule)
    assert "ask for it" not in found.reason


def expected_by_the_rule(test, cadence, labels):
    """The specification's sentence, evaluated label by label over the whole registry."""
    in_scope = set()
    if "run-ci-all" in labels or cadence in ("weekly", "release"):
        in_scope = set(CONFIG.labels)
    elif cadence == "nightly":
        in_scope = set(CONFIG.labels) - {"long", "ft-long"}
    elif "run-ci-blackwell-only" in labels:
        in_scope = set(CONFIG.labels) if test.hardware == ("blackwell",) else set()
    elif "run-ci-image" in labels:
        in_scope = set(CONFIG.labels) - {"long", "ft-short", "ft-long"}
    in_scope |= {label for label in CONFIG.labels if f"run-ci-{label}" in labels}
    admitted = not test.nightly or cadence != "regular"
    return admitted and (not test.labels or not in_scope.isdisjoint(test.labels))


@given(
    st.sampled_from(list(CONFIG.cadences)),
    st.sets(st.sampled_from([*(f"run-ci-{label}" for label in CONFIG.labels), *CONFIG.requests.scopes, "bug"]), max_size=5),
    st.sets(st.sampled_from(list(CONFIG.labels)), min_size=1, max_size=4),
    st.booleans(),
)  # fmt: skip
def test_the_decision_is_that_of_the_rule(cadence, requested, labels, nightly):
    """For any cadence, requests and test: as the plain rule says."""
    for test in (CPU_EVAL, HOPPER, BOTH, BLACKWELL, ROCM):
        labelled = changed(test, labels=tuple(sorted(labels)), nightly=nightly)
        found = decision(labelled, cadence, *sorted(requested))
        assert found.selected is expected_by_the_rule(labelled, cadence, requested)


@given(st.sampled_from(list(CONFIG.cadences)), st.sets(st.sampled_from(list(CONFIG.labels)), max_size=4))
def test_a_request_for_a_label_never_deselects_a_test(cadence, labels):
    """More requests, never fewer tests."""
    requested = [f"run-ci-{label}" for label in sorted(labels)]
    for scope in ((), ("run-ci-blackwell-only",), ("run-ci-image",)):
        assert selected(cadence, *scope) <= selected(cadence, *scope, *requested)


def test_another_project_calls_everything_otherwise(tmp_path):
    """Rules name that project's labels, cadences and generations."""
    text = """
preset = "none"
generations = ["ampere", "turing"]
[labels]
smoke = "Quick"
slow = "Takes long"
[suites.small]
backend = "cuda"
generation = "turing"
gpus = 1
[cadences.merge]
[cadences.daily]
scope = {all_except = ["slow"]}
nightly_only = true
[requests]
prefix = "test:"
[requests.scopes."test:turing"]
scope = "all"
only_generation = "turing"
"""
    (tmp_path / "driftgate.toml").write_text(text)
    config = load_config(file=None, start=tmp_path, env={}, options={})
    turing = Registration("cuda", "small", 1.0, ("smoke",), hardware=("turing",))
    either = changed(turing, hardware=("ampere", "turing"))
    slow = changed(turing, labels=("slow",), nightly=True)
    cases = [
        (turing, "merge", (), "cadence merge runs a test like this only when asked; ask for it: test:smoke"),
        (turing, "merge", ("test:smoke",), "test:smoke asks for its label smoke"),
        (turing, "merge", ("test:turing",), "label test:turing covers its label smoke"),
        (either, "merge", ("test:turing",), "covers tests for turing alone, this is for ampere, turing"),
        (slow, "merge", ("test:slow",), "cadence merge runs no such test, these do: daily"),
        (slow, "daily", (), "cadence daily leaves out slow; ask for it: test:slow"),
    ]
    for test, cadence, labels, reason in cases:
        assert reason in decision(test, cadence, *labels, config=config).reason


def test_ten_thousand_labels_and_four_hundred_tests_are_decided():
    """Each with an answer; nothing depends on how many labels a pull request has."""
    labels = [f"run-ci-{number}" for number in range(10_000)]
    requests = read_requests([*labels, "run-ci-megatron"], CONFIG)
    scope = scope_of(CONFIG.cadences["regular"], requests, CONFIG, match_all_labels=False)
    decisions = [
        decide_selected(test, CONFIG.cadences["regular"], scope, requests, CONFIG)
        for _, test in product(range(45), TESTS.values())
    ]
    assert sum(found.selected for found in decisions) == 45 * 3

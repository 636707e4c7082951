"""Which labels a run covers: precedence of cadence, labels and --match-all-labels."""

from pathlib import Path

import pytest

from driftgate.config.load import load_config
from driftgate.harness.label_requests import read_requests
from driftgate.harness.scope import scope_of

CONFIG = load_config(file=None, start=Path("/"), env={}, options={})
ALL = frozenset()
NIGHTLY = frozenset({"long", "ft-long"})
IMAGE = frozenset({"long", "ft-short", "ft-long"})


def scope(cadence, *labels, config=CONFIG, match_all_labels=False):
    requests = read_requests(labels, config)
    return scope_of(config.cadences[cadence], requests, config, match_all_labels=match_all_labels)


@pytest.mark.parametrize(
    ("cadence", "labels", "all_but", "rule", "origin"),
    [
        # 1. run-ci-all, weekly, release
        ("regular", ("run-ci-all",), ALL, "scope_label", "label run-ci-all"),
        ("nightly", ("run-ci-all",), ALL, "scope_label", "label run-ci-all"),
        ("regular", ("run-ci-image", "run-ci-blackwell-only", "run-ci-all"), ALL, "scope_label", "label run-ci-all"),
        ("weekly", (), ALL, "cadence_scope", "cadence weekly"),
        ("weekly", ("run-ci-image",), ALL, "cadence_scope", "cadence weekly"),
        ("release", (), ALL, "cadence_scope", "cadence release"),
        ("release", ("run-ci-blackwell-only",), ALL, "cadence_scope", "cadence release"),
        # 2. nightly
        ("nightly", (), NIGHTLY, "cadence_scope", "cadence nightly"),
        ("nightly", ("run-ci-image",), NIGHTLY, "cadence_scope", "cadence nightly"),
        ("nightly", ("run-ci-blackwell-only",), NIGHTLY, "cadence_scope", "cadence nightly"),
        # 3. run-ci-blackwell-only
        ("regular", ("run-ci-blackwell-only",), ALL, "scope_label", "label run-ci-blackwell-only"),
        ("regular", ("run-ci-image", "run-ci-blackwell-only"), ALL, "scope_label", "label run-ci-blackwell-only"),
        # 4. run-ci-image
        ("regular", ("run-ci-image",), IMAGE, "scope_label", "label run-ci-image"),
        # 5. none
        ("regular", (), None, "requests_only", "cadence regular"),
        ("regular", ("run-ci-megatron", "run-on-hopper"), None, "requests_only", "cadence regular"),
    ],
)
def test_the_first_match_sets_the_scope(cadence, labels, all_but, rule, origin):
    """Whatever the order of the labels."""
    for given in (labels, labels[::-1]):
        found = scope(cadence, *given)
        assert (found.all_but, found.rule, found.origin) == (all_but, rule, origin)


def test_only_the_scope_that_counts_narrows_to_a_generation():
    """A label that another goes over does not narrow it."""
    assert scope("regular", "run-ci-blackwell-only").only_generation == "blackwell"
    assert scope("regular", "run-ci-blackwell-only", "run-ci-megatron").only_generation == "blackwell"
    assert scope("regular", "run-ci-blackwell-only", "run-ci-all").only_generation is None
    assert scope("nightly", "run-ci-blackwell-only").only_generation is None


@pytest.mark.parametrize("cadence", list(CONFIG.cadences))
@pytest.mark.parametrize("labels", [(), ("run-ci-blackwell-only",), ("run-ci-image", "run-ci-megatron")])
def test_match_all_labels_asks_for_the_whole_registry(cadence, labels):
    """No label and no cadence takes anything from it."""
    found = scope(cadence, *labels, match_all_labels=True)
    assert (found.all_but, found.only_generation, found.rule) == (ALL, None, "match_all_labels")


@pytest.mark.parametrize(
    ("cadence", "labels", "kinds"),
    [
        ("regular", (), ["nothing_requested"]),
        ("regular", ("run-on-hopper", "bypass-fastfail"), ["nothing_requested"]),
        ("regular", ("run-ci-megatron",), []),
        ("regular", ("run-ci-image",), []),
        ("regular", ("run-ci-image", "run-ci-all"), ["ignored_label"]),
        ("nightly", (), []),
        ("nightly", ("run-ci-blackwell-only",), ["ignored_label"]),
        ("nightly", ("run-ci-all",), []),
    ],
)
def test_what_a_person_would_not_expect_is_told(cadence, labels, kinds):
    """That nothing is asked for, and that a label is without effect."""
    assert [warning.kind for warning in scope(cadence, *labels).warnings] == kinds


def test_the_warnings_say_what_to_do():
    """Which label does not count and why; how to ask for tests."""
    (ignored,) = scope("nightly", "run-ci-blackwell-only").warnings
    assert ignored.text == "no effect of run-ci-blackwell-only: cadence nightly sets the scope"
    (nothing,) = scope("regular").warnings
    assert nothing.text == (
        "no label asks for a GPU test, so none is planned; to ask for some: "
        "label the pull request run-ci-LABEL, or give --label LABEL or --match-all-labels"
    )


def test_another_project_calls_everything_otherwise(tmp_path):
    """Precedence is that of the tables; without GPUs nothing is said about GPUs, without labels nothing at all."""
    text = """
preset = "none"
[cadences.merge]
[cadences.daily]
scope = {all_except = ["slow"]}
[requests]
prefix = "test:"
[requests.scopes."test:second"]
scope = {all_except = ["slow"]}
[requests.scopes."test:third"]
scope = "all"
[requests.scopes."test:nothing"]
scope = "none"
over_cadence = true
[labels]
slow = "Takes long"
"""
    (tmp_path / "driftgate.toml").write_text(text)
    config = load_config(file=None, start=tmp_path, env={}, options={})
    assert scope("daily", config=config).all_but == {"slow"}
    assert scope("merge", "test:third", "test:second", config=config).all_but == {"slow"}
    assert scope("daily", "test:nothing", "test:third", config=config).all_but is None
    (told,) = scope("merge", config=config).warnings
    assert told.text.startswith(
        "no label asks for a labelled test, so none is planned; to ask for some: label the pull"
    )
    assert "test:LABEL" in told.text
    (tmp_path / "driftgate.toml").write_text('preset = "none"\n[cadences.merge]')
    assert not scope("merge", config=load_config(file=None, start=tmp_path, env={}, options={})).warnings

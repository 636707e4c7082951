"""Cadence and the write rule: from what started a run to whether it may write the baseline."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from driftgate.config.load import load_config
from driftgate.harness.policy import decide
from driftgate.harness.trigger import Requests, Trigger, read_trigger
from gate.errors import ConfigError

CONFIG = load_config(file=None, start=Path("/"), env={}, options={})
PR_LABEL_WRITES = load_config(file=None, start=Path("/"), env={}, options={"write.pr_label_writes": True})
TO_SERVICE = replace(PR_LABEL_WRITES, store=replace(PR_LABEL_WRITES.store, url="https://driftgate.example"))
NIGHTLY, WEEKLY = "0 15 * * 0-5", "0 15 * * 6"
GITHUB_SCHEDULE = Trigger(in_ci=True, event="schedule", cron=NIGHTLY, branch="main", fork=False)
PULL_REQUEST = Trigger(in_ci=True, event="pull_request", fork=False)


def github(tmp_path, event, ref, payload):
    file = tmp_path / "event.json"
    file.write_text(json.dumps(payload))
    return {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": event, "GITHUB_REF": ref, "GITHUB_EVENT_PATH": str(file)}


def asked(trigger, **requests):
    fields = {field: getattr(trigger, field) for field in trigger.__slots__}
    return Trigger(**fields | {"requests": Requests(**requests)})


def outcome(trigger, config=CONFIG):
    policy = decide(trigger, config)
    assert policy.writes is not bool(policy.reason)
    return policy.cadence.name, policy.writes


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        ({}, ("regular", False)),
        ({"cadence": "nightly"}, ("nightly", True)),
        ({"cadence": "weekly"}, ("weekly", True)),
        ({"cadence": "regular"}, ("regular", False)),
        ({"cadence": "release"}, ("release", False)),
        ({"cadence": "nightly", "write": False}, ("nightly", False)),
        ({"cadence": "nightly", "write": True}, ("nightly", True)),
        ({"event": "schedule", "cron": NIGHTLY}, ("nightly", False)),
        ({"cron": "0  15 * *   6"}, ("weekly", False)),
        ({"event": "pull_request"}, ("regular", False)),
        ({"event": "", "cron": "", "cadence": ""}, ("regular", False)),
        ({"labels": ("nightly",)}, ("nightly", False)),
        ({"labels": ("nightly",), "cadence": "nightly"}, ("nightly", True)),
        ({"labels": ("run-ci-long",), "cadence": "nightly"}, ("nightly", True)),
    ],
)
def test_outside_ci_only_an_explicit_writing_cadence_writes(requests, expected):
    """On a person's machine nothing is written by accident."""
    assert outcome(Trigger(requests=Requests(**requests))) == expected


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        (GITHUB_SCHEDULE, ("nightly", True)),
        (asked(GITHUB_SCHEDULE, cron=WEEKLY), ("weekly", True)),
        (asked(GITHUB_SCHEDULE, event="schedule", cron=WEEKLY), ("weekly", True)),
        (asked(GITHUB_SCHEDULE, cadence="weekly"), ("weekly", True)),
        (asked(GITHUB_SCHEDULE, cadence="release"), ("release", False)),
        (asked(GITHUB_SCHEDULE, cadence="nightly", event="pull_request"), ("nightly", False)),
        (asked(GITHUB_SCHEDULE, write=False), ("nightly", False)),
        (Trigger(in_ci=True, event="schedule", cron=NIGHTLY, branch="dev"), ("nightly", False)),
        (Trigger(in_ci=True, event="schedule", cron=NIGHTLY, branch=None), ("nightly", False)),
        (Trigger(in_ci=True, event="schedule", cron=NIGHTLY, branch="main", fork=True), ("nightly", False)),
        (PULL_REQUEST, ("regular", False)),
        (asked(PULL_REQUEST, cadence="nightly"), ("nightly", False)),
        (asked(PULL_REQUEST, cadence="nightly", event="schedule"), ("nightly", False)),
        (asked(PULL_REQUEST, event="schedule", cron=NIGHTLY), ("nightly", False)),
        (asked(Trigger(in_ci=True, event="push", branch="main"), event="schedule", cron=NIGHTLY), ("nightly", False)),
        (Trigger(in_ci=True, event="workflow_dispatch", branch="main"), ("regular", False)),
        (asked(Trigger(in_ci=True, event="workflow_dispatch", branch="main"), cadence="nightly"), ("nightly", False)),
        (asked(Trigger(in_ci=True), cadence="nightly"), ("nightly", False)),
        (Trigger(in_ci=True, event="merge_request_event"), ("regular", False)),
    ],
)
def test_inside_ci_only_the_schedule_of_the_default_branch_writes(trigger, expected):
    """Options narrow what the CI's own facts allow, and never widen it."""
    assert outcome(trigger) == expected


@pytest.mark.parametrize(
    ("trigger", "config", "expected"),
    [
        (Trigger(in_ci=True, event="pull_request", labels=("nightly",)), CONFIG, ("nightly", False)),
        (Trigger(in_ci=True, event="pull_request", labels=("nightly",)), PR_LABEL_WRITES, ("nightly", True)),
        (Trigger(in_ci=True, event="pull_request", labels=("nightly",), fork=True), PR_LABEL_WRITES, ("nightly", False)),
        (Trigger(in_ci=True, event="pull_request", labels=("nightly",)), TO_SERVICE, ("nightly", False)),
        (GITHUB_SCHEDULE, TO_SERVICE, ("nightly", True)),
        (Trigger(in_ci=True, event="pull_request"), PR_LABEL_WRITES, ("regular", False)),
        (asked(Trigger(in_ci=True, event="pull_request", labels=("nightly",)), cadence="regular"), CONFIG, ("regular", False)),
        (asked(PULL_REQUEST, labels=("nightly",)), CONFIG, ("nightly", False)),
        (Trigger(labels=("nightly",)), PR_LABEL_WRITES, ("nightly", False)),
    ],
)  # fmt: skip
def test_a_pull_request_labelled_nightly_runs_in_shadow(trigger, config, expected):
    """It writes only where the configuration says so; an explicit cadence drops the event's labels."""
    assert outcome(trigger, config) == expected


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        (Trigger(requests=Requests(cadence="nightli")), "--cadence: unknown 'nightli' (did you mean 'nightly'?); valid: reg"),
        (Trigger(requests=Requests(cron="1 2 3 4 5")), "--schedule: no cadence has the cron '1 2 3 4 5'"),
        (Trigger(requests=Requests(event="schedule")), "a schedule needs its cron line, which GitHub tells and GitLab does not: give --schedule or --cadence"),
        (Trigger(requests=Requests(event="banana")), "--event: no cadence is entered by 'banana'"),
        (Trigger(in_ci=True, event="push", branch="main"), "--event: no cadence is entered by 'push'"),
        (asked(PULL_REQUEST, event="schedule"), "a schedule needs its cron line"),
        (asked(Trigger(in_ci=True, event="push", cron=NIGHTLY), event="schedule"), "a schedule needs its cron line"),
        (asked(GITHUB_SCHEDULE, event="pull_request", cron=NIGHTLY), "--schedule: contradicts --event pull_request"),
        (Trigger(requests=Requests(cadence="weekly", labels=("nightly",))), "label nightly: asks for the cadence nightly"),
        (asked(GITHUB_SCHEDULE, cron=WEEKLY, labels=("nightly",)), "but this is weekly; drop one"),
        (Trigger(in_ci=True, event="workflow_dispatch", requests=Requests(labels=("nightly",))), "but this is regular"),
        (Trigger(requests=Requests(write=True)), "--write: this run may not write the baseline: cadence regular never wr"),
        (Trigger(requests=Requests(cadence="release", write=True)), "cadence release never writes"),
        (Trigger(requests=Requests(cron=NIGHTLY, write=True)), "outside CI only an explicit --cadence writes (nightly, weekly)"),
        (asked(PULL_REQUEST, cadence="nightly", write=True), "the event pull_request is not one of [write] events (schedule)"),
        (asked(Trigger(in_ci=True), cadence="nightly", write=True), "the event is not known and is not one of"),
        (asked(Trigger(in_ci=True, event="schedule", branch="dev"), cadence="nightly", write=True), "the branch is dev, not main"),
        (asked(Trigger(in_ci=True, event="schedule", branch="main", fork=True), cadence="nightly", write=True), "from a fork"),
        (asked(Trigger(in_ci=True, event="pull_request", labels=("nightly",)), write=True), "runs in shadow ([write] pr_label_"),
    ],
)  # fmt: skip
def test_what_is_unknown_or_contradicts_is_an_error_never_a_default(trigger, words):
    """One line says which option, and for a write why not."""
    with pytest.raises(ConfigError) as caught:
        decide(trigger, CONFIG)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("cadence", "all_except", "kind", "nightly_only", "fast_fail", "writes"),
    [
        ("regular", (), "none", False, True, False),
        ("nightly", ("long", "ft-long"), "all", True, False, True),
        ("weekly", (), "all", True, False, True),
        ("release", (), "all", True, False, False),
    ],
)
def test_the_cadences_of_the_preset(cadence, all_except, kind, nightly_only, fast_fail, writes):
    """Every row of the table: scope, nightly-only tests, fast-fail, writing."""
    policy = decide(Trigger(requests=Requests(cadence=cadence)), CONFIG)
    row = policy.cadence
    assert (row.scope.all_except, row.scope.kind, row.nightly_only) == (all_except, kind, nightly_only)
    assert (policy.fast_fail, policy.writes) == (fast_fail, writes)


@pytest.mark.parametrize(
    ("trigger", "cadence"),
    [
        (PULL_REQUEST, "regular"),
        (Trigger(in_ci=True, event="merge_request_event"), "regular"),
        (Trigger(in_ci=True, event="workflow_dispatch"), "regular"),
        (Trigger(in_ci=True, event="web"), "regular"),
        (Trigger(), "regular"),
        (Trigger(in_ci=True, event="schedule", cron=NIGHTLY), "nightly"),
        (Trigger(in_ci=True, event="pull_request", labels=("nightly",)), "nightly"),
        (Trigger(in_ci=True, event="schedule", cron=WEEKLY), "weekly"),
        (asked(PULL_REQUEST, cadence="release"), "release"),
    ],
)
def test_what_enters_each_cadence(trigger, cadence):
    """Events, crons and labels of the table; release only by name."""
    assert decide(trigger, CONFIG).cadence.name == cadence


@pytest.mark.parametrize(
    ("trigger", "fast_fail"),
    [
        (PULL_REQUEST, True),
        (Trigger(in_ci=True, event="pull_request", labels=("bypass-fastfail",)), False),
        (asked(PULL_REQUEST, labels=("bypass-fastfail",)), False),
        (asked(Trigger(in_ci=True, event="pull_request", labels=("bypass-fastfail",)), cadence="regular"), True),
        (asked(PULL_REQUEST, labels=("bypass-fastfail",), cadence="regular"), False),
        (GITHUB_SCHEDULE, False),
    ],
)
def test_a_label_turns_fast_fail_off(trigger, fast_fail):
    """One that counts: an explicit cadence drops the event's."""
    assert decide(trigger, CONFIG).fast_fail is fast_fail


@pytest.mark.parametrize(
    ("requests", "labels"),
    [
        ({}, ("run-ci-lora", "bug")),
        ({"labels": ("fsdp", "run-ci-lora")}, ("run-ci-lora", "bug", "run-ci-fsdp")),
        ({"cadence": "regular"}, ()),
        ({"cadence": "regular", "labels": ("fsdp",)}, ("run-ci-fsdp",)),
    ],
)
def test_the_labels_that_count(requests, labels):
    """Those of the event, safe ones alone, and of --label, each once; an explicit cadence drops the event's."""
    event = Trigger(in_ci=True, event="pull_request", labels=("run-ci-lora", "bug", "x\n::error::", "good first issue"))
    assert decide(asked(event, **requests), CONFIG).labels == labels


def test_another_project_names_everything_otherwise(tmp_path):
    """Cadences, events, crons, labels and the branch are the configuration's own."""
    text = """
preset = "none"
[cadences.change]
events = ["merge_request_event", "web"]
[cadences.daily]
crons = ["5 4 * * *"]
events = ["schedule"]
pr_labels = ["as-daily"]
writes = true
fast_fail = false
[requests]
bypass_fast_fail = ["keep-going"]
[write]
branch = "trunk"
"""
    (tmp_path / "driftgate.toml").write_text(text)
    config = load_config(file=None, start=tmp_path, env={}, options={})
    schedule = {"CI_PIPELINE_SOURCE": "schedule", "CI_COMMIT_BRANCH": "trunk"}
    merge_request = {"CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_LABELS": "keep-going"}
    cases = [
        (schedule, {}, ("daily", True)),  # the only schedule there is: its cron line need not be told
        (schedule, {"cron": "5 4 * * *"}, ("daily", True)),
        (merge_request, {}, ("change", False)),
        (merge_request | {"CI_MERGE_REQUEST_LABELS": "as-daily"}, {}, ("daily", False)),
    ]
    for facts, requests, expected in cases:
        assert outcome(read_trigger({"GITLAB_CI": "true", **facts}, Requests(**requests)), config) == expected
    assert not decide(read_trigger({"GITLAB_CI": "true", **merge_request}, Requests()), config).fast_fail
    assert outcome(Trigger(), config) == ("change", False)
    with pytest.raises(ConfigError, match="no cadence is entered by 'pull_request'"):
        decide(PULL_REQUEST, config)


def test_where_nothing_is_entered_by_hand_a_cadence_must_be_given(tmp_path):
    """It says so, and how to change it."""
    config = load_config(file=None, start=tmp_path, env={}, options={"preset": "none"})
    with pytest.raises(ConfigError) as caught:
        decide(Trigger(), config)
    assert str(caught.value) == (
        "no cadence is entered by hand: give --cadence, or add workflow_dispatch to [cadences.NAME] events"
    )


def test_a_gitlab_schedule_must_be_named_by_the_pipeline():
    """GitLab does not tell the cron line: the error says what to give instead, and from where."""
    trigger = read_trigger(
        {"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "schedule", "CI_COMMIT_BRANCH": "main"}, Requests()
    )
    with pytest.raises(ConfigError) as caught:
        decide(trigger, CONFIG)
    assert str(caught.value) == (
        "a schedule needs its cron line, which GitHub tells and GitLab does not: "
        "give --schedule or --cadence, there from a variable of the pipeline schedule"
    )


@pytest.mark.parametrize("option", ["cadence", "event", "cron"])
def test_hostile_options_are_shown_escaped_on_one_line(option):
    """No line of an error begins with what somebody else wrote."""
    with pytest.raises(ConfigError) as caught:
        decide(Trigger(requests=Requests(**{option: "x\n::error::\x1b[31m" + "y" * 10_000})), CONFIG)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_a_configured_event_and_branch_may_write(tmp_path):
    """[write] events and branch are the project's own to say."""
    options = {"write.events": ["push"], "write.branch": "trunk"}
    config = load_config(file=None, start=tmp_path, env={}, options=options)
    trigger = Trigger(in_ci=True, event="push", branch="trunk", requests=Requests(cadence="nightly"))
    assert outcome(trigger, config) == ("nightly", True)


@pytest.mark.parametrize("mark", ["GITHUB_ACTIONS", "GITLAB_CI", "CI"])
def test_ci_is_detected_by_a_mark_that_is_true(mark):
    """Each of the three marks counts, and only with the value true."""
    assert read_trigger({mark: "true"}, Requests()).in_ci
    assert not read_trigger({mark: "1"}, Requests()).in_ci
    assert not read_trigger({mark: ""}, Requests()).in_ci


def test_a_scheduled_github_job_says_its_cron(tmp_path):
    """The event's file holds the cron line: no option is needed."""
    env = github(tmp_path, "schedule", "refs/heads/main", {"schedule": WEEKLY})
    assert outcome(read_trigger(env, Requests())) == ("weekly", True)


def test_a_github_pull_request_says_its_labels_and_whether_it_is_a_fork(tmp_path):
    """Labels and repositories come from the event's file."""
    repositories = {"head": {"repo": {"full_name": "me/fork"}}, "base": {"repo": {"full_name": "org/main"}}}
    pull = {"labels": [{"name": "nightly"}, {"name": "x"}, 3], **repositories}
    trigger = read_trigger(github(tmp_path, "pull_request", "refs/pull/7/merge", {"pull_request": pull}), Requests())
    assert (trigger.labels, trigger.branch, trigger.fork) == (("nightly", "x"), None, True)
    assert decide(trigger, CONFIG).fork is True


def test_a_tag_named_like_the_branch_is_not_the_branch(tmp_path):
    """Only a branch reference names a branch."""
    env = github(tmp_path, "schedule", "refs/tags/main", {"schedule": NIGHTLY})
    assert outcome(read_trigger(env, Requests())) == ("nightly", False)


@pytest.mark.parametrize("content", ["", "[]", "{", '{"pull_request": {"labels": 3}, "schedule": 7}'])
def test_a_damaged_event_file_states_no_facts(tmp_path, content):
    """Garbage is absence, not a crash."""
    env = github(tmp_path, "pull_request", "refs/pull/7/merge", {})
    (tmp_path / "event.json").write_text(content)
    trigger = read_trigger(env, Requests())
    assert (trigger.labels, trigger.cron) == ((), None)


@pytest.mark.parametrize(
    ("facts", "requests", "expected"),
    [
        ({"CI_PIPELINE_SOURCE": "schedule", "CI_COMMIT_BRANCH": "main"}, {"cron": NIGHTLY}, ("nightly", True)),
        ({"CI_PIPELINE_SOURCE": "schedule", "CI_COMMIT_BRANCH": "main"}, {"cadence": "weekly"}, ("weekly", True)),
        ({"CI_PIPELINE_SOURCE": "schedule", "CI_COMMIT_BRANCH": "dev"}, {"cadence": "weekly"}, ("weekly", False)),
        ({"CI_PIPELINE_SOURCE": "schedule", "CI_COMMIT_TAG": "main"}, {"cadence": "weekly"}, ("weekly", False)),
        ({"CI_PIPELINE_SOURCE": "web", "CI_COMMIT_BRANCH": "main"}, {}, ("regular", False)),
        ({"CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_LABELS": "x,nightly"}, {}, ("nightly", False)),
    ],
)
def test_gitlab_states_the_same_facts_in_its_own_variables(facts, requests, expected):
    """Pipeline source, branch and merge request labels."""
    assert outcome(read_trigger({"GITLAB_CI": "true", **facts}, Requests(**requests))) == expected

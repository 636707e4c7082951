"""What the labels of a pull request ask for, and what becomes of those that ask for nothing."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.config.label_names import is_safe_label
from driftgate.config.load import load_config
from driftgate.harness.label_requests import LabelRequests, asked_labels, read_requests
from driftgate.harness.policy import decide, requests_of
from driftgate.harness.safe_labels import safe_labels
from driftgate.harness.trigger import Requests, Trigger, read_trigger
from gate.errors import ConfigError

CONFIG = load_config(file=None, start=Path("/"), env={}, options={})
OTHER_NAMES = """
preset = "none"
generations = ["ampere", "turing"]
[labels]
smoke = "Quick"
[cadences.daily]
pr_labels = ["please/daily"]
[requests]
prefix = "test:"
generation_prefix = "on:"
bypass_fast_fail = ["keep-going"]
[requests.scopes."test:turing"]
scope = "all"
only_generation = "turing"
[requests.scopes."test:everything"]
scope = "all"
over_cadence = true
[requests.generations]
"on:ampere" = "ampere"
"on:turing" = "turing"
"on:old" = "turing"
"""


@pytest.fixture
def other(tmp_path):
    """A project that calls everything otherwise."""
    (tmp_path / "driftgate.toml").write_text(OTHER_NAMES)
    return load_config(file=None, start=tmp_path, env={}, options={})


def asked(*labels, config=CONFIG):
    requests = read_requests(labels, config)
    return set(requests.labels), [request.label for request in requests.scopes], requests.generations


def warned(*labels, config=CONFIG):
    return [(warning.kind, warning.text) for warning in read_requests(labels, config).warnings]


@pytest.mark.parametrize(
    ("labels", "tests", "scopes", "generations"),
    [
        ((), set(), [], ()),
        (("bug", "megatron", "documentation"), set(), [], ()),
        (("run-ci-megatron",), {"megatron"}, [], ()),
        (("run-ci-megatron", "run-ci-megatron", "run-ci-amd"), {"megatron", "amd"}, [], ()),
        (("run-ci-all",), set(), ["run-ci-all"], ()),
        (("run-ci-image", "run-ci-all"), set(), ["run-ci-all", "run-ci-image"], ()),
        (("run-ci-image", "run-ci-blackwell-only"), set(), ["run-ci-blackwell-only", "run-ci-image"], ()),
        (("run-on-hopper",), set(), [], ("hopper",)),
        (("run-on-blackwell", "run-on-hopper", "run-ci-long"), {"long"}, [], ("hopper", "blackwell")),
        (("run-ci-blackwell-only", "run-on-blackwell"), set(), ["run-ci-blackwell-only"], ("blackwell",)),
        (("nightly", "bypass-fastfail"), set(), [], ()),
    ],
)
def test_labels_ask_for_tests_scopes_and_generations(labels, tests, scopes, generations):
    """In order of precedence and preference, whatever the order of the labels; all else is left alone."""
    assert asked(*labels) == asked(*reversed(labels)) == (tests, scopes, generations)
    assert not warned(*labels)


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("run-ci-megatorn", "label run-ci-megatorn is unknown and asks for nothing; did you mean run-ci-megatron?"),
        ("run-ci-al", "label run-ci-al is unknown and asks for nothing; did you mean run-ci-all?"),
        ("Run-CI-Megatron", "label Run-CI-Megatron is unknown and asks for nothing; did you mean run-ci-megatron?"),
        ("run-on-hoper", "label run-on-hoper is unknown and asks for nothing; did you mean run-on-hopper?"),
        ("run-on-mars", "label run-on-mars is unknown and asks for nothing"),
        ("run-ci-zzzzzz", "label run-ci-zzzzzz is unknown and asks for nothing"),
        ("run-ci-", "label run-ci- is unknown and asks for nothing"),
        ("run-ci-hopper", "label run-ci-hopper is unknown and asks for nothing"),
    ],
)
def test_an_unknown_request_is_told_with_the_nearest_known_one(label, text):
    """What all requests begin with does not count as likeness."""
    assert warned(label) == [("unknown_label", text)]
    assert asked(label) == (set(), [], ())


@pytest.mark.parametrize(
    "label",
    [
        "run-ci-megatron\n::error::x",
        "x\x1b[31m",
        "\u202erun-ci-all",
        "run-ci-all\u200b",
        "run-ci-all ",
        "run-ci-größe",
        "$(reboot)",
        "`reboot`",
        "a;b",
        "a|b",
        "[x](y)",
        "<img>",
        "**x**",
        "${jndi:ldap://x}",
        "x" * 101,
        "run-ci-" + "x" * 94,
        "\x00",
        "\ud800",
    ],
)
def test_a_label_that_is_not_safe_asks_for_nothing_and_is_named_escaped(label):
    """No character of it reaches a log as itself, only printable ASCII."""
    ((kind, text),) = warned(label)
    assert kind == "unsafe_label"
    assert text.startswith("ignored '")
    assert text.isascii()
    assert text.isprintable()
    assert asked(label) == (set(), [], ())


@pytest.mark.parametrize("label", ["good first issue", "area: docs", "größe", "\N{BUG} bug", "(wip)", "100%", "", "#1"])
def test_plain_words_of_a_project_are_left_alone(label):
    """Not every label is about CI: no warning on every pull request."""
    assert not warned(label)
    assert asked(label) == (set(), [], ())


@given(st.lists(st.text(max_size=120)))
def test_only_safe_labels_pass(labels):
    """Letters, digits and a few signs, each label once, in order; everything told fits one line of ASCII."""
    found = safe_labels(labels, lambda _: True)
    assert list(found.labels) == [label for label in dict.fromkeys(labels) if is_safe_label(label)]
    assert all(set(label) <= set("._:/+-") | set(filter(str.isalnum, map(chr, range(128)))) for label in found.labels)
    assert all(warning.text.isascii() and warning.text.isprintable() for warning in found.warnings)
    assert bool(found.warnings) == any(not is_safe_label(label) for label in labels)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (("run-ci-blackwell-only", "run-on-hopper"), "run-ci-blackwell-only and run-on-hopper contradict each other: the one wants"),
        (("run-on-hopper", "run-on-blackwell", "run-ci-blackwell-only"), "wants blackwell alone, the other hopper; drop one"),
        (("run-ci-all", "run-ci-blackwell-only", "run-on-hopper"), "run-ci-blackwell-only and run-on-hopper"),
    ],
)  # fmt: skip
def test_requests_that_contradict_each_other_are_an_error(labels, words):
    """It names both labels and what each wants."""
    with pytest.raises(ConfigError, match=words):
        read_requests(labels, CONFIG)


def test_another_project_calls_everything_otherwise(other):
    """Prefixes, scopes and generations are the configuration's; the labels of the preset mean nothing there."""
    assert asked("test:smoke", "test:everything", "on:old", config=other) == (
        {"smoke"},
        ["test:everything"],
        ("turing",),
    )
    assert not warned("test:smoke", "please/daily", "keep-going", "run-ci-megatorn", config=other)
    assert warned("test:smoek", "on:amper", config=other) == [
        ("unknown_label", "label test:smoek is unknown and asks for nothing; did you mean test:smoke?"),
        ("unknown_label", "label on:amper is unknown and asks for nothing; did you mean on:ampere?"),
    ]
    with pytest.raises(ConfigError, match="test:turing and on:ampere contradict each other"):
        read_requests(("test:turing", "on:ampere"), other)
    assert asked("test:turing", "on:old", config=other)[2] == ("turing",)


def test_two_labels_that_each_want_one_generation_alone_contradict(tmp_path):
    """Nothing supports two generations and only one."""
    text = OTHER_NAMES + '[requests.scopes."test:ampere"]\nscope = "all"\nonly_generation = "ampere"'
    (tmp_path / "driftgate.toml").write_text(text)
    config = load_config(file=None, start=tmp_path, env={}, options={})
    with pytest.raises(ConfigError, match="the one wants turing alone, the other ampere; drop one"):
        read_requests(("test:ampere", "test:turing"), config)


@pytest.mark.parametrize(
    ("option", "label"),
    [
        ("megatron", "run-ci-megatron"),
        ("run-ci-megatron", "run-ci-megatron"),
        ("run-ci-all", "run-ci-all"),
        ("run-on-hopper", "run-on-hopper"),
        ("nightly", "nightly"),
        ("bypass-fastfail", "bypass-fastfail"),
        ("run-ci-megatorn", "run-ci-megatorn"),
    ],
)
def test_label_options(option, label):
    """A label of the registry is short for its request; what looks like a request is left to be told."""
    assert asked_labels([option], CONFIG) == [label]


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("megatorn", "--label: unknown 'megatorn' (did you mean 'megatron'?); give a label of [labels] (megatron, "),
        ("bypass-fast-fail", "(did you mean 'bypass-fastfail'?)"),
        ("megatron,fsdp", "--label: unknown 'megatron,fsdp'"),
        ("bug", "or one of [requests]"),
        ("", "--label: unknown ''"),
        ("a\n::error::b", r"--label: unknown 'a\n::error::b'"),
    ],
)
def test_a_label_option_that_means_nothing_is_an_error(option, words):
    """One line: a typing mistake must not plan an empty run that is green."""
    with pytest.raises(ConfigError) as caught:
        asked_labels(["megatron", option], CONFIG)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_label_options_add_to_those_of_the_event():
    """Both ask; an explicit cadence drops those of the event alone."""
    event = Trigger(in_ci=True, event="pull_request", labels=("run-ci-fsdp", "run-ci-\n", "run-ci-fdsp"))

    def requests(**options):
        trigger = Trigger(in_ci=True, event=event.event, labels=event.labels, requests=Requests(**options))
        found = requests_of(decide(trigger, CONFIG), CONFIG)
        return set(found.labels), [warning.kind for warning in found.warnings]

    assert requests(labels=("lora",)) == ({"fsdp", "lora"}, ["unsafe_label", "unknown_label"])
    assert requests(labels=("lora",), cadence="nightly") == ({"lora"}, [])


def test_ten_thousand_labels_are_told_in_a_few_lines():
    """Neither many unknown nor many hostile ones fill a log, and the few real ones still count."""
    unknown = [f"run-ci-{number}" for number in range(10_000)]
    hostile = [f"run-ci-\n{number}" for number in range(10_000)]
    texts = [text for _, text in warned(*unknown, *hostile, "run-ci-megatron")]
    assert asked(*unknown, *hostile, "run-ci-megatron")[0] == {"megatron"}
    assert "and 9995 more: a label has letters" in texts[0]
    assert texts[-1] == "9995 more unknown labels ask for nothing"
    assert len(texts) == 7
    assert all(len(text) < 500 for text in texts)


def event_file(tmp_path, content):
    (tmp_path / "event.json").write_text(content)
    path = str(tmp_path / "event.json")
    return {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "pull_request", "GITHUB_EVENT_PATH": path}


def requests_from(environment, **options):
    return requests_of(decide(read_trigger(environment, Requests(**options)), CONFIG), CONFIG)


def test_labels_of_a_github_event(tmp_path):
    """Entries that are no text are left out."""
    rows = [{"name": "run-ci-lora"}, {"name": 3}, {"name": None}, {}, "run-ci-fsdp", 7, None, {"name": ["run-ci-amd"]}]
    content = json.dumps({"pull_request": {"labels": rows}})
    assert requests_from(event_file(tmp_path, content)) == LabelRequests(labels=frozenset({"lora"}))


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "{}", '{"pull_request": 3}', '{"pull_request": {"labels": "run-ci-all"}}', "[" * 100_000, "\x00"],
)
def test_labels_that_cannot_be_read_are_an_error_for_a_plan(tmp_path, content):
    """Without them tests that were asked for would silently not run; the cadence itself is not in doubt."""
    environment = event_file(tmp_path, content)
    assert decide(read_trigger(environment, Requests()), CONFIG).cadence.name == "regular"
    with pytest.raises(ConfigError, match=r"GITHUB_EVENT_PATH: .* is no file with a JSON list pull_request.labels; "):
        requests_from(environment)
    assert requests_from(environment, cadence="regular", labels=("lora",)).labels == {"lora"}


def test_an_event_file_that_is_not_there_is_told(tmp_path):
    """A container that was given the variables alone has no such file."""
    environment = event_file(tmp_path, "{}") | {"GITHUB_EVENT_PATH": str(tmp_path / "gone")}
    with pytest.raises(ConfigError, match="the pull request's labels are not known: give --cadence and --label"):
        requests_from(environment)


@pytest.mark.parametrize("event", ["schedule", "workflow_dispatch"])
def test_an_event_without_a_pull_request_has_no_labels_to_miss(tmp_path, event):
    """Only a pull request has labels."""
    environment = event_file(tmp_path, "{}") | {"GITHUB_EVENT_NAME": event}
    assert not read_trigger(environment, Requests()).unread_labels


def test_labels_of_a_gitlab_merge_request():
    """They stand in one variable, separated by commas."""
    environment = {"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": "merge_request_event"}
    labels = {"CI_MERGE_REQUEST_LABELS": "run-ci-lora, run-on-hopper,bug,"}
    assert requests_from(environment | labels) == LabelRequests(frozenset({"lora"}), generations=("hopper",))

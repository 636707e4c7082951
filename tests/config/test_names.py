"""Names that a project chooses for its rows: they reach logs, reports and the outputs of workflows."""

import pytest

from driftgate.config.load import load_config
from gate.errors import ConfigError

ROWS = {
    "labels": '"{name}" = "what it covers"',
    "suites": '"{name}".backend = "cpu"',
    "cadences": '"{name}".writes = true',
    "requests.scopes": '"{name}".scope = "all"',
    "requests.generations": '"{name}" = "hopper"',
    "retry.rules": '"{name}" = {{timeouts = true, retry = true}}',
    "gate.defaults": '"{name}" = {{steps = "all", constraint = {{rel_up = 1, rel_down = 1}}}}',
}


def refusal(folder, text):
    (folder / "driftgate.toml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(file=None, start=folder, env={}, options={})
    return str(caught.value)


@pytest.mark.parametrize("table", ROWS)
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("", "found '', expected a non-empty string"),
        (" ", "found ' ', expected a non-empty string"),
        (r"a\n::error::b", r"found 'a\n::error::b', expected a string without control characters"),
        (r"\u001b[31m", r"found '\x1b[31m', expected a string without control characters"),
    ],
)
def test_no_row_is_named_by_nothing_or_by_control_characters(tmp_path, table, name, words):
    """One line, which such a name cannot break."""
    message = refusal(tmp_path, f"[{table}]\n{ROWS[table].format(name=name)}\n")
    assert message == f"{tmp_path}/driftgate.toml: {table}: name: {words}"


def test_an_unknown_key_cannot_break_the_line(tmp_path):
    """It is shown with escapes."""
    message = refusal(tmp_path, '[gate]\n"a\\n::error::b" = 1\n')
    assert message.startswith(rf'{tmp_path}/driftgate.toml: gate."a\n::error::b": unknown key')
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ('[labels]\n"a b" = "A"', "run-ci-a b"),
        ('[labels]\n"größer" = "A"', "run-ci-größer"),
        ('preset = "none"\n[labels]\na = "A"\n[requests]\nprefix = "run ci "', "run ci a"),
    ],
)
def test_a_label_that_nobody_could_ask_for_is_refused(tmp_path, text, label):
    """Its tests would silently never run: a pull request's labels are filtered before any use."""
    assert refusal(tmp_path, text).startswith(f"requests: {label!r} would be ignored: a label has letters, digits and")


def test_a_label_with_its_prefix_is_not_too_long(tmp_path):
    """The limit is on what stands at the pull request."""
    label = "a" * 94
    assert "would be ignored" in refusal(tmp_path, f'[labels]\n{label} = "A"')
    (tmp_path / "driftgate.toml").write_text(f'[labels]\n{label[1:]} = "A"')
    assert label[1:] in load_config(file=None, start=tmp_path, env={}, options={}).labels

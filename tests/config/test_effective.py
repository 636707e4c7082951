"""The effective configuration, written out: complete, with sources, and read again the same."""

import tomllib
from dataclasses import replace

import pytest

from driftgate.config.effective import settings_of, toml_lines
from driftgate.config.load import load_config

OWN = r"""
project = "odd \" name"
preset = "none"
command = ["{python}", "{file}"]
generations = ["new"]
[capture]
metrics = ["a/b", "é"]
[gate.defaults."a\"b.c"]
steps = [0, 5]
constraint = { rel_up = 1, abs_floor_up = 1e-9, rel_down = 0.5 }
[discovery]
roots = ["tests", { path = "fast", forbid = ["rocm"], default = { backend = "cpu", suite = "s", est_time = 2 } }]
[labels]
"a.b" = "'\\ text #"
[suites.s]
backend = "cpu"
retry = true
[cadences.always]
scope = "none"
[requests.scopes."x.y"]
scope = { all_except = ["a.b"] }
[retry.rules.r]
patterns = ['\d+ "x"']
retry = true
"""


@pytest.fixture
def load(tmp_path):
    def load(text, env=None):
        (tmp_path / "driftgate.toml").write_text(text)
        return load_config(file=None, start=tmp_path, env=env or {}, options={})

    return load


@pytest.mark.parametrize("text", ["", OWN, 'preset = "none"', 'project = "p"\n[suites.extra]\nbackend = "rocm"'])
def test_what_is_written_reads_back_as_the_same_configuration(load, text):
    """Nothing is lost and nothing added, whatever quotes and dots names hold."""
    config = load(text)
    written = "\n".join(toml_lines(settings_of(config)))
    assert replace(load(written), sources={}) == replace(config, sources={})


def test_every_value_names_its_source(load, tmp_path):
    """The file, an environment variable, the preset, or the built-in default."""
    config = load("[gate]\nhistory = 7", {"DRIFTGATE_PROJECT": "p"})
    found = {setting.key: (setting.value, setting.source) for setting in settings_of(config)}
    assert found["gate.history"] == (7, str(tmp_path / "driftgate.toml"))
    assert found["project"] == ("p", "environment DRIFTGATE_PROJECT")
    assert found["suites.stage-c-8-gpu-h100.gpus"] == (8, "preset miles")
    assert found["suites.stage-a-cpu.gpus"] == (0, "default")


def test_labels_of_a_python_file_name_it(load, tmp_path):
    """The key that names the file is written as it was, and each of its labels comes from there."""
    (tmp_path / "labels.py").write_text('KNOWN: dict[str, str] = {"mine": "Ours"}')
    config = load('[discovery]\nlabel_registry = "labels.py:KNOWN"\n[labels]\nlong = "Ours as well"')
    found = {setting.key: (setting.value, setting.source) for setting in settings_of(config)}
    assert found["discovery.label_registry"] == ("labels.py:KNOWN", str(tmp_path / "driftgate.toml"))
    assert found["labels.mine"] == ("Ours", str(tmp_path / "labels.py"))
    assert found["labels.long"] == ("Ours as well", str(tmp_path / "driftgate.toml"))
    assert found["labels.megatron"][1] == "preset miles"
    assert replace(load("\n".join(toml_lines(settings_of(config)))), sources={}) == replace(config, sources={})


def test_no_source_is_forgotten(load):
    """Whatever has a source is listed: the key itself, or the keys of its row."""
    config = load(OWN)
    settings = settings_of(config)
    assert [key for key in config.sources if not any(setting.is_below(key) for setting in settings)] == []


def test_a_source_never_ends_the_comment(load):
    """A file's path may hold a line break; what is written stays one line for each value."""
    config = load("")
    hostile = replace(config, sources=dict.fromkeys(config.sources, "a\nproject = 'x'\u2028"))
    lines = [line for line in toml_lines(settings_of(hostile)) if line]
    assert "\n" not in "".join(lines)
    assert tomllib.loads("\n".join(lines))["project"] == "default"


def test_which_settings_stand_below_a_key(load):
    """The key itself and what is in the table; a beginning of a name is no table."""
    settings = settings_of(load(""))
    assert {s.path[0] for s in settings if s.is_below("store")} == {"store"}
    assert [s.key for s in settings if s.is_below("store.url")] == ["store.url"]
    assert not [s for s in settings if s.is_below("stor")]

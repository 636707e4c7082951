"""Names of suites: what the lint remarks, and that it never refuses."""

import pytest

from driftgate.config.load import load_config
from driftgate.harness.discovery import read_tree
from driftgate.harness.suite_names import suite_name_notices

TABLE = [
    ("stage-a-cpu", "cpu", 0, None),
    ("stage-tools2-cpu", "cpu", 0, None),
    ("stage-c-8-gpu-h100", "cuda", 8, None),
    ("stage-c-16-gpu-mi350", "rocm", 16, None),
    ("unit", "cpu", 0, "suite 'unit' runs on CPUs; such a suite is named stage-<tier>-cpu"),
    ("stage-a-8-gpu-h100", "cpu", 0, "suite 'stage-a-8-gpu-h100' runs on CPUs"),
    ("stage-a-cpu", "cuda", 8, "suite 'stage-a-cpu' runs on GPUs; such a suite is named stage-<tier>-<gpus>-gpu-<hardware>"),
    ("stage-a-gpu-h100", "cuda", 8, "runs on GPUs"),
    ("Stage-a-8-gpu-h100", "cuda", 8, "runs on GPUs"),
    ("stage-a-08-gpu-h100", "cuda", 8, "runs on GPUs"),
    ("stage-a-8-gpu-h100", "cuda", 4, "suite 'stage-a-8-gpu-h100' has 4 GPUs, but its name says 8"),
]  # fmt: skip


@pytest.fixture
def config(tmp_path):
    def make(name, backend, gpus, preset="miles"):
        text = f'preset = "{preset}"\ngenerations = ["hopper", "blackwell"]\n[discovery]\nroots = ["."]\n[suites."{name}"]\n'
        generation = "" if backend == "cpu" else 'generation = "hopper"\n'
        (tmp_path / "driftgate.toml").write_text(f'{text}backend = "{backend}"\ngpus = {gpus}\n{generation}')
        return load_config(file=None, start=tmp_path, env={}, options={})

    return make


@pytest.mark.parametrize(("name", "backend", "gpus", "words"), TABLE)
def test_a_name_that_says_something_else_is_remarked(config, name, backend, gpus, words):
    """Tier, number of GPUs and hardware, in this order; nothing else is asked of the parts."""
    notices = suite_name_notices(config(name, backend, gpus))
    assert [notice.kind for notice in notices] == ["suite_name"] * (words is not None)
    assert all(words in notice.text for notice in notices)


def test_the_presets_suites_are_named_as_they_should_be(tmp_path):
    """Who starts from the preset sees no remark."""
    assert suite_name_notices(load_config(file=None, start=tmp_path, env={}, options={})) == ()


def test_a_project_that_starts_from_empty_tables_names_its_suites_itself(config):
    """The scheme is the preset's."""
    assert suite_name_notices(config("unit", "cpu", 0, preset="none")) == ()


def test_the_tree_tells_it_and_fails_for_nothing(config):
    """A warning of the plan."""
    tree = read_tree(config("unit", "cpu", 0))
    assert [notice.kind for notice in tree.notices] == ["suite_name", "empty_root"]
    assert tree.problems == ()

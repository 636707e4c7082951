"""Discovery: which files are tests, whatever folders, links and names lie around, and every mistake at once."""

import gc
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from driftgate.config.load import load_config
from driftgate.harness.discovery import read_tree
from gate.errors import ConfigError

CPU = 'register_cpu_ci(60, "stage-a-cpu")\n'


@pytest.fixture
def repository(tmp_path):
    """A folder that is a repository; ``put`` writes files into it, ``config`` reads its configuration."""
    return Repository(tmp_path / "repo")


class Repository:
    def __init__(self, folder):
        self.folder = folder
        (folder / ".git").mkdir(parents=True)

    def put(self, *names, content=CPU):
        for name in names:
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        return self

    def config(self, roots='["tests"]', start=None, more=""):
        text = f"[discovery]\nroots = {textwrap.dedent(roots)}\n{more}"
        (self.folder / "driftgate.toml").write_text(text)
        return load_config(file=None, start=start or self.folder, env={}, options={})

    def found(self, *args, **options):
        config = self.config(*args, **options)
        return [file.test_path for file in read_tree(config).files]


def test_files_that_match_are_found_in_any_depth_sorted_by_their_path(repository):
    """The order is that of the whole path, not of the folders' listing."""
    repository.put("tests/test_b.py", "tests/a/b/test_z.py", "tests/test_a.py", "tests/a.py", "tests/a-b/test_a.py")
    repository.put("tests/test_c.txt", "tests/my_test_d.py", "other/test_e.py")
    assert repository.found() == [
        "tests/a-b/test_a.py",
        "tests/a/b/test_z.py",
        "tests/test_a.py",
        "tests/test_b.py",
    ]


def test_roots_are_relative_to_the_repository_root_whatever_the_working_folder(repository, monkeypatch):
    """From a folder below, with a configuration of its own: still the repository's roots."""
    repository.put("tests/e2e/test_a.py")
    monkeypatch.chdir(repository.folder / "tests/e2e")
    assert repository.found(start=Path.cwd()) == ["tests/e2e/test_a.py"]
    (file,) = read_tree(repository.config(start=Path.cwd())).files
    assert file.test_path == "tests/e2e/test_a.py"


def test_a_file_below_two_roots_comes_once_and_belongs_to_the_inner_one(repository):
    """Its pattern, its default registration and what it forbids are those of the innermost root."""
    repository.put("tests/test_a.py", "tests/in/test_b.py", "tests/in/deep/check_c.py", "tests/in/deep/test_d.py")
    repository.put("tests/in/check_e.py", content="")
    inner = (
        '{path = "tests/in", pattern = "check_*.py", default = {backend = "cpu", suite = "stage-a-cpu", est_time = 2}}'
    )
    for roots in (f'["tests", {inner}]', f'[{inner}, "tests"]'):
        tree = read_tree(repository.config(roots))
        assert [file.test_path for file in tree.files] == [
            "tests/in/check_e.py",
            "tests/in/deep/check_c.py",
            "tests/test_a.py",
        ]
        assert [file.registrations[0].est_time_s for file in tree.files] == [2.0, 60.0, 60.0]
        assert tree.problems == ()


def test_the_whole_repository_may_be_the_root(repository):
    """A root of "." holds everything, and an inner root is still left to itself."""
    repository.put("test_a.py", "deep/test_b.py", "own/test_c.py")
    assert repository.found('[".", "./own/"]') == ["deep/test_b.py", "own/test_c.py", "test_a.py"]


@pytest.mark.parametrize("folder", [".hidden", ".venv/lib", "__pycache__", "node_modules/x", "env/lib"])
def test_folders_of_tools_are_not_searched(repository, folder):
    """Hidden ones, caches, and virtual environments by whatever name; nothing in them is a test of this repository."""
    repository.put("tests/env/pyvenv.cfg", "tests/test_a.py", f"tests/{folder}/test_b.py")
    assert repository.found() == ["tests/test_a.py"]
    assert repository.found(f'["tests", "tests/{folder}"]')[0] == f"tests/{folder}/test_b.py"


def test_hidden_files_are_no_tests_whatever_the_pattern(repository):
    """Editors leave locks and copies beside the file that is edited."""
    repository.put("tests/.test_a.py", "tests/test_a.py")
    (repository.folder / "tests/.#test_a.py").symlink_to("nobody@nowhere")
    assert repository.found('[{path = "tests", pattern = "*.py"}]') == ["tests/test_a.py"]


def test_a_link_to_a_folder_is_not_searched_and_said(repository):
    """One file has one name; a circle of links ends."""
    repository.put("tests/real/test_a.py", "elsewhere/test_b.py")
    (repository.folder / "tests/linked").symlink_to("../elsewhere")
    (repository.folder / "tests/circle").symlink_to(".")
    tree = read_tree(repository.config())
    assert [file.test_path for file in tree.files] == ["tests/real/test_a.py"]
    assert [notice.kind for notice in tree.notices] == ["linked_folder"] * 2
    assert tree.notices[1].text == (
        "tests/linked is a link to a folder and not searched; make it a root if its tests are to run"
    )


def test_a_root_may_be_a_link(repository):
    """It was named on purpose; its files have its name."""
    repository.put("real/test_a.py")
    (repository.folder / "tests").symlink_to("real")
    assert repository.found() == ["tests/test_a.py"]


def test_a_linked_file_is_a_test_of_its_own_name(repository):
    """A link is read as what it leads to; one that leads nowhere is an error: its test would never run."""
    repository.put("shared/suite.py")
    tests = repository.put("tests/test_z.py").folder / "tests"
    (tests / "test_a.py").symlink_to("../shared/suite.py")
    (tests / "test_b.py").symlink_to("gone.py")
    (tests / "test_c.py").symlink_to("test_c.py")
    (tests / "test_d.py").symlink_to("/dev/zero")
    os.mkfifo(tests / "test_e.py")
    tree = read_tree(repository.config())
    assert [file.test_path for file in tree.files if file.registrations] == ["tests/test_a.py", "tests/test_z.py"]
    assert [str(problem) for problem in tree.problems] == [
        "tests/test_b.py: cannot be read (No such file or directory); check the path",
        "tests/test_c.py: cannot be read (Too many levels of symbolic links); check the path",
        "tests/test_d.py: is a socket or device; name a Python file",
        "tests/test_e.py: is a FIFO; name a Python file",
    ]


def test_a_folder_with_a_tests_name_is_a_folder(repository):
    """Only files are tests."""
    repository.put("tests/test_a.py/test_b.py")
    assert repository.found() == ["tests/test_a.py/test_b.py"]


@pytest.mark.parametrize(
    "name",
    ["tests/test_with space.py", "tests/test_é_試.py", "tests/-rf/test_a.py", "tests/test_'$(x)`.py", "tests/a*[b]/test_a.py"],
)  # fmt: skip
def test_unusual_names_are_names(repository, name):
    """Spaces, other alphabets, leading dashes, what a shell or a glob would take for more."""
    repository.put(name)
    (file,) = read_tree(repository.config()).files
    assert (file.test_path, file.problems, file.path) == (name, (), repository.folder / name)


@pytest.mark.parametrize("name", [b"test_\n::error::x.py", b"test_\x1b[31m.py", b"test_\xff.py"])
def test_names_that_no_report_can_show_are_errors_on_one_line(repository, name):
    """Control characters and bytes of no encoding: the file is named escaped, and what to do."""
    repository.put("tests/test_z.py")
    Path(os.fsdecode(os.fsencode(repository.folder / "tests") + b"/" + name)).write_text(CPU)
    (problem,) = read_tree(repository.config()).problems
    assert os.fsencode(problem.file) == b"tests/" + name
    assert str(problem).isprintable()
    assert str(problem).endswith(".py: its path holds control characters or is not UTF-8; rename it")


def test_a_file_without_a_registration_would_silently_never_run(repository):
    """An error that says how to register; mistakes in its declarations do not hide it."""
    repository.put("tests/test_a.py", content="")
    repository.put("tests/test_b.py", content='register_ci_gate(metric_key="new")')
    repository.put("tests/test_c.py", content='register_cpu_ci(0, "stage-a-cpu")')
    repository.put("tests/test_d.py", content="def f(:")
    problems = read_tree(repository.config()).problems
    assert [(problem.file[-4], problem.call) for problem in problems] == [
        ("a", ""), ("b", ""), ("b", "register_ci_gate"), ("c", "register_cpu_ci"), ("d", ""),
    ]  # fmt: skip
    assert str(problems[0]) == (
        "tests/test_a.py: no registration; write register_cpu_ci(...), register_cuda_ci(...) or "
        "register_rocm_ci(...) at its top level, else it would silently never run"
    )


def test_the_presets_fast_root_registers_its_files_and_forbids_gpus(repository):
    """A file that declares nothing runs on CPU; one that asks for a GPU is an error."""
    for root in ("tests/fast-gpu", "tests/e2e", "tests/ci"):
        (repository.folder / root).mkdir(parents=True)
    repository.put("tests/fast/test_a.py", content="")
    repository.put("tests/fast/test_b.py", content='register_rocm_ci(1, "stage-c-4-gpu-mi350", labels=["amd"])')
    tree = read_tree(load_config(file=None, start=repository.folder, env={}, options={}))
    assert [(found.suite, found.implicit) for found in tree.files[0].registrations] == [("stage-a-cpu", True)]
    (problem,) = tree.problems
    assert "rocm tests are forbidden in this folder" in problem.text


def test_all_mistakes_of_all_files_come_at_once_sorted(repository):
    """By file, then by line, registrations and declarations alike."""
    bad = 'register_ci_gate(metric_key=1)\nregister_cpu_ci(0, "stage-a-cpo")\n'
    for name in ("tests/z/test_a.py", "tests/test_b.py", "tests/a/test_c.py"):
        repository.put(name, content=bad)
    problems = read_tree(repository.config()).problems
    assert [(problem.file, problem.line) for problem in problems] == [
        (name, line) for name in ("tests/a/test_c.py", "tests/test_b.py", "tests/z/test_a.py") for line in (1, 2, 2)
    ]


def test_a_missing_root_is_an_error_that_names_the_key_and_its_source(repository):
    """All missing ones in one line, for a configured root as for the preset's in a repository that has none of them."""
    with pytest.raises(ConfigError) as caught:
        read_tree(load_config(file=None, start=repository.folder, env={}, options={}))
    assert str(caught.value) == (
        "discovery.roots (preset miles): no folder 'tests/fast', 'tests/fast-gpu', 'tests/e2e', 'tests/ci' in "
        f'{repository.folder}; list the folders that hold your tests in driftgate.toml, as in [discovery] roots = ["tests"]'
    )
    repository.put("tests/test_a.py", "tests/file")
    with pytest.raises(ConfigError, match=r"driftgate\.toml\): no folder 'gone', 'tests/file' in "):
        repository.found('["tests", "gone", "tests/file"]')
    with pytest.raises(ConfigError, match="no folder 'xxx"):
        repository.found(f'["{"x" * 300}"]')


@pytest.mark.parametrize(
    ("roots", "words"),
    [
        ("[]", "names no folder; list the folders"),
        ('["/etc"]', "'/etc' may lie outside of the repository; write a path relative to its root"),
        ('["../tests"]', "'../tests' may lie outside"),
        ('["tests", "./tests/"]', "'tests' is listed twice; keep one"),
        ('[{path = "tests", pattern = "**/test_*.py"}]', "pattern '**/test_*.py' holds a slash; it is compared with names"),
    ],
)  # fmt: skip
def test_roots_that_cannot_be_searched_are_errors(repository, roots, words):
    """Each names the key and what to write."""
    repository.put("tests/test_a.py")
    with pytest.raises(ConfigError) as caught:
        repository.found(roots)
    assert str(caught.value).startswith("discovery.roots")
    assert words in str(caught.value)


def test_a_root_without_tests_is_said(repository):
    """The run is not lost for it, but somebody may have renamed all of its files."""
    repository.put("tests/test_a.py", "more/check_a.py")
    tree = read_tree(repository.config('["tests", "more"]'))
    (notice,) = tree.notices
    assert (notice.kind, tree.problems) == ("empty_root", ())
    assert notice.text == "no file in more matches 'test_*.py'; correct [discovery] roots, or leave it out"


def test_a_folder_that_cannot_be_listed_is_an_error(repository, monkeypatch):
    """Its tests would silently never run; those beside it are read."""
    repository.put("tests/shut/test_a.py", "tests/test_b.py")
    scandir = os.scandir

    def refusing(path):
        if Path(path).name == "shut":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    tree = read_tree(repository.config())
    assert [file.test_path for file in tree.files] == ["tests/test_b.py"]
    assert [str(problem) for problem in tree.problems] == [
        "tests/shut: cannot be listed (Permission denied); check the folder"
    ]


def test_reading_leaves_the_garbage_collector_as_it_was(repository):
    """It rests while files are read, and only then."""
    repository.put("tests/test_a.py")
    config = repository.config()
    read_tree(config)
    assert gc.isenabled()
    gc.disable()
    try:
        read_tree(config)
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_tree_is_read_without_site_packages(repository):
    """A bare runner has the interpreter and the checkout, and a working folder of its own."""
    repository.put("tests/test_a.py")
    repository.config()
    code = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})
from pathlib import Path
from driftgate.config.load import load_config
from driftgate.harness.discovery import read_tree
config = load_config(file=None, start=Path({str(repository.folder)!r}), env={{}}, options={{}})
print([file.test_path for file in read_tree(config).files])
"""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False, cwd="/"
    )
    assert (done.stdout, done.stderr) == ("['tests/test_a.py']\n", "")

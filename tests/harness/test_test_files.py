"""Test files: their path in the series, what they declare, and files that cannot be read."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.config.load import load_config
from driftgate.harness.test_files import declared_in, read_test_file, root_of, series_path

CONFIG = load_config(file=None, start=Path("/"), env={}, options={})
GATE = 'register_ci_gate(metric_key="train/ppo_kl")\n'
CPU = 'register_cpu_ci(60, "stage-a-cpu")\n'


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def read(path, root):
    return read_test_file(path, root, CONFIG)


def test_a_file_gives_its_registrations_and_gate_specs(tmp_path, write):
    """One reading, both kinds of declaration."""
    file = read(write("tests/e2e/test_a.py", CPU + GATE), tmp_path)
    assert file.test_path == "tests/e2e/test_a.py"
    assert [(found.suite, found.line) for found in file.registrations] == [("stage-a-cpu", 1)]
    assert [(spec.metric_key, spec.line) for spec in file.specs] == [("train/ppo_kl", 2)]
    assert file.problems == ()


def test_mistakes_of_both_kinds_come_together_in_file_order(tmp_path, write):
    """Registrations and declarations are validated at the same time; a good one beside a bad one is kept."""
    content = 'register_ci_gate(metric_key="new")\nregister_cpu_ci(0, "stage-a-cpu")\n' + GATE
    file = read(write("tests/e2e/test_a.py", content), tmp_path)
    assert [(problem.line, problem.call) for problem in file.problems] == [
        (1, "register_ci_gate"),
        (2, "register_cpu_ci"),
    ]
    assert (len(file.registrations), len(file.specs)) == (0, 1)


def test_a_byte_order_mark_is_no_mistake(tmp_path, write):
    """Editors on other systems write one."""
    assert read(write("test_a.py", b"\xef\xbb\xbf" + GATE.encode()), tmp_path).problems == ()


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"x = 1\ny = '\xff'\n", 2, "not UTF-8; save the file as UTF-8"),
        (b"a\x00b", 0, "null bytes"),
        (b"def f(:\n", 1, "not valid Python"),
        (b"#" * ((1 << 20) + 1), 0, "is above 1 MiB"),
        (b"-" * 100_000 + b"1", 0, "nested too deeply"),
    ],
)
def test_a_file_that_cannot_be_understood_is_one_problem(tmp_path, write, content, line, words):
    """Reported with file and line, never raised."""
    file = read(write("tests/e2e/test_a.py", content), tmp_path)
    (problem,) = file.problems
    assert (problem.file, problem.line) == ("tests/e2e/test_a.py", line)
    assert words in problem.text
    assert (file.registrations, file.specs) == ((), ())


NAMES = st.sampled_from(
    ["est_time", "suite", "labels", "hardware", "num_gpus", "nightly", "disabled", "metric_key", "steps", "constraint",
     "limits", "expect_points", "enforce", "checks", "allowlist_reason", "other"]
)  # fmt: skip
VALUES = st.sampled_from(
    ["1", "-0.0", "1e999", "9" * 4000, "True", "None", "...", "2j", "b'x'", "''", "'x'", r"'\ud800'", "'\x1b[0m'", "'last'",
     "[]", "[None]", "['x', 'x']", "[1e999]", "(1,)", "{}", "{None: 1}", "{1: 2}", "{'rel_up': 1e999}", "{'min': 1e400}",
     "{'reduce': 'mean', 'last': 1e999}", r"{'\ud800': {'a': [1]}}", "float", "*x", "f'{x}'"]
)  # fmt: skip
ARGUMENTS = st.lists(st.tuples(NAMES, VALUES).map("=".join) | VALUES, max_size=5).map(", ".join)
MARKERS = st.sampled_from(["register_cpu_ci", "register_cuda_ci", "register_rocm_ci", "register_ci_gate"])
CALLS = st.tuples(MARKERS, ARGUMENTS).map(lambda call: f"{call[0]}({call[1]})")


@given(
    st.binary()
    | (st.text(st.characters(exclude_categories=["Cs"])) | st.lists(CALLS, max_size=3).map("\n".join)).map(str.encode)
)
def test_whatever_a_file_holds_it_is_read_or_refused(content):
    """Bytes, text and calls with any literals: declarations or printable problems of that file, never an exception."""
    file = declared_in(content, Path("test_a.py"), "test_a.py", None, CONFIG)
    assert all(problem.file == "test_a.py" and str(problem).isprintable() for problem in file.problems)


def test_the_largest_file_allowed_is_read(tmp_path, write):
    """The limit is one MiB, included."""
    assert read(write("test_a.py", b"#" * (1 << 20)), tmp_path).problems == ()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (Path.exists, "cannot be read (No such file or directory); check the path"),
        (Path.mkdir, "is a directory; name a Python file"),
        (os.mkfifo, "is a FIFO; name a Python file"),
        (lambda path: path.symlink_to("/dev/zero"), "is a socket or device; name a Python file"),
        (lambda path: path.symlink_to(path), "link"),
    ],
    ids=["missing", "directory", "fifo", "device", "circle"],
)
def test_what_is_no_file_is_one_problem_and_hangs_nothing(tmp_path, make, words):
    """A FIFO does not block, a device does not flood, a link to itself does not loop."""
    path = tmp_path / "test_a.py"
    make(path)
    (problem,) = read(path, tmp_path).problems
    assert words in problem.text


def test_links_are_followed(tmp_path, write):
    """A link has a name of its own."""
    write("real/test_a.py", GATE)
    (tmp_path / "linked").symlink_to("real")
    file = read(tmp_path / "linked/test_a.py", tmp_path)
    assert (file.test_path, len(file.specs)) == ("linked/test_a.py", 1)


@pytest.mark.parametrize(
    ("content", "refused"),
    [
        ("# coding: utf-8\ny = 'é'\n", None),
        ("#!/bin/python\n# -*- coding: UTF8 -*-\ny = 'é'", None),
        ("# coding: latin-1\nx = 1\n", None),
        ("# coding=latin-1\ny = 'é'\n", "latin-1"),
        ("\n \t# vim: set fileencoding=utf-7 :\n+AHI-egister_cpu_ci(1)", "utf-7"),
        ("x = 1\r# coding: utf-7\r", "utf-7"),
        ("# coding: punycode\n" + "é" * 400_000, "punycode"),
        ("# coding: rot13\nx = 1", "rot13"),
        ("# coding: none\n", "none"),
        ("x = 1\n\n# coding: none\n", None),
        ("x = 'coding: none'", None),
    ],
)
def test_a_file_may_not_say_that_it_reads_differently(tmp_path, write, content, refused):
    """Python reads a file in the encoding it declares, so what is read here has to be the same text."""
    problems = read(write("test_a.py", content), tmp_path).problems
    words = f"declares the encoding {refused!r}, in which it may read differently; save the file as UTF-8"
    assert [words in problem.text for problem in problems] == [True] * (refused is not None)


def test_the_path_is_relative_to_the_root_whatever_the_working_folder(tmp_path, monkeypatch, write):
    """One file has one name in its series."""
    path = write("tests/e2e/test_a.py", GATE)
    monkeypatch.chdir(path.parent)
    assert series_path(Path("test_a.py"), tmp_path) == "tests/e2e/test_a.py"
    assert series_path(Path("../e2e/./test_a.py"), tmp_path) == "tests/e2e/test_a.py"
    assert series_path(path, tmp_path) == "tests/e2e/test_a.py"


def test_a_root_reached_through_a_link_is_the_same_root(tmp_path, write):
    """Temporary folders are often links."""
    path = write("repo/tests/test_a.py", GATE)
    (tmp_path / "link").symlink_to("repo")
    assert series_path(path, tmp_path / "link") == "tests/test_a.py"


def test_a_file_outside_of_the_root_has_one_name(tmp_path, monkeypatch):
    """Its absolute path, from whatever folder it is named: another name would be another series."""
    (tmp_path / "repo" / "tests").mkdir(parents=True)
    for folder, named in (("repo", "../test_a.py"), ("repo/tests", "../../test_a.py"), (".", "test_a.py")):
        monkeypatch.chdir(tmp_path / folder)
        assert series_path(Path(named), tmp_path / "repo") == f"{tmp_path}/test_a.py"


def test_a_root_may_register_files_that_declare_nothing(tmp_path, write):
    """Preset: tests/fast runs on CPU; other roots have no default."""
    (found,) = read(write("tests/fast/deep/test_a.py", ""), tmp_path).registrations
    assert (found.backend, found.suite, found.est_time_s, found.implicit) == ("cpu", "stage-a-cpu", 1.0, True)
    assert read(write("tests/fast-gpu/test_a.py", ""), tmp_path).registrations == ()
    assert read(write("tests/fast/test_b.py", CPU), tmp_path).registrations[0].implicit is False


def test_a_mistaken_registration_is_not_replaced_by_the_default(tmp_path, write):
    """The file says what it wants; it only says it wrongly."""
    file = read(write("tests/fast/test_a.py", 'register_cpu_ci(0, "stage-a-cpu")'), tmp_path)
    assert (file.registrations, len(file.problems)) == ((), 1)


def test_a_root_may_forbid_backends(tmp_path, write):
    """Preset: tests/fast forbids CUDA and ROCm."""
    content = CPU + 'register_rocm_ci(1, "stage-c-4-gpu-mi350", labels=["amd"])'
    file = read(write("tests/fast/test_a.py", content), tmp_path)
    (problem,) = file.problems
    assert (problem.line, problem.call) == (2, "register_rocm_ci")
    assert "rocm tests are forbidden in this folder" in problem.text
    assert [found.backend for found in file.registrations] == ["cpu"]


@pytest.mark.parametrize("roots", [["tests", "tests/fast"], ["tests/fast", "tests"]])
def test_a_file_that_is_named_belongs_to_the_innermost_root(roots):
    """In whatever order roots are listed; a file outside of all belongs to none."""
    config = load_config(file=None, start=Path("/"), env={}, options={"discovery.roots": roots})
    found = {name: root_of(name, config) for name in ("tests/fast/test_a.py", "tests/test_a.py", "test_a.py")}
    assert [root and root.path for root in found.values()] == ["tests/fast", "tests", None]

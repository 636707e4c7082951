"""What a change affects: read from a real diff, and everything wherever the diff cannot be trusted."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.config.load import load_config
from driftgate.harness.changed_files import effects_of, read_changes

CONFIG = load_config(file=None, start=Path("/"), env={}, options={})
EVERY = frozenset(CONFIG.suites)
CPU = frozenset({"stage-a-cpu"})
H100 = "stage-c-8-gpu-h100"
SUITES_OF = {
    "tests/e2e/test_a.py": {H100},
    "tests/e2e/test_new name.py": {"stage-c-8-gpu-b200"},
    "tests/fast/test_b.py": {"stage-a-cpu"},
}
STRANGE = ("docs/with space.md", "docs/new\nline.md", "docs/größe.md", "docs/-dash.md", "docs/tab\there.md")


def changes(tmp_path, content):
    """The changes read from a file with this content."""
    (tmp_path / "changed").write_bytes(content)
    return read_changes(tmp_path / "changed")


def effect(path):
    (found,) = effects_of([path], SUITES_OF, CONFIG)
    return found


class Repository:
    """A real git repository and its diff against its first commit."""

    def __init__(self, home):
        self.home = home
        self.git("init", "-q", "--template=")
        for name in ("tests/e2e/test_old.py", "miles/trainer.py", "docs/gone.md"):
            self.write(name, "".join(f"{name} {line}\n" for line in range(30)))
        self.commit("first")

    def git(self, *arguments):
        identity = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "core.quotepath=on")
        return subprocess.run(["git", *identity, *arguments], cwd=self.home, check=True, capture_output=True).stdout

    def write(self, name, text):
        (self.home / name).parent.mkdir(parents=True, exist_ok=True)
        (self.home / name).write_text(text)

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def paths(self):
        diff = self.home.parent / "diff"
        diff.write_bytes(self.git("diff", "--name-status", "-M", "-z", "HEAD~1", "HEAD"))
        return read_changes(diff)


@pytest.fixture
def repository(tmp_path):
    (tmp_path / "repository").mkdir()
    return Repository(tmp_path / "repository")


def test_a_real_diff(repository):
    """Added, modified, deleted and renamed files come out, whatever their names are; both names of a rename."""
    for name in STRANGE:
        repository.write(name, f"new {name}")
    repository.write("miles/trainer.py", "changed")
    (repository.home / "docs/gone.md").unlink()
    repository.git("mv", "tests/e2e/test_old.py", "tests/e2e/test_new name.py")
    repository.commit("second")
    found = repository.paths()
    assert found.unknown == ""
    expected = {*STRANGE, "miles/trainer.py", "docs/gone.md", "tests/e2e/test_old.py", "tests/e2e/test_new name.py"}
    assert sorted(found.paths) == sorted(expected)


def test_a_real_diff_of_a_link_that_became_a_file(repository):
    """A change of type is a change."""
    (repository.home / "link").symlink_to("miles/trainer.py")
    repository.commit("second")
    (repository.home / "link").unlink()
    repository.write("link", "now a file")
    repository.commit("third")
    assert repository.paths().paths == ("link",)


def test_a_real_diff_without_changes(repository):
    """An empty file may also be that of a diff that failed: nothing is concluded from it."""
    repository.commit("second")
    assert repository.paths().paths is None


@pytest.mark.parametrize(
    ("content", "paths"),
    [
        (b"M\0a\0", ("a",)),
        (b"A\0a\0D\0b\0T\0c\0U\0d\0X\0e\0", ("a", "b", "c", "d", "e")),
        (b"R100\0a\0b\0C75\0c\0d\0", ("a", "b", "c", "d")),
        (b"R7\0a\0b\0", ("a", "b")),
        (b"M\0M\0", ("M",)),
        (b"M\0a\nb\0A\0--x\0", ("a\nb", "--x")),
    ],
)
def test_statuses(tmp_path, content, paths):
    """Each status of git brings one path, a rename or copy two."""
    assert changes(tmp_path, content).paths == paths


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty"),
        (b"M\0docs/index.md", "does not end with a NUL"),
        (b"M docs/index.md\n", "does not end with a NUL"),
        (b"Q\0a\0", "found the status 'Q'"),
        (b"R\0a\0b\0", "found the status 'R'"),
        (b"R1000\0a\0b\0", "found the status 'R1000'"),
        (b"M100\0a\0", "found the status 'M100'"),
        (b"M\0a\0\0", "found the status ''"),
        (b"\0", "found the status ''"),
        (b"M\0", "a path is missing"),
        (b"R100\0a\0", "a path is missing"),
        (b"M\0\0", "a path is missing"),
        (b"M\0\xff\0", "a path is not UTF-8"),
        (b"docs/a.md\0docs/b.md\0", "found the status 'docs/a.md'"),
        (b"::error::x\n\0a\0", "found the status '::error::x\\n'"),
    ],
)
def test_an_unusable_diff_gives_no_paths(tmp_path, content, why):
    """What is malformed, empty or cut off is never taken for a small change; one line says why."""
    found = changes(tmp_path, content)
    assert found.paths is None
    assert why in found.unknown
    assert "\n" not in found.unknown


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_file_that_cannot_be_read(tmp_path, name):
    """No diff at all is the same."""
    found = read_changes(tmp_path / name)
    assert (found.paths, "cannot be read" in found.unknown) == (None, True)


@given(st.binary(max_size=60))
def test_no_bytes_raise(tmp_path_factory, content):
    """Whatever the file holds, there are paths or a reason."""
    found = changes(tmp_path_factory.getbasetemp(), content)
    assert (found.paths is None) is bool(found.unknown)
    assert found.paths != ()


@pytest.mark.parametrize(
    ("path", "suites"),
    [
        ("tests/e2e/test_a.py", {H100}),
        ("tests/fast/test_b.py", CPU),
        ("docs/index.html", set()),
        ("README.md", set()),
        ("a/b/c.md", set()),
        (".gitignore", set()),
        ("miles/trainer.py", EVERY),
        ("docsx/a", EVERY),
        ("tests/e2e/conftest.py", EVERY),
        ("tests/e2e/test_gone.py", EVERY),
        ("tests/fast/test_gone.py", CPU),
        ("tests/fast/conftest.py", EVERY),
        ("driftgate.toml", EVERY),
        ("", EVERY),
        ("/etc/passwd", EVERY),
        ("../x", EVERY),
        ("docs/../miles/x.md", set()),
        ("docs/a\nb.py", set()),
    ],
)
def test_what_a_path_affects(path, suites):
    """A test its own suites, one that is gone those that its folder may use, harmless paths none, all others all."""
    assert effect(path).suites == suites


def test_a_renamed_test_affects_where_it_was_and_where_it_is():
    """The old path can no longer be read, so it stands for all that its folder may use."""
    old, new = effects_of(("tests/fast/test_gone.py", "tests/e2e/test_a.py"), SUITES_OF, CONFIG)
    assert (old.suites, new.suites) == (CPU, {H100})


def test_a_discovered_test_is_never_harmless():
    """A glob that is too wide does not hide a test."""
    config = load_config(file=None, start=Path("/"), env={}, options={"changes.harmless": ["*"]})
    test, other = effects_of(("tests/e2e/test_a.py", "x.py"), SUITES_OF, config)
    assert (test.suites, other.suites) == ({H100}, frozenset())

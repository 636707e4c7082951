"""Single-file mode: one file and the labels of an untrusted checkout, read as data; anything else is refused."""

import os
import threading
from pathlib import Path

import pytest

from driftgate.config.load import load_config
from driftgate.harness.snapshot import read_snapshot
from gate.errors import ConfigError, SourceError

NAME = "tests/e2e/test_a.py"
REGISTRY = "ci/labels.py"
TEST = 'register_cpu_ci(60, "stage-a-cpu", labels=["{}"])\n'
DEFINITION = 'KNOWN: dict[str, str] = {"mine": "A label of the pull request"}\n'


class Checkout:
    """A trusted repository beside an untrusted checkout of a pull request."""

    def __init__(self, tmp_path):
        self.trusted, self.folder = tmp_path / "trusted", tmp_path / "pr"
        (self.trusted / ".git").mkdir(parents=True)
        self.folder.mkdir()
        self.put(NAME, TEST.format("megatron"))

    def put(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def config(self, *lines):
        (self.trusted / "driftgate.toml").write_text("\n".join(lines))
        return load_config(file=None, start=self.trusted, env={}, options={})

    def with_registry(self, definition=DEFINITION):
        """A trusted configuration whose labels stand in a Python file, in both trees."""
        (self.trusted / "ci").mkdir(exist_ok=True)
        (self.trusted / REGISTRY).write_text('KNOWN: dict[str, str] = {"trusted": "Only there"}\n')
        self.put(REGISTRY, definition)
        return self.config("[discovery]", f'label_registry = "{REGISTRY}:KNOWN"')

    def read(self, config=None, file=NAME, folder=None):
        return read_snapshot(Path(file), folder or self.folder, config or self.config())

    def complaints(self, *args, **options):
        return [str(problem) for problem in self.read(*args, **options).test.problems]


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path)


def test_the_asked_file_is_read_with_its_path_in_the_checkout(checkout):
    """Relative to the checkout's root or absolute; its name is that of its series."""
    for file in (NAME, checkout.folder / NAME):
        test = checkout.read(file=file).test
        assert (test.test_path, test.path, test.problems) == (NAME, checkout.folder / NAME, ())
        assert [found.labels for found in test.registrations] == [("megatron",)]


def test_errors_are_limited_to_the_asked_file(checkout):
    """Whatever else the checkout holds is not looked at, and no root need exist."""
    checkout.put("tests/e2e/test_bad.py", "def f(:")
    assert checkout.complaints() == []
    checkout.put(NAME, 'register_cpu_ci(0, "stage-a-cpu")')
    (complaint,) = checkout.complaints()
    assert complaint.startswith(f"{NAME}:1: register_cpu_ci est_time: found 0")


def test_rules_are_the_trusted_configurations(checkout):
    """A pull request cannot give itself a suite, a default registration or a root; its other keys are not even read."""
    checkout.put("driftgate.toml", '[suites.mine]\nbackend = "cpu"\n[nonsense]\nx = 1\n')
    checkout.put(NAME, 'register_cpu_ci(1, "mine")')
    (complaint,) = checkout.complaints()
    assert "unknown suite 'mine'" in complaint
    assert "mine" not in checkout.read().config.suites


def test_the_labels_are_those_of_the_checkout(checkout):
    """A label that the pull request adds is known, one that it takes away is not, the preset's stay."""
    config = checkout.config("[labels]", 'old = "Taken away by the pull request"')
    checkout.put("driftgate.toml", '[labels]\nmine = "A label of the pull request"\n')
    labels = checkout.read(config).config.labels
    assert (labels["mine"], "old" in labels, "megatron" in labels) == ("A label of the pull request", False, True)
    checkout.put(NAME, TEST.format("mine"))
    assert checkout.complaints(config) == []
    checkout.put(NAME, TEST.format("old"))
    assert "unknown label 'old'" in checkout.complaints(config)[0]


def test_labels_may_stand_in_pyproject(checkout):
    """As the configuration may; driftgate.toml goes first."""
    checkout.put("pyproject.toml", '[tool.driftgate.labels]\nmine = "Shared"\n')
    assert checkout.read().config.labels["mine"] == "Shared"
    checkout.put("driftgate.toml", "")
    assert "mine" not in checkout.read().config.labels


def test_labels_may_stand_in_a_python_file(checkout):
    """One annotated dict of literals, which is never run; the trusted file's labels are not the checkout's."""
    config = checkout.with_registry(f"raise SystemExit\n{DEFINITION}\ndef known(x):\n    return x in KNOWN\n")
    assert config.labels["trusted"] == "Only there"
    labels = checkout.read(config).config.labels
    assert (labels["mine"], "trusted" in labels) == ("A label of the pull request", False)
    checkout.put(NAME, TEST.format("min"))
    (complaint,) = checkout.complaints(config)
    assert complaint.endswith(f'to add one write "min": "what it covers" into KNOWN in {REGISTRY}')


REFUSED = [
    ("x = 1", "KNOWN: is not defined; write KNOWN: dict[str, str] = {...} at the top level"),
    ('KNOWN = {"a": "b"}', ":1: KNOWN: is no dict of literals that is annotated"),
    ("KNOWN: dict[str, str]", ":1: KNOWN: is no dict of literals that is annotated"),
    ("KNOWN: dict[str, str] = dict(a='b')", "is no dict of literals that is annotated"),
    ("KNOWN: dict[str, str] = OTHER | {}", "is no dict of literals that is annotated"),
    ("if 1:\n    KNOWN: dict[str, str] = {}", ":2: KNOWN: is no dict of literals that is annotated"),
    (DEFINITION + DEFINITION, "is no dict of literals that is annotated"),
    (DEFINITION + "KNOWN = {}", ":2: KNOWN: defined or changed besides line 1; keep one definition"),
    (DEFINITION.strip() + "; KNOWN = {}", ":1: KNOWN: defined or changed besides line 1"),
    ("KNOWN = {}\n" + DEFINITION, ":1: KNOWN: defined or changed besides line 2"),
    *(
        (f"{DEFINITION}{second}", "KNOWN: defined or changed besides line 1; keep one definition")
        for second in (
            "KNOWN['a'] = 'b'", "KNOWN.update(a='b')", "KNOWN |= {}", "del KNOWN['mine']", "del KNOWN",
            "def KNOWN(): pass", "class KNOWN: pass", "import KNOWN.a", "from a import b as KNOWN", "from a import *",
            "for KNOWN in (): pass", "(KNOWN := {})", "try: pass\nexcept E as KNOWN: pass",
            "match a:\n    case KNOWN: pass", "match a:\n    case [*KNOWN]: pass", "match a:\n    case {**KNOWN}: pass",
            "def f():\n    KNOWN: dict[str, str] = {}",
        )
    ),
    ('KNOWN: dict[str, str] = {\n"a": MEANING}', ":2: KNOWN: `MEANING` is not a literal"),
    ('KNOWN: dict[str, str] = {"a": f"{x}"}', "is not a literal"),
    ('KNOWN: dict[str, str] = {"a": "b" "c", **other}', "is not a literal key"),
    ('KNOWN: dict[str, str] = {NAME: "b"}', "is not a literal key"),
    ('KNOWN: dict[str, str] = {"a": "b", "a": "c"}', "given twice in one dict"),
    ('KNOWN: dict[str, str] = {"a": 1}', "KNOWN: a: found 1; write what the label covers"),
    ('KNOWN: dict[str, str] = {"a": ""}', "KNOWN: a: found ''"),
    ('KNOWN: dict[str, str] = {1: "b"}', "KNOWN: found the label 1; a label has letters"),
    ('KNOWN: dict[str, str] = {"::error::\\n": "b"}', "found the label '::error::\\n'; a label has letters"),
    (f"KNOWN: dict[str, str] = {dict.fromkeys(map(str, range(1001)), 'x')}", "has 1001 labels; at most 1000"),
    ("KNOWN: dict[str, str] = " + "{'a': " * 150 + "1" + "}" * 150, "KNOWN: a: found {"),
    ("KNOWN: dict[str, str] = " + "{'a': " * 1000 + "1" + "}" * 1000, "not valid Python: too many nested"),
    ("KNOWN: dict[str, str] = {'a': " + "-" * 100_000 + "1}", "nested too deeply to be read"),
    (DEFINITION + "#" * (5 << 20), "is above 1 MiB"),
    (b"\xff", "not UTF-8"),
    ("def f(:", "not valid Python"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "words"), REFUSED, ids=range(len(REFUSED)))
def test_a_registry_that_is_no_data_is_refused(checkout, content, words):
    """Defined twice, not literal, too deep, too large: one line that names the checkout's file."""
    config = checkout.with_registry()
    checkout.put(REGISTRY, content)
    with pytest.raises(SourceError) as caught:
        checkout.read(config)
    assert str(caught.value).startswith(REGISTRY)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 400


def test_the_trusted_registry_is_held_to_the_same_rules(checkout):
    """A mistake in it is the configuration's; a file that is not there names the key."""
    checkout.with_registry()
    (checkout.trusted / REGISTRY).write_text("KNOWN = {}")
    with pytest.raises(ConfigError, match=r"^ci/labels\.py:1: KNOWN: is no dict of literals"):
        checkout.config("[discovery]", f'label_registry = "{REGISTRY}:KNOWN"')
    (checkout.trusted / REGISTRY).unlink()
    with pytest.raises(ConfigError, match=r"discovery\.label_registry: .*cannot be read \(No such file"):
        checkout.config("[discovery]", f'label_registry = "{REGISTRY}:KNOWN"')


@pytest.mark.parametrize("value", ["ci/labels.py", ":KNOWN", "ci/labels.py:", "/etc/x.py:A", "../x.py:A", "x.py:a b"])
def test_a_registrys_place_is_a_file_of_the_repository_and_a_name(checkout, value):
    """Anything else is refused with an example."""
    with pytest.raises(ConfigError, match=r"expected a file below the repository root .*tests/ci/labels\.py:KNOWN"):
        checkout.config("[discovery]", f'label_registry = "{value}"')


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("labels = 1", "labels: found 1, expected a table"),
        ('[labels]\na = ""', "labels: a: found ''"),
        ('[labels]\n"a b" = "c"', "labels: found the label 'a b'; a label has letters"),
        ("[labels]\na = [1]", "labels: a: found [1]"),
        ("[labels", "labels: the file is not valid TOML"),
        ("x = " + "[" * 100_000, "labels: the file is nested too deeply"),
        (b"\xff", "labels: the file is not UTF-8"),
        ("#" * (5 << 20), "labels: the file is above 1 MiB"),
    ],
)
def test_labels_in_a_configuration_that_cannot_be_read_are_refused(checkout, content, words):
    """Of the checkout's file only [labels] is looked at, and as data."""
    checkout.put("driftgate.toml", content)
    with pytest.raises(SourceError) as caught:
        checkout.read()
    assert str(caught.value).startswith(f"driftgate.toml: {words}")


@pytest.mark.parametrize("content", [DEFINITION, "#" * (5 << 20), b"\xff", "(" * 1000, "-" * 100_000 + "1", "\0"])
def test_a_hostile_test_file_is_one_problem(checkout, content):
    """No registration, 5 MiB, no text, too deep: said, never raised."""
    checkout.put(NAME, content)
    test = checkout.read().test
    assert test.registrations == ()
    assert len(test.problems) == (content != DEFINITION)


def link(checkout, name, target):
    path = checkout.folder / name
    path.rename(path.with_name("moved"))
    path.symlink_to(target)


@pytest.mark.parametrize(
    ("name", "target", "words"),
    [
        (NAME, "moved", f"{NAME}: is a symbolic link; of an untrusted checkout only regular files are read"),
        (NAME, "/dev/zero", f"{NAME}: is a symbolic link"),
        ("tests/e2e", "moved", f"{NAME}: is below a symbolic link"),
        ("tests", "moved", f"{NAME}: is below a symbolic link"),
        ("tests", "/", f"{NAME}: is below a symbolic link"),
    ],
)
def test_no_link_on_the_files_path_is_followed(checkout, name, target, words):
    """Neither the file nor any folder above it, even where the link stays in the checkout."""
    link(checkout, name, target)
    (complaint,) = checkout.complaints()
    assert complaint.startswith(words)


@pytest.mark.parametrize("name", [REGISTRY, "ci"])
def test_no_link_on_the_registrys_path_is_followed(checkout, name):
    """A link would show a file of the machine as a list of labels."""
    config = checkout.with_registry()
    link(checkout, name, "moved")
    with pytest.raises(SourceError, match=r"^ci/labels\.py: is (below )?a symbolic link"):
        checkout.read(config)


def test_a_linked_configuration_is_not_followed(checkout):
    """Not even for its labels."""
    (checkout.folder / "driftgate.toml").symlink_to("/etc/passwd")
    with pytest.raises(SourceError, match=r"^driftgate\.toml: is a symbolic link"):
        checkout.read()


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("../trusted/x.py", "is no path of a file; write it from the checkout's root, without .."),
        ("tests/../tests/e2e/test_a.py", "without .."),
        ("/etc/passwd", "'/etc/passwd' is not below --snapshot"),
        (".", "is no path of a file"),
    ],
)
def test_a_path_that_may_leave_the_checkout_is_refused(checkout, file, words):
    """Parent folders and other trees, before anything is opened."""
    with pytest.raises(ConfigError) as caught:
        checkout.read(file=file)
    assert str(caught.value).startswith("--file: ")
    assert words in str(caught.value)


def test_the_checkout_is_a_folder_of_its_own(checkout, tmp_path):
    """A link to one could be turned to another while it is read."""
    (tmp_path / "link").symlink_to("pr")
    for folder in (tmp_path / "link", tmp_path / "gone", checkout.folder / NAME):
        with pytest.raises(ConfigError, match=r"--snapshot: .* is no folder, or a link to one"):
            checkout.read(folder=folder)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (Path.exists, "is not in the checkout"),
        (Path.mkdir, "is a directory; of an untrusted checkout only regular"),
        (os.mkfifo, "is a FIFO"),
        (lambda path: (path.mkdir(), path.rmdir(), path.parent.rmdir(), path.parent.touch()), "cannot be read (Not a dir"),
    ],
    ids=["missing", "directory", "fifo", "file as folder"],
)  # fmt: skip
def test_what_is_no_file_is_one_problem(checkout, make, words):
    """Nothing hangs and nothing is raised."""
    (checkout.folder / NAME).unlink()
    make(checkout.folder / NAME)
    (complaint,) = checkout.complaints()
    assert words in complaint


@pytest.mark.parametrize("file", ["-rf/test_a.py", "a b/tést_ü.py"])
def test_unusual_paths_are_paths(checkout, file):
    """Leading dashes, spaces, other alphabets."""
    checkout.put(file, TEST.format("megatron"))
    assert checkout.complaints(file=file) == []


@pytest.mark.parametrize("file", ["tests/test_\n.py", "tests/test_\udcff.py"])
def test_a_path_that_no_report_can_show_is_refused(checkout, file):
    """Its one line is printable."""
    Path(checkout.folder / file).write_text("")
    (complaint,) = checkout.complaints(file=file)
    assert complaint.isprintable()
    assert complaint.endswith("rename it")


def test_a_name_that_nothing_can_have_is_not_in_the_checkout(checkout):
    """A zero byte, a name too long."""
    assert "cannot be read (embedded null byte)" in checkout.complaints(file="tests/a\0b.py")[0]
    assert "cannot be read (File name too long)" in checkout.complaints(file="x" * 300)[0]


def test_a_folder_that_turns_into_a_link_while_it_is_read_shows_nothing_of_the_machine(checkout, tmp_path):
    """Each part is opened from within the one above: whatever the checkout does, only its own files are read."""
    secret = tmp_path / "secret"
    (secret / "e2e").mkdir(parents=True)
    (secret / "e2e" / "test_a.py").write_text(TEST.format("long"))
    tests, aside, lure = (checkout.folder / name for name in ("tests", "aside", "lure"))
    lure.symlink_to(secret)
    stop = threading.Event()

    def turn():
        while not stop.is_set():
            tests.rename(aside)
            lure.rename(tests)
            tests.rename(lure)
            aside.rename(tests)

    turning = threading.Thread(target=turn)
    config = checkout.config()
    turning.start()
    try:
        seen = {found.labels for _ in range(300) for found in checkout.read(config).test.registrations}
    finally:
        stop.set()
        turning.join()
    assert seen == {("megatron",)}

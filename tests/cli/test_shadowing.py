"""The guard against foreign code under our short names."""

import pytest

from driftgate.cli import shadowing

OURS = shadowing.distribution_root()


@pytest.mark.parametrize(
    ("planted", "name"),
    [("store.py", "store"), ("gate/__init__.py", "gate"), ("api/__init__.py", "api"), ("migrations.py", "migrations")],
)
def test_a_foreign_package_stops_everything(person, tmp_path, clean, planted, name):
    """Exit 2 before anything of it runs, naming which, where, and what to do."""
    foreign = tmp_path / "foreign"
    file = foreign / planted
    file.parent.mkdir(parents=True)
    file.write_text("raise SystemExit('foreign code ran')")
    clean.setenv("PYTHONPATH", str(foreign))
    for command in ("--version", "runs list"):
        answer = person.process(*command.split())
        assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
        assert answer.err.startswith(f"driftgate: '{name}' would be loaded from {file}, which hides driftgate's own")
        assert f"take {foreign} off PYTHONPATH" in answer.err


def test_a_module_beside_python_m(person):
    """``python -m`` puts the working folder first: the same guard, and the way out is in the message."""
    person.write("gate.py", "")
    answer = person.process("--version")
    assert answer.code == 2
    assert "start with 'driftgate' instead of 'python -m' in that folder" in answer.err


@pytest.mark.parametrize("planted", ["helpers.py", "stores/__init__.py", "api/notes.txt"])
def test_what_hides_nothing_passes(person, tmp_path, clean, planted):
    """Other names, and a folder that is no package while ours is one, are harmless."""
    file = tmp_path / "foreign" / planted
    file.parent.mkdir(parents=True)
    file.write_text("")
    clean.setenv("PYTHONPATH", str(tmp_path / "foreign"))
    assert person.process("--version").code == 0


def test_a_namespace_folder_that_wins_is_refused(clean, tmp_path):
    """Where a finder does answer with a foreign folder, it is named."""
    found = {"api": tmp_path / "api"}
    clean.setattr(shadowing, "_origin", lambda name: found.get(name, OURS / name / "__init__.py"))
    assert shadowing.shadowed_package() == ("api", tmp_path / "api")
    assert f"take {tmp_path} off PYTHONPATH" in shadowing.complaint("api", tmp_path / "api")


def test_a_package_that_is_missing(clean):
    """A broken installation says so instead of failing later."""
    clean.setattr(shadowing, "_origin", lambda _: None)
    name, origin = shadowing.shadowed_package()
    assert (name, origin) == ("gate", None)
    assert "install driftgate again" in shadowing.complaint(name, origin)

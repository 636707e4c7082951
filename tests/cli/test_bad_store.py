"""Databases that cannot be used: one line each, the right exit code, and nothing harmed."""

import os
import pwd
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from subprocess import PIPE

import pytest

NOBODY = pwd.getpwnam("nobody")


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def lines(self):
        return self.err.splitlines()


def refused(answer):
    """Exit 4 and one line; returns it."""
    assert (answer.code, answer.out, len(answer.lines)) == (4, "", 1)
    assert answer.err.startswith("driftgate: ")
    return answer.lines[0]


def test_a_missing_folder_is_made(person):
    """First use needs no preparation."""
    assert person.json("runs", "list", "--db", "sqlite:///deep/er/history.db") == {"schema": 1, "runs": []}
    assert (person.home / "deep" / "er" / "history.db").is_file()


def test_a_path_below_a_file(person):
    """Its folder cannot be made."""
    person.write("file", "precious")
    line = refused(person.call("runs", "list", "--db", "sqlite:///file/history.db"))
    assert "its folder cannot be created" in line
    assert (person.home / "file").read_text() == "precious"


def test_a_folder(person):
    """A folder is no database."""
    (person.home / "folder").mkdir()
    assert "cannot be opened or created" in refused(person.call("runs", "list", "--db", "sqlite:///folder"))


def test_not_a_database(person):
    """The file is left as it was."""
    content = b"precious notes " * 100
    path = person.write("notes.txt", content)
    for command in (
        "runs list",
        "db upgrade",
        "db current",
        "baseline test_a.py",
        "mark-trusted --run-id x --reason r",
    ):
        assert "is not a SQLite database" in refused(person.call(*command.split(), "--db", "sqlite:///notes.txt"))
    assert path.read_bytes() == content


def test_a_newer_schema(person):
    """Made by a newer driftgate: refused by every command, in words that say what to do."""
    person.call("db", "upgrade", "--db", "sqlite:///h.db")
    with closing(sqlite3.connect(person.home / "h.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    for command in ("runs list", "db upgrade"):
        assert "newer than this driftgate knows" in refused(person.call(*command.split(), "--db", "sqlite:///h.db"))
    person.test()
    found = person.judge(1.0, options=("--cadence", "nightly", "--db", "sqlite:///h.db"))
    assert (found["verdict"], "install a newer driftgate" in found["reason"]) == ("not_judged", True)


def test_damaged(person):
    """A page overwritten: said in words, no traceback."""
    person.test()
    person.judge(1.0)
    path = person.home / ".driftgate" / "history.db"
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(100)
        file.write(os.urandom(size - 100))
    answer = person.process("runs", "list")
    assert (answer.code, len(answer.lines), "Traceback" in answer.err) == (4, 1, False)


def test_locked(person):
    """The wait ends, the line says why; a verdict stands without being stored, exit 0; later all is well again."""
    person.test()
    run_id = person.judge(1.0)["written"]["run_id"]
    mark = ["-m", "driftgate", "mark-trusted", "--run-id", run_id, "--reason", "r"]
    with closing(sqlite3.connect(person.home / ".driftgate" / "history.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with subprocess.Popen([sys.executable, *mark], stdout=PIPE, stderr=PIPE, text=True) as marking:
            judged = person.call("gate", "test_a.py", "--records", person.record(1.0), "--cadence", "nightly")
            out, err = marking.communicate(timeout=60)
        other.execute("ROLLBACK")
    assert "locked by another process for more than 10 s" in refused(Answer(marking.returncode, out, err))
    assert (judged.code, judged.out.startswith("gate: TRUSTED (1 of 1 compared)")) == (0, True)
    assert re.search(r"warning: not_written: the run was not stored: .*: locked by another process", judged.out)
    assert person.judge(1.0)["written"]["trusted"]


UNPRIVILEGED = """
import os, sys
from driftgate.cli.app import app
def call(*args):
    try:
        app(args)
    except SystemExit as exit:
        return exit.code
call("mark-trusted", "--ci-run-id", "1", "--reason", "r", "--db", "sqlite://")  # imports what may be unreadable later
os.setgroups([]); os.setgid({gid}); os.setuid({uid})
sys.stderr.flush()
print("-- from here on unprivileged", file=sys.stderr, flush=True)
sys.exit(call(*{args!r}))
"""


@pytest.fixture
def open_home(person, tmp_path):
    """Everybody may come as far as the working folder, and write only where a test says so."""
    ours = (folder for folder in tmp_path.parents if folder.stat().st_uid == os.geteuid() and folder.parent.parts[1:])
    for folder in (person.home, tmp_path, *ours):
        folder.chmod(folder.stat().st_mode | 0o055)
    return person


def unprivileged(person, *args):
    """The same call by somebody whom permission bits bind."""
    if os.geteuid() != 0:
        return person.process(*args)
    code = UNPRIVILEGED.format(uid=NOBODY.pw_uid, gid=NOBODY.pw_gid, args=args)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=person.home, capture_output=True, text=True, check=False, timeout=60
    )
    return Answer(done.returncode, done.stdout, done.stderr.partition("unprivileged\n")[2])


def test_a_read_only_folder(open_home):
    """A database that cannot be made there, and one that is there but cannot be written."""
    (open_home.home / "locked").mkdir(mode=0o555)
    line = refused(unprivileged(open_home, "runs", "list", "--db", "sqlite:///locked/history.db"))
    assert "cannot be opened or created" in line
    open_home.call("db", "upgrade", "--db", "sqlite:///h.db")
    shutil.move(open_home.home / "h.db", open_home.home / "locked" / "history.db")
    (open_home.home / "locked" / "history.db").chmod(0o444)
    answer = unprivileged(
        open_home,
        "mark-trusted",
        "--ci-run-id",
        "1",
        "--reason",
        "r",
        "--actor",
        "a",
        "--db",
        "sqlite:///locked/history.db",
    )
    assert "cannot be" in refused(answer)


@pytest.mark.parametrize("url", ["history.db", "mysql://u:secret@h/d", "://", "postgresql+asyncpg://u:secret@h/d"])
def test_urls_nobody_can_use(person, url):
    """Exit 2, what to write instead, and never what was written."""
    answer = person.call("runs", "list", "--db", url)
    assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
    assert "sqlite:///" in answer.err
    assert "secret" not in answer.err


def test_no_server(person, clean):
    """A server that does not answer: exit 4, the password is not shown."""
    clean.setattr("store.retry.time.sleep", lambda _: None)
    answer = person.call("runs", "list", "--db", "postgresql://me:secret@127.0.0.1:9/nothing")
    line = refused(answer)
    assert "127.0.0.1" in line
    assert "secret" not in line

"""The command tree: help, names, and refusals of what cannot be parsed."""

import subprocess
import sys

import pytest
from typer.main import get_command

import driftgate
from driftgate.cli.app import app

COMMON = ("--db URL", "--config FILE", "--project NAME", "--json", "--help")
DOCUMENTED = {
    "plan": (
        *("--hw NAME", "--suite NAME", "--cadence NAME", "--label LABEL", "--event NAME", "--schedule CRON"),
        *("--shard i/n", "--file FILE", "--snapshot DIR", "--changed-files FILE", "--match-all-labels"),
        *("--durations FILE", "--explain FILE", "--must-contain FILE", "--github-output"),
    ),
    "run": (
        *("--hw", "--suite", "--cadence", "--event", "--schedule", "--write / --no-write"),
        *(
            "--label LABEL",
            "--shard i/n",
            "--file FILE",
            "--changed-files FILE",
            "--match-all-labels",
            "--durations FILE",
        ),
        *("--timeout-per-file SECONDS", "--continue-on-error", "--keep-failed", "--baseline FILE"),
        *("--retry / --no-retry", "--max-attempts N", "--retry-wait SECONDS"),
        *("--records DIR", "--report-md FILE", "--report-json FILE", "--junit FILE"),
    ),
    "gate": (
        *("--records DIR", "--backend", "--suite", "--cadence", "--write / --no-write"),
        *("--baseline FILE", "--report-md FILE", "--junit FILE"),
    ),
    "baseline": ("--metric", "--step", "--backend", "--suite", "--export FILE"),
    "coverage": ("--days N", "--tree-only"),
    "flakes": ("--since DAYS", "--runs N"),
    "durations": ("--output FILE", "--runs N"),
    "ci-report": ("--expect N", "--title TEXT", "--report-md FILE", "--comment FILE", "--junit FILE", "--fail"),
    "rerun-policy": (
        *("--attempt N", "--event NAME", "--conclusion NAME", "--failed FILE", "--failed-before FILE"),
        *("--refused", "--github-output"),
    ),
    "mark-untrusted": ("--run-id", "--ci-run-id", "--commit", "--reason"),
    "mark-trusted": ("--run-id", "--ci-run-id", "--commit", "--reason"),
}


def leaves(group, *above):
    """Every command of the tree as the words that call it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from leaves(command, *above, name)
        else:
            yield (*above, name)


COMMANDS = sorted(leaves(get_command(app)))


def test_the_documented_commands_exist():
    """A command that people and workflows call never vanishes."""
    single = {("demo",), ("init",), ("run",), ("gate",), ("baseline",), ("mark-untrusted",), ("mark-trusted",)}
    grouped = {("runs", "list"), ("runs", "show"), ("runs", "replay"), ("db", "upgrade"), ("db", "current")}
    assert single | grouped <= set(COMMANDS)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help(person, words):
    """Every command has an example on one line that can be copied, the common options, and plain argument names."""
    answer = person.call(*words, "--help")
    assert (answer.code, answer.err) == (0, "")
    (example,) = [
        line for line in answer.out.splitlines() if line.startswith("  Example: driftgate " + " ".join(words))
    ]
    assert example
    for option in (*COMMON, *DOCUMENTED.get(words[0], ())):
        assert option in answer.out
    assert not any(mark in answer.out for mark in ("{", "[[", "\b", "`\n"))


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        ("run", "run [OPTIONS] [FILE]..."),
        ("gate", "gate [OPTIONS] TEST"),
        ("runs list", "runs list [OPTIONS] [TEST]"),
        ("runs show", "runs show [OPTIONS] ID"),
        ("init", "init [OPTIONS] [FOLDER]"),
    ],
)
def test_usage_lines(person, words, usage):
    """What is needed, what may be left out, what may be repeated."""
    first = person.call(*words.split(), "--help").out.splitlines()[0]
    assert first.endswith(f" {usage}")


def test_the_listing_of_commands_is_whole(person):
    """Each command is told in words that are not cut."""
    for words in ((), ("runs",), ("db",)):
        listed = person.call(*words, "--help").out.partition("Commands:")[2]
        assert listed.strip()
        assert "..." not in listed


@pytest.mark.parametrize("words", [(), ("runs",), ("db",)])
def test_a_group_alone_shows_its_help(person, words):
    """With nothing to do it tells what can be done; that is a usage error for a script."""
    answer = person.call(*words)
    assert answer.code == 2
    assert "Commands:" in answer.out
    assert "Traceback" not in answer.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("rum", "no such command 'rum'. Did you mean 'run'?"),
        ("--verbos", "no such option: --verbos"),
        ("runs list --jso", "no such option: --jso"),
        ("runs list --limit many", "invalid value for '--limit'"),
        ("runs list --limit 0", "invalid value for '--limit'"),
        ("runs show", "missing argument 'ID'"),
        ("gate test_a.py", "missing option '--records'"),
        ("run test_a.py --timeout-per-file soon", "invalid value for '--timeout-per-file'"),
        ("run test_a.py --resume", "no such option: --resume"),
        ("baseline a b", "got unexpected extra argument"),
        ("mark-untrusted --run-id x", "missing option '--reason'"),
    ],
)
def test_wrong_options(person, words, message):
    """Exit 2 and one line that names the mistake and where to look; nothing on stdout."""
    answer = person.call(*words.split())
    assert (answer.code, answer.out, len(answer.lines)) == (2, "", 1)
    assert answer.err.startswith(f"driftgate: {message}")
    assert answer.err.endswith("--help\n")


def test_version(person):
    """The version of the package."""
    answer = person.process("--version")
    assert (answer.code, answer.out, answer.err) == (0, f"driftgate {driftgate.__version__}\n", "")


LIGHT = """
import sys
sys.argv = ["driftgate", "--version"]
from driftgate.cli.main import main
try:
    main()
finally:
    heavy = {"numpy", "pandas", "sqlalchemy", "alembic", "rich", "psycopg", "psutil", "orjson", "fastapi"}
    print(sorted(heavy & set(sys.modules)))
"""


def test_version_imports_nothing_heavy(person):
    """What commands need is imported inside them."""
    done = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True, cwd=person.home)
    assert done.stdout.splitlines()[-1] == "[]"


def test_debug_shows_the_traceback(person):
    """With --debug an error keeps its origin; without, it is one line."""
    answer = person.process("--debug", "runs", "show", "nope")
    assert "Traceback" in answer.err
    assert "NotFound" in answer.err
    assert "Traceback" not in person.process("runs", "show", "nope").err

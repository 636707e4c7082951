"""``driftgate plan`` and ``python -m driftgate.plan``: one command for two kinds of machines."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from driftgate import plan as bare
from driftgate.cli.app import app
from driftgate.harness.plan_options import COMMON, OPTIONS

CHECKOUT = Path(__file__).parents[2]
CONFIG = """
[discovery]
roots = [{ path = "tests/fast", default = { backend = "cpu", suite = "stage-a-cpu", est_time = 1 } }, "tests/e2e"]
"""
GPU = 'register_cuda_ci(est_time=300, suite="stage-c-8-gpu-h100", labels=["megatron"], hardware=["hopper"])\n'
A, B = "tests/fast/test_a.py", "tests/e2e/test_b.py"


@pytest.fixture
def planned(person):
    """A person whose repository has one CPU and one GPU test."""
    person.write("driftgate.toml", CONFIG)
    person.write(A, "")
    person.write(B, GPU)
    return person


def bare_runner(person, *arguments, start=("-m", "driftgate.plan"), isolated=False, **more):
    """The module in an interpreter without site-packages; ``isolated`` also without PYTHONPATH."""
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    options = {"cwd": person.home, "env": environment, "capture_output": True, "text": True, **more}
    command = [sys.executable, *(["-I"] if isolated else []), "-S", *start, *map(str, arguments)]
    return subprocess.run(command, check=False, **options)


def test_one_table_of_options():
    """Both command lines have the same options, with the same values, repetitions and words."""
    typer_options = {
        (param.opts[0], param.name, param.help, None if param.is_flag else param.metavar, param.multiple)
        for param in get_command(app).commands["plan"].params
    }
    argparse_options = {
        (
            action.option_strings[0],
            action.dest,
            action.help,
            None if action.nargs == 0 else action.metavar,
            type(action).__name__ == "_AppendAction",
        )
        for action in bare.parser()._actions
        if action.dest != "help"
    }
    assert typer_options == argparse_options
    assert len(typer_options) == len(OPTIONS) + len(COMMON)


SAME = [
    (),
    ("--cadence", "nightly"),
    ("--cadence", "nightly", "--json"),
    ("--label", "megatron", "--label", "bypass-fastfail", "--hw", "cuda"),
    ("--suite", "stage-c-8-gpu-h100", "--shard", "1/2", "--match-all-labels"),
    ("--file", B, "--json"),
    ("--explain", B),
    ("--explain", B, "--json"),
    ("--must-contain", A, "--must-contain", A, "--project", "other"),
    ("--event", "schedule", "--schedule", "0 15 * * 6"),
    ("--config", "driftgate.toml", "--db", "sqlite:///x.db"),
    # refusals
    ("--must-contain", B),
    ("--cadence", "nightley"),
    ("--shard", "2/2"),
    ("--label", "megatrom"),
    ("--config", "missing.toml"),
    ("--config", ""),
    ("--snapshot", "."),
    ("--durations", "missing.json"),
    ("--github-output",),
    ("--file", ""),
    ("--must-contain", A, "--must-contain", ""),
    ("--suite", ""),
    ("--label", ""),
    ("--shard", ""),
]


@pytest.mark.parametrize("arguments", SAME, ids=" ".join)
def test_the_same_command(planned, capfd, arguments):
    """The same output, the same words and the same exit code, wherever it is started."""
    answer = planned.call("plan", *arguments)
    code = bare.main(arguments)
    printed = capfd.readouterr()
    assert (code, printed.out, printed.err) == (answer.code, answer.out, answer.err)
    assert bool(answer.out) is (answer.code == 0)


@pytest.mark.parametrize("arguments", [("--json",), ()])
def test_mistakes_of_tests(planned, capfd, arguments):
    """All of them, as lines and with --json as data; the same from both."""
    planned.write("tests/e2e/test_c.py", "register_cuda_ci(est_time=1e999, suite='größe', labels=[])\n")
    planned.write("tests/e2e/test_d.py", "")
    answer = planned.call("plan", *arguments)
    assert (answer.code, len(answer.lines) >= 5) == (2, True)
    if arguments:
        files = {error["file"] for error in answer.json["errors"]}
        assert files == {"tests/e2e/test_c.py", "tests/e2e/test_d.py"}
    code = bare.main(arguments)
    printed = capfd.readouterr()
    assert (code, printed.out, printed.err) == (2, answer.out, answer.err)


@pytest.mark.parametrize(
    ("start", "isolated"),
    [
        (("-m", "driftgate.plan"), False),
        ((str(CHECKOUT / "driftgate" / "plan.py"),), False),
        ((str(CHECKOUT / "driftgate" / "plan.py"),), True),
        (
            (
                "-c",
                f"import sys; sys.path.insert(0, {str(CHECKOUT)!r}); from driftgate.plan import main; sys.exit(main())",
            ),
            True,
        ),
    ],
    ids=["module", "file", "file, isolated", "import, isolated"],
)
def test_on_a_bare_runner(planned, start, isolated):
    """No site-packages, no installation: the same JSON as from the installed command."""
    done = bare_runner(planned, "--cadence", "nightly", "--json", start=start, isolated=isolated)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == planned.call("plan", "--cadence", "nightly", "--json").out


def test_a_project_with_folders_of_our_names(planned):
    """A repository may have packages named gate, store and api: python -m looks there first, driftgate does not."""
    for name in ("gate", "store", "api"):
        planned.write(f"{name}/__init__.py", "raise SystemExit('a foreign package')")
    done = bare_runner(planned, "--cadence", "nightly")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_bare_runner_imports_nothing_else(planned):
    """Loaded next to everything that is installed, it still takes nothing of it."""
    code = (
        "import sys; from driftgate.plan import main; main(['--cadence', 'nightly']);"
        "print(sorted(name for name in sys.modules if name.partition('.')[0] not in sys.stdlib_module_names))"
    )
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=planned.home,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {name.strip("'[] ").partition(".")[0] for name in done.stdout.splitlines()[-1].split(",")}
    assert loaded - {"__main__"} == {"driftgate", "gate"}
    assert "driftgate.cli" not in done.stdout


def test_the_installed_command_imports_nothing_heavy(planned):
    """``driftgate plan`` starts as fast as ``--version``."""
    code = (
        "import sys; sys.argv = ['driftgate', 'plan', '--cadence', 'nightly']\n"
        "from driftgate.cli.main import main\n"
        "try:\n    main()\nfinally:\n"
        "    heavy = {'numpy', 'pandas', 'sqlalchemy', 'alembic', 'rich', 'psycopg', 'psutil', 'orjson'}\n"
        "    print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=planned.home, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--shards", "0/2"), "unrecognized arguments: --shards"),
        (("--cad", "nightly"), "unrecognized arguments: --cad"),
        (("--suite",), "argument --suite: expected one argument"),
        (("test_a.py",), "unrecognized arguments: test_a.py"),
    ],
)
def test_wrong_options_on_a_bare_runner(planned, arguments, message):
    """Exit 2 and one line, as from every command."""
    done = bare_runner(planned, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"driftgate: {message}")
    assert done.stderr.count("\n") == 1


def test_help_on_a_bare_runner(planned):
    """Every option with its meaning."""
    done = bare_runner(planned, "--help")
    assert done.returncode == 0
    for option in (*OPTIONS.values(), *COMMON.values()):
        assert option.flag in done.stdout


def test_a_reader_that_has_gone(planned):
    """``| head`` is no error."""
    for index in range(400):
        planned.write(f"tests/fast/test_{index}_{'x' * 200}.py", "")
    command = [sys.executable, "-S", "-m", "driftgate.plan"]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    with subprocess.Popen(
        command, cwd=planned.home, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_from_another_folder(planned, clean):
    """Paths of tests are those from the repository root; a file is named as one sees it, or from the root."""
    clean.chdir(planned.home / "tests" / "e2e")
    assert planned.json("plan", "--cadence", "nightly")["tests"][-1]["file"] == B
    for name in ("test_b.py", B):
        assert planned.json("plan", "--cadence", "nightly", "--explain", name)["planned"] is True


def test_labels_of_a_pull_request(planned, clean):
    """The event's labels count, --label adds, an explicit cadence drops the event's."""
    event = {"pull_request": {"labels": [{"name": "run-ci-megatron"}]}}
    clean.setenv("GITHUB_ACTIONS", "true")
    clean.setenv("GITHUB_EVENT_NAME", "pull_request")
    clean.setenv("GITHUB_EVENT_PATH", str(planned.write("event.json", json.dumps(event))))

    def files(*arguments):
        return [test["file"] for test in planned.json("plan", *arguments)["tests"]]

    assert files() == [A, B]
    assert files("--cadence", "regular") == [A]
    assert files("--cadence", "regular", "--label", "megatron") == [A, B]


def test_outputs_of_a_step(planned, clean):
    """--github-output appends to $GITHUB_OUTPUT, and the plan is printed all the same."""
    clean.setenv("GITHUB_OUTPUT", str(planned.home / "out"))
    answer = planned.call("plan", "--label", "megatron", "--github-output")
    assert (answer.code, answer.out.startswith("plan of cadence regular")) == (0, True)
    assert "\nmatrix_after<<driftgate-" in (planned.home / "out").read_text()


def test_nothing_is_run_or_stored(planned):
    """A plan leaves no trace."""
    planned.write(A, "raise SystemExit('run')")
    before = sorted(planned.home.rglob("*"))
    assert planned.call("plan", "--cadence", "nightly").code == 0
    assert sorted(planned.home.rglob("*")) == before

"""Standard streams as shells give them: pipes that close, encodings that lack letters, full disks, names that are no text."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def stored(person):
    """A history of three runs."""
    person.test()
    for number in range(3):
        person.judge(1.0 + number / 10)
    return person


def shell(person, line, **environment):
    """A line of shell in which ``$DG`` is the command line."""
    return subprocess.run(
        ["bash", "-c", line],
        cwd=person.home,
        env={**os.environ, "DG": f"{sys.executable} -m driftgate", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_reader_that_goes(stored):
    """``| head -1`` gets its line, and nobody complains."""
    done = shell(stored, "set -o pipefail; $DG runs list | head -1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("run ")


@pytest.mark.parametrize("command", ["runs list", "runs list --json", "baseline test_a.py"])
def test_a_reader_that_never_was(stored, command):
    """A pipe closed before the first byte: no traceback, no complaint at exit."""
    done = shell(stored, f"set -o pipefail; (sleep 0.5; $DG {command}; echo $? >&2) | true")
    assert done.stderr == "0\n"


def test_a_run_outlives_its_reader(person):
    """The tests go on, are judged and stored, and the exit code is theirs."""
    person.test("driftgate.log({'train/loss': 1.0}, step=0)\nprint('x' * 100_000)\n")
    done = shell(person, "set -o pipefail; $DG run test_a.py --cadence nightly | true; echo ${PIPESTATUS[0]}")
    assert (done.stdout, done.stderr) == ("0\n", "")
    assert len(person.runs()) == 1


def test_a_full_disk(stored):
    """Data that cannot be written is an error in one line; a lost log line changes no result."""
    for command in ("runs list", "runs list --json", "baseline test_a.py"):
        done = shell(stored, f"$DG {command} >/dev/full")
        assert (done.returncode, done.stderr) == (
            2,
            "driftgate: the output cannot be written: No space left on device\n",
        )
    stored.test("driftgate.log({'train/loss': 1.0}, step=0)")
    assert shell(stored, "$DG run test_a.py >/dev/full").returncode == 0


def test_closed_stdout(stored):
    """``>&-`` is no reason to fail."""
    done = shell(stored, "$DG runs list >&-; echo $?; $DG run test_a.py >&- 2>&-; echo $?")
    assert (done.stdout, done.stderr) == ("0\n0\n", "")


def test_an_encoding_that_lacks_letters(person):
    """They are escaped, on both streams; JSON is UTF-8 whatever the locale."""
    person.test("driftgate.log({'train/lösung': 1.0}, step=0)", name="test_é日.py", metric="train/lösung")
    words = (
        "run test_é日.py --cadence nightly",
        "runs list",
        "baseline test_é日.py",
        "baseline fehlt日.py",
        "runs list --json",
    )
    calls = [[sys.executable, "-m", "driftgate", *line.split()] for line in words]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = [subprocess.run(call, env=environment, capture_output=True, check=False) for call in calls]
    assert [answer.returncode for answer in done] == [0, 0, 0, 2, 0]
    assert not any(b"Traceback" in answer.stderr for answer in done)
    assert all(answer.stdout.isascii() and answer.stderr.isascii() for answer in done[1:4])
    assert "test_é日.py" in done[4].stdout.decode()


def test_an_argument_that_is_no_text(person):
    """A name that is not UTF-8 cannot be stored: refused at once, in one line."""
    answer = person.process("run", os.fsdecode(b"test_\xff.py"))
    assert (answer.code, answer.out) == (2, "")
    assert answer.lines == [
        "driftgate: the argument test_\\udcff.py is not UTF-8; rename the file or write it in UTF-8"
    ]


@pytest.mark.parametrize("words", ["", "not a suite "])
def test_no_name_is_a_command_of_githubs_runner(words, person):
    """The runner obeys ``##[`` wherever it stands in a line: neither a plan nor what is wrong with a file has it."""
    person.write("driftgate.toml", '[discovery]\nroots = [{path = "tests"}]\n')
    text = f'from driftgate import register_cpu_ci\nregister_cpu_ci(est_time=1, suite="{words}stage-a-cpu", disabled="##[add-mask]e")\n'
    person.write("tests/test_##[group]a.py", text.replace("stage-a-cpu", "##[error]x") if words else text)
    for options in ((), ("--explain", "tests/test_##[group]a.py"), ("--must-contain", "tests/test_##[group]a.py")):
        answer = person.call("plan", *options)
        assert "# #[" in answer.out + answer.err
        assert "##[" not in answer.out + answer.err

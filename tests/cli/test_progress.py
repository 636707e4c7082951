"""What a person sees while tests run: in a pipe, on a terminal, on CI."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from driftgate.cli.estimate import Estimate, span
from driftgate.cli.live_progress import Screen, is_live
from driftgate.cli.progress import shown_progress
from driftgate.harness.attempts import Runnable
from gate.identity import SeriesIdentity

LOG = "driftgate.log({'train/loss': 1.0}, step=0)"
HOSTILE = "import os\nos.write(1, b'\\xff\\x00\\x1b[31m::error::owned\\r\\n::endgroup::\\n##[error]x\\n::stop-commands::a\\nno end')\n"


def on_terminal(person, *args, columns=100, **environment):
    """All bytes that a call writes to a terminal of its own, and its exit code."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    call = [sys.executable, "-m", "driftgate", *args]
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen(
        call, cwd=person.home, stdin=theirs, stdout=theirs, stderr=theirs, env=kept | {"TERM": "xterm"} | environment
    ) as process:
        os.close(theirs)
        written = b""
        while True:
            try:
                data = os.read(ours, 65_536)
            except OSError:  # Linux: the other side is closed
                break
            if not data:
                break
            written += data
    os.close(ours)
    return written, process.returncode


def test_a_live_line(person):
    """Tests done, time elapsed and left; gone before anything else is written and at the end."""
    person.test(f"time.sleep(1.2)\n{LOG}\nprint('hello')")
    written, code = on_terminal(person, "run", "test_a.py")
    assert code == 0
    assert re.search(rb"\r\x1b\[2Kdriftgate: 0/1 done \| test_a\.py \ds \| \ds elapsed", written)
    assert b"\r\x1b[2Khello\r\n" in written
    assert not re.search(rb"elapsed[^\r\n]*\Z", written)
    assert b"\x1b[32mPASSED\x1b[0m" in written


def test_learned_durations_make_the_estimate(person):
    """What a test usually takes, where it has been learned, and not what its author guessed."""
    person.write("driftgate.toml", '[[discovery.roots]]\npath = "t"\n')
    person.test(f"time.sleep(0.8)\n{LOG}", name="t/test_a.py")
    row = {"file": "t/test_a.py", "backend": "cpu", "suite": "stage-a-cpu", "p90_s": 7200}
    person.write("durations.json", json.dumps({"schema": 1, "durations": [row]}))
    written, code = on_terminal(person, "run", "--match-all-labels", "--durations", "durations.json")
    assert code == 0, written
    assert b"elapsed, about 1h 59m left" in written


def test_a_live_line_fits_its_terminal(person):
    """It never wraps: what is wrapped cannot be erased."""
    person.test(f"time.sleep(0.8)\n{LOG}", name=f"test_{'long' * 20}.py")
    written, _ = on_terminal(person, "run", f"test_{'long' * 20}.py", columns=30)
    drawn = re.findall(rb"\x1b\[2K(driftgate: [0-9/]+ done[^\r\x1b]*)", written)
    assert drawn
    assert all(len(line) == 29 for line in drawn)


@pytest.mark.parametrize(("name", "value"), [("TERM", "dumb"), ("CI", "false"), ("GITHUB_ACTIONS", "true")])
def test_terminals_without_a_live_line(person, name, value):
    """A dumb terminal and a log of GitHub get plain lines; a variable that says nothing changes nothing."""
    person.test(f"time.sleep(0.8)\n{LOG}")
    written, _ = on_terminal(person, "run", "test_a.py", "--no-write", **{name: value})
    assert (b"\x1b[" in written) is (name == "CI")


def test_no_color(person):
    """NO_COLOR takes the colours and leaves the line."""
    person.test(f"time.sleep(0.8)\n{LOG}")
    written, _ = on_terminal(person, "run", "test_a.py", NO_COLOR="1")
    assert b"\x1b[2Kdriftgate: 0/1 done" in written
    assert not re.search(rb"\x1b\[[0-9;]*m", written)


def test_output_passes_as_bytes(person):
    """On a terminal as in a pipe, whatever it is; our own lines begin at the beginning of a line."""
    person.test(HOSTILE + LOG)
    expected = (
        b"\xff\x00\x1b[31m::error::owned\r\n::endgroup::\n##[error]x\n::stop-commands::a\nno end\ndriftgate: [1/1]"
    )
    call = [sys.executable, "-m", "driftgate", "run", "test_a.py"]
    assert expected in subprocess.run(call, cwd=person.home, capture_output=True, check=True).stdout
    written, _ = on_terminal(person, "run", "test_a.py")
    drawn = rb"\r\x1b\[2K(driftgate: 0/1 done[^\r]*)?"
    assert expected.replace(b"\n", b"\r\n") in re.sub(drawn, b"", written)  # the terminal itself adds the returns


def test_on_github(person):
    """A group for the attempt in which no command counts, one line on the result, an annotation."""
    person.test(HOSTILE + "raise ValueError('::error::why')")
    answer = subprocess.run(
        [sys.executable, "-m", "driftgate", "run", "test_a.py", "--cadence", "regular"],
        cwd=person.home,
        env=os.environ | {"GITHUB_ACTIONS": "true"},
        capture_output=True,
        check=False,
    )
    lines = re.split(rb"\r\n|\r|\n", answer.stdout)
    begins, token = lines.index(b"::group::[1/1] test_a.py on cpu in stage-a-cpu"), None
    token = lines[begins + 1].removeprefix(b"::stop-commands::")
    ends = lines.index(b"::" + token + b"::")
    assert (answer.returncode, lines[ends + 1]) == (1, b"::endgroup::")
    assert token not in answer.stdout.split(b"::" + token + b"::")[0].split(b"::stop-commands::" + token)[1]
    commands = [line for line in lines[ends + 2 :] if line.lstrip().startswith(b"::")]
    assert commands == [
        b"::error file=test_a.py,line=8,title=failed in stage-a-cpu::attempt 1: fail (exit code 1): ValueError: ::error::why"
    ]
    assert sum(line.startswith(b"driftgate: [1/1] FAILED test_a.py on cpu in stage-a-cpu (") for line in lines) == 1


def test_hostile_reasons_begin_no_line(person):
    """A reason with a line end is shown on one line."""
    person.test(
        'from driftgate import register_rocm_ci\nregister_rocm_ci(est_time=1, suite="stage-c-4-gpu-mi350", labels=["amd"],'
        f' disabled="a\\n::error::y")\n{LOG}'
    )
    answer = person.call("run", "test_a.py")
    assert not [line for line in answer.out.splitlines() if line.startswith("::")]
    assert "disabled: a\\n::error::y" in answer.out


@pytest.mark.parametrize("mark", ["GITHUB_ACTIONS", "GITLAB_CI"])
def test_a_group_is_closed_whatever_happens(mark, capfdbinary):
    """A second signal in the middle of a test's output: later lines of the step are read as usual."""
    runnable = Runnable(SeriesIdentity("p", "test_a.py", "cpu", "s"), Path("test_a.py"), (), (), 1.0)

    def interrupted():
        with shown_progress({mark: "true"}, to_stderr=False) as progress:
            progress.attempt_started(runnable, 1)
            progress.output(b"half a line")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    _, after = capfdbinary.readouterr().out.split(b"half a line\n")
    ends = (
        rb"::[0-9a-f]{32}::\n::endgroup::\n"
        if mark == "GITHUB_ACTIONS"
        else rb"\x1b\[0Ksection_end:\d+:driftgate_\w+\r\x1b\[0K\n"
    )
    assert re.fullmatch(ends, after)


@pytest.mark.parametrize(("options", "told"), [((), 0), (("--retry", "--max-attempts", 2, "--retry-wait", 0), 1)])
def test_attempts_are_told_where_another_may_follow(person, options, told):
    """One line for each failed attempt where failures are tried again; otherwise the test's own line says it all."""
    body = f"import pathlib\nflag = pathlib.Path('flag')\nif not flag.exists():\n    flag.touch()\n    raise ConnectionError('gone')\n{LOG}"
    person.test(body)
    answer = person.call("run", "test_a.py", *options)
    lines = answer.out.splitlines()
    ended = [line for line in lines if line.startswith("driftgate: [1/1] test_a.py: attempt 1 ended after")]
    assert len(ended) == told
    assert lines.count("driftgate: [1/1] test_a.py: attempt 2 follows in 0.0 s") == told
    word = "PASSED" if told else "FAILED"
    assert [line for line in lines if line.startswith(f"driftgate: [1/1] {word} test_a.py on cpu in stage-a-cpu (")]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("import not_there", "class code is not tried again"),
        ("sys.exit(3)", "its failure fits no rule of [retry.rules]"),
        ("raise ConnectionError('gone')", "retry.max_attempts is 2"),
    ],
)
def test_why_a_failure_is_not_tried_again(body, told, person):
    """Where failures are, it is told why this one is the last; elsewhere nobody expects another."""
    person.test(body)
    answer = person.call("run", "test_a.py", "--retry", "--max-attempts", 2, "--retry-wait", 0)
    assert f"driftgate: [1/1] test_a.py: no other attempt: {told}" in answer.out.splitlines()
    assert "no other attempt" not in person.call("run", "test_a.py").out


def test_the_live_line_counts_down_to_the_next_attempt(person):
    """A person who waits sees for what."""
    person.test("raise ConnectionError('gone')")
    written, _ = on_terminal(person, "run", "test_a.py", "--retry", "--max-attempts", "2", "--retry-wait", "1.4")
    assert re.search(rb"\r\x1b\[2Kdriftgate: 0/1 done \| test_a\.py, attempt 2 in [12]s \| \ds elapsed", written)


def test_the_last_lines_say_what_needs_a_look(person):
    """Of several tests those that failed once more, with their error: nobody scrolls."""
    person.test("raise ValueError('why')", name="test_b.py")
    person.test(LOG)
    answer = person.call("run", "test_b.py", "test_a.py", "--continue-on-error")
    assert re.fullmatch(
        r"driftgate: FAILED test_b\.py on cpu in stage-a-cpu \(\d+\.\d s\): exit code 1: ValueError: why",
        answer.out.splitlines()[-2],
    )


class Stream:
    """A text stream as far as the question goes."""

    def __init__(self, *, is_terminal):
        self.isatty = lambda: is_terminal


TERMINAL, PIPE = Stream(is_terminal=True), Stream(is_terminal=False)


@pytest.mark.parametrize(
    ("stream", "environment", "live"),
    [
        (TERMINAL, {"TERM": "xterm"}, True),
        (TERMINAL, {"TERM": "xterm", "NO_COLOR": "1"}, True),
        (TERMINAL, {"TERM": "dumb"}, False),
        (TERMINAL, {}, False),
        (PIPE, {"TERM": "xterm"}, False),
        (None, {"TERM": "xterm"}, False),
    ],
)
def test_where_a_line_can_live(stream, environment, live):
    """On terminals that can erase, and nowhere else."""
    assert is_live(stream, environment) is live


def test_a_line_is_drawn_only_where_a_line_begins(tmp_path):
    """Never into the middle of what a test prints; erased before more comes."""
    with (tmp_path / "out").open("w+") as stream:
        screen = Screen(stream, lambda: "status")
        for step in (screen._draw, lambda: screen.write(b"half"), screen._draw, lambda: screen.write(b" done\n")):
            step()
        screen._draw()
        screen.write_lines("ours\n")
        screen.write(b"open end")
        screen.write_lines("ours\n")
        screen.close()
    erase = "\r\x1b[2K"
    told = f"{erase}status{erase}half done\n{erase}status{erase}ours\nopen end\nours\n"
    assert (tmp_path / "out").read_bytes().decode() == told


def test_what_is_left_is_estimated():
    """The rest of the running test's estimate and those of the tests to come; a test that takes longer owes nothing."""
    now = [0.0]
    estimate = Estimate([60, 100, 20], lambda: now[0])
    assert estimate.line() == "0/3 done | 0s elapsed, about 3m 00s left"
    estimate.waits("test_a.py, attempt 2", 30)
    assert estimate.line() == "0/3 done | test_a.py, attempt 2 in 30s | 0s elapsed, about 3m 30s left"
    estimate.begins("test_a.py")
    now[0] = 45
    assert estimate.line() == "0/3 done | test_a.py 45s | 45s elapsed, about 2m 15s left"
    now[0] = 80
    assert estimate.line() == "0/3 done | test_a.py 1m 20s | 1m 20s elapsed, about 2m 00s left"
    for red in (True, False, False):
        estimate.ended(red=red)
    assert estimate.line() == "3/3 done, 1 red | 1m 20s elapsed"


@pytest.mark.parametrize(("seconds", "text"), [(0.9, "0s"), (59, "59s"), (60, "1m 00s"), (3725, "1h 02m")])
def test_spans_are_short(seconds, text):
    """Whole seconds while they matter."""
    assert span(seconds) == text

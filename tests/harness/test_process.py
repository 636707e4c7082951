"""Processes of tests, real ones: each ends in the right way and leaves nothing running."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import nullcontext

import psutil
import pytest

from driftgate.harness import process as process_module
from driftgate.harness.interruption import Interruption
from driftgate.harness.orphans import adopted_orphans, children_outside
from driftgate.harness.process import Execution, run_process
from driftgate.harness.process_tree import ProcessTree
from gate.errors import ConfigError

LONG_S = 30.0
SHORT_S = 0.4
GRACE_S = 0.3

DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print("daemon", os.getpid(), flush=True)
        time.sleep(60)
    os._exit(0)
os.wait()
time.sleep(0.2)
"""
STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(60)
"""
NEW_SESSION = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
"""
CLEARED_ENVIRONMENT = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env={})
"""
ESCAPED = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execve(sys.executable, [sys.executable, "-c", "import time; time.sleep(60)"], {})
    os._exit(0)
os.wait()
time.sleep(0.2)
"""


def is_alive(pid):
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE


@pytest.fixture
def trees(monkeypatch):
    """Every process tree made during the test, to look for survivors afterwards."""
    made = []

    def make(**named):
        made.append(ProcessTree(**named))
        return made[-1]

    monkeypatch.setattr(process_module, "ProcessTree", make)
    yield made
    left = [process for tree in made for process in tree.find()]
    for process in left:
        process.kill()
    assert left == []


@pytest.fixture
def run(trees, tmp_path):
    def run_code(code, timeout_s=LONG_S, output=lambda _: None, interruption=None):
        command = (sys.executable, "-c", textwrap.dedent(code))
        execution = Execution(command, dict(os.environ), tmp_path, timeout_s, GRACE_S)
        return run_process(execution, output, interruption or Interruption())

    return run_code


def test_exit_code_and_output(run):
    """The exit code is the child's; its output, error stream too, comes through byte by byte and its end is kept."""
    seen = []
    ended = run(
        "import sys; sys.stdout.buffer.write(b'a\\xff\\n'); sys.stdout.flush(); sys.exit('no')", output=seen.append
    )
    assert (ended.ending, ended.exit_code, ended.last_lines) == ("exited", 1, ("a\ufffd", "no"))
    assert b"".join(seen) == b"a\xff\nno\n"
    assert (ended.leftovers, ended.survivors) == (0, 0)


def test_a_signal_is_told(run):
    """A child killed by a signal has the negative number of it."""
    ended = run("import os; os.kill(os.getpid(), 11)")
    assert (ended.ending, ended.exit_code) == ("exited", -signal.SIGSEGV)


def test_a_hanging_child_is_ended(run):
    """Past its time a child is ended by TERM."""
    ended = run("import time; time.sleep(60)", SHORT_S)
    assert (ended.ending, ended.exit_code) == ("timeout", -signal.SIGTERM)


def test_a_child_that_ignores_term_is_killed(run):
    """TERM alone is not enough for some: KILL follows."""
    ended = run(STUBBORN, 1.0)
    assert (ended.ending, ended.exit_code, ended.last_lines) == ("timeout", -signal.SIGKILL, ("ready",))


@pytest.mark.parametrize(
    "code",
    [DAEMON, NEW_SESSION, CLEARED_ENVIRONMENT, ESCAPED],
    ids=["daemon", "session", "environment", "escaped"],
)
def test_descendants_end_with_a_passing_test(run, code):
    """A pass stays a pass although a descendant holds the output pipe; the descendant is ended."""
    ended = run(code)
    assert (ended.ending, ended.exit_code, ended.leftovers, ended.survivors) == ("exited", 0, 1, 0)


def test_a_daemon_of_a_hanging_test_ends_too(run):
    """On a timeout the daemonised grandchild ends with the rest."""
    ended = run(DAEMON + "\ntime.sleep(60)", 1.5)
    assert (ended.ending, ended.leftovers, ended.survivors) == ("timeout", 2, 0)


@pytest.mark.parametrize(("marks", "adopts"), [(True, False), (False, True), (False, False)])
def test_two_ways_find_a_daemon(run, monkeypatch, marks, adopts):
    """Its mark or its adoption is enough. Negative control: without either, the daemon in its own session is missed."""
    seen = []
    if not marks:
        monkeypatch.setattr(ProcessTree, "environment", lambda _self, base: dict(base))
    if not adopts:
        monkeypatch.setattr(process_module, "adopted_orphans", nullcontext)
    ended = run(DAEMON, output=seen.append)
    pid = int(b"".join(seen).split()[1])
    assert (ended.leftovers, is_alive(pid)) == ((1, False) if marks or adopts else (0, True))
    if is_alive(pid):
        os.kill(pid, signal.SIGKILL)


def test_only_the_tests_orphans_are_ended(run):
    """Processes that this one started before in sessions of their own go on, and nothing is adopted afterwards."""
    before = set(children_outside())
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as stranger:
        assert run(ESCAPED).leftovers == 1
        assert stranger.poll() is None
        stranger.kill()
    with adopted_orphans(), adopted_orphans():
        pass
    seen = subprocess.run([sys.executable, "-c", ESCAPED.replace("time.sleep(60)", "time.sleep(1)")], check=True)
    assert seen.returncode == 0
    assert [child for child in set(children_outside()) - before if child.status() != psutil.STATUS_ZOMBIE] == []


def test_no_zombie_stays(run):
    """Orphans that end by themselves are buried."""
    before = set(psutil.Process().children())
    code = """
    import os
    for _ in range(20):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0: os._exit(0)
            os._exit(0)
        os.wait()
    """
    assert run(code).exit_code == 0
    assert set(psutil.Process().children()) <= before


def test_nested_harnesses_keep_both_marks():
    """The tree of an inner harness does not hide its processes from the outer one."""
    outer, inner = ProcessTree(), ProcessTree()
    environment = inner.environment(outer.environment({}))
    assert outer.mark in environment
    assert inner.mark in environment


def test_a_flood_of_output(run):
    """Tens of megabytes and a line without end pass through whole, the kept end stays small."""
    total = 0

    def count(data):
        nonlocal total
        total += len(data)

    ended = run("import sys; b = b'y' * 1_000_000\nfor _ in range(40): sys.stdout.buffer.write(b)", output=count)
    assert ended.exit_code == 0
    assert total == 40_000_000
    assert len(ended.last_lines[0]) < 5000


def test_a_flood_takes_no_memory(run):
    """Two hundred megabytes pass through a harness that grows by far less (1 GB took it 0.3 MB, in 7 s)."""
    own = psutil.Process()
    before = own.memory_info().rss
    grown = 0

    def measure(_data):
        nonlocal grown
        grown = max(grown, own.memory_info().rss - before)

    ended = run("import os\nb = (b'y' * 99 + b'\\n') * 10_000\nfor _ in range(200): os.write(1, b)", output=measure)
    assert (ended.exit_code, len(ended.last_lines)) == (0, 200)
    assert grown < 50_000_000


def test_output_after_the_exit_is_bounded(run):
    """A descendant that writes for ever keeps nobody waiting."""
    code = """
    import subprocess, sys
    subprocess.Popen([sys.executable, "-c", "import sys\\nwhile True: sys.stdout.write('z' * 9999)"], start_new_session=True)
    """
    ended = run(code)
    assert (ended.ending, ended.exit_code, ended.survivors) == ("exited", 0, 0)


def test_a_failing_output_leaves_nothing(run):
    """When nobody takes the output any more, the error comes out and the tree is gone (see the fixture)."""

    def broken(_data):
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run("print('x', flush=True); import time; time.sleep(60)", output=broken)


def test_a_command_that_does_not_exist(trees, tmp_path):
    """One line naming the command, no traceback of the operating system."""
    execution = Execution(("/no/such/program",), {}, tmp_path, LONG_S, GRACE_S)
    with pytest.raises(ConfigError, match="command '/no/such/program': cannot be started: No such file"):
        run_process(execution, lambda _: None, Interruption())


HARNESS = """
import os, pathlib, sys
from driftgate.harness.interruption import Interruption
from driftgate.harness.process import Execution, run_process
with Interruption() as interruption:
    command = (sys.executable, "-c", sys.argv[1])
    execution = Execution(command, dict(os.environ), pathlib.Path.cwd(), 60.0, float(sys.argv[2]))
    ended = run_process(execution, lambda data: os.write(1, data), interruption)
print("ended", ended.ending, interruption.requested.name, flush=True)
"""


@pytest.fixture
def harness(tmp_path):
    """Starts a harness with a test of this code and this grace; whatever it started must be gone in the end."""
    outer = ProcessTree()
    started = []

    def start(code, grace_s):
        environment = outer.environment(os.environ)
        command = [sys.executable, "-c", HARNESS, code, str(grace_s)]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environment, cwd=tmp_path, text=True))
        return started[-1]

    yield start
    for process in started:
        process.communicate()
    left = outer.find()
    outer.kill()
    assert left == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_a_signalled_harness_leaves_nothing(number, harness):
    """SIGTERM and SIGINT to a harness end its whole tree, the daemon and the one that ignores TERM too."""
    process = harness(DAEMON + STUBBORN, GRACE_S)
    lines = iter(process.stdout.readline, "")
    assert any(line == "ready\n" for line in lines)
    process.send_signal(number)
    assert list(lines) == [f"ended interrupted {number.name}\n"]
    assert process.wait() == 0


def test_a_signalled_harness_ends_who_escaped(harness):
    """A daemon that left session, parent and environment is ended with the rest."""
    told = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    process = harness(ESCAPED.replace("import time; time.sleep(60)", told) + "time.sleep(60)\n", GRACE_S)
    pid = int(process.stdout.readline())
    process.send_signal(signal.SIGTERM)
    assert process.stdout.read() == "ended interrupted SIGTERM\n"
    assert not is_alive(pid)


def test_a_second_signal_cuts_the_grace_short(harness):
    """Who asks twice does not wait out the grace of a process that takes its time, and it is gone all the same."""
    code = """
import signal, time
signal.signal(signal.SIGTERM, lambda *_: print("saw TERM", flush=True))
print("ready", flush=True)
while True: time.sleep(60)
"""
    process = harness(code, 50.0)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "saw TERM\n"
    process.send_signal(signal.SIGTERM)
    assert process.stderr.read().endswith("KeyboardInterrupt\n")


def test_many_signals_leave_nothing(harness):
    """Who goes on asking while the processes are being ended does not keep them from it (see the fixture)."""
    process = harness(DAEMON + STUBBORN, 50.0)
    lines = iter(process.stdout.readline, "")
    assert any(line == "ready\n" for line in lines)
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.005)


def test_a_second_signal_is_obeyed():
    """Who asks twice is not kept waiting; who asks three times breaks nothing off that the second let begin."""
    with Interruption() as interruption:
        signal.raise_signal(signal.SIGTERM)
        assert interruption.requested is signal.SIGTERM
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL

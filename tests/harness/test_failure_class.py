"""The class of a failed attempt: what ended it decides, never a word somewhere in its log."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.config.load import load_config
from driftgate.config.model import FailureRule, Retry
from driftgate.harness.failure_class import FailureClass, failed, timed_out
from driftgate.harness.last_lines import LastLines

RETRY = load_config(file=None, start=Path("/"), env={}, options={}).retry
FRAMES = 'Traceback (most recent call last):\n  File "/repo/tests/e2e/test_a.py", line 7, in <module>\n    run()\n'
FORK = "\nDuring handling of the above exception, another exception occurred:\n\n"
CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
COMMAND_FAILED = FRAMES + "subprocess.CalledProcessError: Command 'NCCL train.py' returned non-zero exit status {}.\n"
ABORT = """\
[rank1]:[E1130 18:02:11.123 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9)
terminate called after throwing an instance of 'c10::DistBackendError'
  what():  [PG ID 0 Rank 1] Process group watchdog thread terminated with exception: NCCL timeout: WorkNCCL(SeqNum=9)
Exception raised from checkTimeout at ProcessGroupNCCL.cpp:632 (most recent call first):
frame #0: c10::Error::Error(c10::SourceLocation, std::string) + 0x96 (0x7f in libc10.so)

Fatal Python error: Aborted

Thread 0x00007f0 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 324 in wait
"""
ELASTIC = """\
Traceback (most recent call last):
  File "/usr/local/bin/torchrun", line 8, in <module>
    sys.exit(main())
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  rank      : {other} (local_rank: {other})
  exitcode  : 1 (pid: 12)
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-11-30_18:02:11
  rank      : {root} (local_rank: {root})
  exitcode  : 1 (pid: 11)
  error_file: <N/A>
  traceback : {traceback}
============================================================
"""
TO_ENABLE = "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"
NOT_DESTROYED = (
    "[rank0]:[W1130 18:02:11.123 ProcessGroupNCCL.cpp:1250] Warning: process group has NOT been destroyed; "
    "any pending NCCL operations may be lost, connection reset\n"
)


def ranked(rank, text):
    return "".join(f"[rank{rank}]: {line}\n" for line in text.splitlines())


def zipped(first, second):
    """The lines of two processes, one by one."""
    pairs = zip(first.splitlines(keepends=True), second.splitlines(keepends=True), strict=True)
    return "".join(line for pair in pairs for line in pair)


PYTEST = """\
=================================== FAILURES ===================================
_________________________________ test_reward __________________________________

    def test_reward():
>       assert reward > 0.8, f"reward {{reward}}"
E       AssertionError: reward 0.5 below 0.8
E       assert 0.5 > 0.8

tests/fast/test_a.py:5: AssertionError
----------------------------- Captured stderr call -----------------------------
ImportError: this is not it
_________________________________ TestB.test_b _________________________________
{second}
=========================== short test summary info ============================
FAILED tests/fast/test_a.py::test_reward - AssertionError: reward 0.5 below 0.8
FAILED tests/fast/test_a.py::TestB::test_b - {summary}
========================= 2 failed, 3 passed in 12.50s =========================
"""
PLAIN_ASSERT = ">       assert 1 == 2\nE       assert 1 == 2\n\ntests/fast/test_a.py:9: AssertionError"
ATTRIBUTE = (
    ">       x.y\nE       AttributeError: 'X' object has no attribute 'y'\n\ntests/fast/test_a.py:9: AttributeError"
)
WRAPPED = """\
>       run()
E       subprocess.CalledProcessError: Command 'train.py' returned non-zero exit status 1.

/usr/lib/python3.11/subprocess.py:571: CalledProcessError
----------------------------- Captured stdout call -----------------------------
Traceback (most recent call last):
  File "train.py", line 3, in <module>
    send()
ConnectionResetError: [Errno 104] Connection reset by peer"""
UNITTEST = """\
======================================================================
{kind}: test_a (__main__.TestA.test_a)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "test_a.py", line 5, in test_a
    self.assertGreater(accuracy, 0.8)
{first}

======================================================================
FAIL: test_b (__main__.TestA.test_b)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "test_a.py", line 9, in test_b
    self.assertEqual(1, 2)
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 3 tests in 0.100s

FAILED (failures=2)
"""

LOGS = {
    "accuracy assertion": (FRAMES + "AssertionError: accuracy 0.41 is below 0.55\n", "accuracy", True),
    "assertion": (FRAMES + "AssertionError\n", "assertion", True),
    "import error": (FRAMES + "ImportError: cannot import name 'x' from 'megatron' (NCCL)\n", "code", False),
    "syntax error without header": (
        "  File \"/repo/test_a.py\", line 3\n    def f(\n         ^\nSyntaxError: '(' was never closed\n",
        "code",
        False,
    ),
    "connection refused to a rollout server": (
        FRAMES
        + "ConnectionRefusedError: [Errno 111] Connection refused\n"
        + FORK
        + FRAMES
        + "urllib3.exceptions.MaxRetryError: HTTPConnectionPool(host='127.0.0.1', port=30000): Max retries exceeded\n"
        + FORK
        + FRAMES
        + "requests.exceptions.ConnectionError: HTTPConnectionPool(host='127.0.0.1', port=30000): /generate\n",
        "infrastructure",
        True,
    ),
    "url error": (
        FRAMES + "urllib.error.URLError: <urlopen error [Errno 111] Connection refused>\n",
        "infrastructure",
        True,
    ),
    "cuda out of memory": (
        FRAMES + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 79 GiB\n",
        "memory",
        False,
    ),
    "no space left": (FRAMES + "OSError: [Errno 28] No space left on device: '/tmp/x'\n", "infrastructure", True),
    "keyboard interrupt": (FRAMES + "KeyboardInterrupt\n", "unknown", False),
    "an object that goes away": (
        FRAMES
        + "ConnectionResetError: peer\n"
        + "Exception ignored in: <function Server.__del__ at 0x7f00>\n"
        + FRAMES
        + "KeyError: 1\n"
        + FORK
        + FRAMES
        + "AttributeError: 'NoneType' object has no attribute 'close'\n",
        "infrastructure",
        True,
    ),
    "a log handler that is closed": (
        FRAMES
        + "AssertionError: loss\n--- Logging error ---\n"
        + FRAMES
        + "ValueError: I/O operation on closed file.\nCall stack:\n"
        + '  File "/lib/wandb.py", line 9, in f\n    log()\n'
        + "Message: 'done %d'\nArguments: ('x',)\n",
        "assertion",
        True,
    ),
    "a task that nobody waited for": (
        FRAMES
        + "TypeError: f() takes 1 positional argument\nTask exception was never retrieved\n"
        + "future: <Task finished name='Task-1' coro=<f() done> exception=ConnectionError('gone')>\n"
        + FRAMES
        + "ConnectionError: gone\n",
        "code",
        False,
    ),
    "nothing but an object that goes away": (
        "Exception ignored in: <function Server.__del__ at 0x7f00>\n" + FRAMES + "ConnectionError: gone\n",
        "unknown",
        False,
    ),
    "what comes after an object that goes away": (
        "Exception ignored in: <function Server.__del__ at 0x7f00>\n"
        + FRAMES
        + "AttributeError: x\n"
        + FRAMES
        + "ConnectionError: gone\n",
        "infrastructure",
        True,
    ),
    "no traceback": ("step 3: loss 0.1\nFAILED: timeout, NCCL, connection refused, OOM\n", "unknown", False),
    "nothing": ("", "unknown", False),
    "a model named bloom": ("loading bloom-7b (OutOfMemoryError)\n" + FRAMES + "KeyError: 'bloom'\n", "unknown", False),
    "an option named timeout": ("args: timeout=300 NCCL\n" + FRAMES + "ValueError: timeout=300\n", "unknown", False),
    "words of source lines": (
        'Traceback (most recent call last):\n  File "nccl.py", line 1, in f\n    raise KeyError(NCCL)  # no space left on device\nKeyError: 1\n',
        "unknown",
        False,
    ),
    "timeout error": (FRAMES + "concurrent.futures._base.TimeoutError\n", "timeout", True),
    "subprocess that took too long": (
        FRAMES + "subprocess.TimeoutExpired: Command 'x' timed out after 3 seconds\n",
        "timeout",
        True,
    ),
    "the last of a chain decides": (
        FRAMES + "ConnectionResetError: reset\n" + FORK + FRAMES + "TypeError: x\n",
        "code",
        False,
    ),
    "a cause does not decide": (
        FRAMES + "TypeError: x\n" + CAUSE + FRAMES + "AssertionError: no rollout\n",
        "assertion",
        True,
    ),
    "an earlier, handled one does not decide": (
        FRAMES + "ConnectionResetError: reset\n\nretrying\n" + FRAMES + "NameError: name 'x' is not defined\n",
        "code",
        False,
    ),
    "a message of several lines": (
        FRAMES
        + "RuntimeError: collective failed\nncclSystemError: System call failed\nLast error:\nsocketProgress: Connection closed by remote peer\n",
        "infrastructure",
        True,
    ),
    "noise after the end": (FRAMES + "KeyError: 'x'\n" + NOT_DESTROYED + "wandb: connection reset\n", "unknown", False),
    "a warning of a module after the end": (
        FRAMES + "KeyError: 'x'\n/lib/tracker.py:9: ResourceWarning: connection reset\n",
        "unknown",
        False,
    ),
    "colours": (
        FRAMES.replace("Traceback", "\x1b[31mTraceback") + "\x1b[1;31mAssertionError\x1b[0m: \x1b[35mx\x1b[0m\n",
        "assertion",
        True,
    ),
    "a progress bar": (
        "\r 10%|#    | 1/10 OSError: 5\r 50%|###  | 5/10" + FRAMES + "ConnectionResetError: x\n",
        "infrastructure",
        True,
    ),
    "windows line ends": (
        (FRAMES + "AssertionError: accuracy 0\n").replace("\n", "\r\n"),
        "accuracy",
        True,
    ),
    "invalid utf-8": (FRAMES.encode() + b"AssertionError: \xff\xfe\n", "assertion", True),
    "a header that is only quoted": (
        "log: Traceback (most recent call last): in the docs\nnothing\n",
        "unknown",
        False,
    ),
    "two ranks, lines mixed": (
        zipped(ranked(0, FRAMES + "TypeError: x"), ranked(1, FRAMES + "ConnectionResetError: y")),
        "infrastructure",
        True,
    ),
    "torchrun names the rank": (
        ranked(1, FRAMES + "ValueError: bad reward")
        + ranked(0, FRAMES + "torch.distributed.DistBackendError: NCCL error: remote process exited")
        + ELASTIC.format(root=1, other=0, traceback=TO_ENABLE),
        "unknown",
        False,
    ),
    "torchrun names another rank": (
        ranked(1, FRAMES + "ValueError: bad reward")
        + ranked(0, FRAMES + "torch.distributed.DistBackendError: NCCL error: remote process exited")
        + ELASTIC.format(root=0, other=1, traceback=TO_ENABLE),
        "infrastructure",
        True,
    ),
    "torchrun with the traceback itself": (
        ELASTIC.format(
            root=0,
            other=1,
            traceback='Traceback (most recent call last):\n    File "train.py", line 3, in main\n      load()\n  ImportError: no x',
        ),
        "code",
        False,
    ),
    "torchrun, no rank marked": (
        FRAMES + "AssertionError: loss\n" + ELASTIC.format(root=0, other=1, traceback=TO_ENABLE),
        "assertion",
        True,
    ),
    "torchrun, the cause was killed": (
        ranked(0, FRAMES + "torch.distributed.DistBackendError: NCCL error: remote process exited")
        + ELASTIC.format(root=1, other=0, traceback="Signal 9 (SIGKILL) received by PID 11"),
        "killed",
        False,
    ),
    "torchrun, the watchdog aborted": (
        ABORT + ELASTIC.format(root=1, other=0, traceback="Signal 6 (SIGABRT) received by PID 11"),
        "infrastructure",
        True,
    ),
    "torchrun alone": (ELASTIC.format(root=1, other=0, traceback=TO_ENABLE), "unknown", False),
    "a failed command": (FRAMES + "TypeError: x\n" + COMMAND_FAILED.format(1), "code", False),
    "a failed command with nothing before": (COMMAND_FAILED.format(1), "unknown", False),
    "a killed command": (FRAMES + "TypeError: x\n" + COMMAND_FAILED.format(137), "killed", False),
    "a command killed by a signal": (
        FRAMES + "subprocess.CalledProcessError: Command 'x' died with <Signals.SIGSEGV: 11>.\n",
        "killed",
        False,
    ),
    "a failed command around torchrun": (
        FRAMES
        + "AssertionError: score 1\n"
        + ELASTIC.format(root=0, other=1, traceback=TO_ENABLE)
        + COMMAND_FAILED.format(1),
        "accuracy",
        True,
    ),
    "ray": (
        "\x1b[36m(TrainActor pid=12)\x1b[0m step 3\n"
        + FRAMES
        + "ray.exceptions.RayTaskError(AssertionError): \x1b[36mray::RolloutManager.generate()\x1b[39m (pid=3, ip=10.0.0.5)\n"
        '  File "/repo/rollout.py", line 77, in generate\n    assert reward > 0\nAssertionError: reward 0.1 below 0.3\n',
        "accuracy",
        True,
    ),
    "ray's actors, lines marked": (
        zipped(
            "".join(f"(A pid=1) {line}\n" for line in (FRAMES + "TypeError: x").splitlines()),
            "".join(f"(B pid=2, ip=10.0.0.5) {line}\n" for line in (FRAMES + "OSError: y").splitlines()),
        )
        + COMMAND_FAILED.format(1),
        "unknown",
        False,
    ),
    "spawned processes": (
        FRAMES
        + "torch.multiprocessing.spawn.ProcessRaisedException: \n\n-- Process 1 terminated with the following error:\n"
        + FRAMES
        + "ConnectionAbortedError: x\n\n",
        "infrastructure",
        True,
    ),
    "a group of exceptions": (
        (
            "  + Exception Group Traceback (most recent call last):\n"
            '  |   File "a.py", line 1, in <module>\n  | ExceptionGroup: unhandled errors (1 sub-exception)\n'
            "  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n"
            '    |   File "a.py", line 9, in g\n    |     f()\n    | httpx.ConnectError: All attempts failed\n'
            "    +------------------------------------\n"
        ),
        "infrastructure",
        True,
    ),
    "pytest, one of its failures is a code error": (
        PYTEST.format(second=ATTRIBUTE, summary="AttributeError: 'X' obj..."),
        "code",
        False,
    ),
    "pytest, all of its failures may be tried again": (
        PYTEST.format(second=PLAIN_ASSERT, summary="assert 1 == 2"),
        "accuracy",
        True,
    ),
    "pytest, the command's own output decides": (
        PYTEST.format(second=WRAPPED, summary="subprocess.CalledProcessError: ..."),
        "accuracy",
        True,
    ),
    "pytest, sections lost": (
        PYTEST.format(second=ATTRIBUTE, summary="AttributeError: 'X' obj...").partition("test_a.py:9")[2],
        "code",
        False,
    ),
    "pytest, a dash in a test's name": (
        "= short test summary info =\nFAILED a.py::test[a - b] - ConnectionError: x [1] - 2\n= 1 failed in 0.03s =\n",
        "infrastructure",
        True,
    ),
    "pytest, a summary alone": ("\n1 failed in 0.03s\n", "unknown", False),
    "pytest, collection": (
        (
            "==================================== ERRORS ====================================\n"
            "_____________________ ERROR collecting tests/fast/test_a.py ____________________\n"
            "ImportError while importing test module '/repo/tests/fast/test_a.py'.\nTraceback:\n"
            "tests/fast/test_a.py:1: in <module>\n    import nothing\nE   ModuleNotFoundError: No module named 'nothing'\n"
            "=========================== short test summary info ============================\n"
            "ERROR tests/fast/test_a.py\n"
            "!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!\n"
            "=============================== 1 error in 0.09s ===============================\n"
        ),
        "code",
        False,
    ),
    "pytest-timeout": (
        (
            "=================================== FAILURES ===================================\n"
            "____________________________________ test_a ____________________________________\n"
            ">       time.sleep(9)\nE       Failed: Timeout (>1.0s) from pytest-timeout.\n\ntests/fast/test_a.py:4: Failed\n"
            "=========================== short test summary info ============================\n"
            "FAILED tests/fast/test_a.py::test_a - Failed: Timeout (>1.0s) from pytest-timeout.\n"
            "============================== 1 failed in 1.05s ===============================\n"
        ),
        "timeout",
        True,
    ),
    "pytest passed, the script around it did not": (
        "============================== 3 passed in 1.05s ===============================\n"
        + FRAMES
        + "NameError: x\n",
        "code",
        False,
    ),
    "a script around pytest": (
        PYTEST.format(second=PLAIN_ASSERT, summary="assert 1 == 2") + COMMAND_FAILED.format(1),
        "accuracy",
        True,
    ),
    "unittest, one is a code error": (UNITTEST.format(kind="ERROR", first="NameError: x"), "code", False),
    "unittest, all may be tried again": (
        UNITTEST.format(kind="FAIL", first="AssertionError: 0.5 not greater than 0.8 : accuracy"),
        "accuracy",
        True,
    ),
}


PYTEST_FILE = """
import pytest
from hypothesis import given
from hypothesis import strategies as st
def test_a():
    try: {}["a"]
    except KeyError as error: raise ConnectionResetError("x") from error
@pytest.mark.parametrize("word", ["a - b"])
def test_b(word): assert word == 3
"""
UNITTEST_FILE = """
import unittest
class Test(unittest.TestCase):
    def test_a(self): self.assertGreater(0.1, 0.5, "accuracy")
    def test_b(self):
        with self.subTest(i=1): self.assertEqual(1, 2)
unittest.main()
"""
POOL_FILE = """
import multiprocessing
def fail(_): raise ConnectionError("x")
if __name__ == "__main__":
    with multiprocessing.Pool(1) as pool: pool.map(fail, [1])
"""
CHILDREN = [
    (["-m", "pytest", "--color=yes"], PYTEST_FILE, "infrastructure"),
    (["-m", "pytest", "--tb=native"], PYTEST_FILE, "infrastructure"),
    (["-m", "pytest", "--tb=no", "-q"], PYTEST_FILE, "infrastructure"),
    (["-m", "pytest"], "def f(:\n", "code"),
    ([], UNITTEST_FILE, "accuracy"),
    ([], POOL_FILE, "infrastructure"),
    ([], "def f(:\n", "code"),
]


@pytest.mark.parametrize(("options", "code", "name"), CHILDREN)
def test_real_logs(tmp_path, options, code, name):
    """What the interpreter and the test runners of today really print."""
    file = tmp_path / "test_it.py"
    file.write_text(code)
    done = subprocess.run([sys.executable, *options, file], cwd=tmp_path, check=False, capture_output=True)
    found = failed(last_lines(done.stdout + done.stderr), RETRY)
    assert (done.returncode != 0, found.name) == (True, name), found


def last_lines(log):
    kept = LastLines()
    kept.feed(log if isinstance(log, bytes) else log.encode())
    return kept.lines()


@pytest.mark.parametrize(("log", "name", "retry"), LOGS.values(), ids=LOGS.keys())
def test_logs(log, name, retry):
    """Each log has the class that a person would give it, with the rules of the preset."""
    found = failed(last_lines(log), RETRY)
    assert (found.name, found.retry) == (name, retry), found


@pytest.mark.parametrize(
    ("signal", "log", "name"),
    [
        ("SIGKILL", FRAMES + "AssertionError: logged and handled\n", "killed"),
        ("SIGSEGV", "Fatal Python error: Segmentation fault\n", "killed"),
        ("SIGABRT", ABORT, "infrastructure"),
        ("SIGABRT", "Aborted\n", "killed"),
    ],
)
def test_signals(signal, log, name):
    """A signal is a class of its own, unless a C++ exception that nobody caught tells why."""
    assert failed(last_lines(log), RETRY, signal=signal).name == name


def test_the_message_comes_along():
    """For the report: the exception as logged, one line, cut; of a signal the attempt tells itself."""
    message = failed(last_lines(FRAMES + "KeyError: " + "x" * 9000 + "\nmore"), RETRY).message
    assert message.startswith("KeyError: xxx")
    assert len(message) == 300
    assert failed(last_lines(ABORT), RETRY).message.startswith("c10.DistBackendError: [PG ID 0 Rank 1] Process group")
    assert failed((), RETRY, signal="SIGKILL").message == ""


def test_rules_are_data():
    """The first rule that fits decides; names with part of their module, patterns only on the message."""
    rules = (
        FailureRule("mine", exceptions=("errors.Flaky",), retry=True),
        FailureRule("words", patterns=("^KeyError: 'a", r"\bb\b")),
    )
    retry = Retry(rules={rule.name: rule for rule in rules})
    log = last_lines(FRAMES + "my.errors.Flaky: KeyError: 'a'\n")
    assert failed(log, retry) == FailureClass("mine", retry=True, message="my.errors.Flaky: KeyError: 'a'")
    assert failed(last_lines(FRAMES + "Flaky: b\n"), retry).name == "words"
    assert failed(last_lines(FRAMES + "notmyerrors.Flaky: c\n"), retry).name == "unknown"


def test_timeouts():
    """The rule that claims timeouts names their class; without one they are not tried again."""
    assert timed_out(RETRY) == FailureClass("timeout", retry=True)
    assert timed_out(Retry()) == FailureClass("timeout", retry=False)
    slow = FailureRule("slow", timeouts=True, retry=True)
    assert timed_out(Retry(rules={"slow": slow})) == FailureClass("slow", retry=True)


@pytest.mark.parametrize(("name", "signal"), [("killed", "SIGKILL"), ("unknown", "")])
def test_what_no_rule_fits_can_be_tried_again(name, signal):
    """A rule of that name says so."""
    assert not failed((), Retry(), signal=signal).retry
    assert failed((), Retry(rules={name: FailureRule(name, retry=True)}), signal=signal).retry


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (
            "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 7/8 joined",
            "infrastructure",
        ),
        ("RuntimeError: NCCL error in: ProcessGroupNCCL.cpp:1691, unhandled system error", "infrastructure"),
        ("RuntimeError: [Errno 98] Address already in use", "infrastructure"),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "infrastructure"),
        ("OSError: We couldn't connect to 'https://hub.example' to load the files", "infrastructure"),
        ("OSError: [Errno 113] No route to host", "infrastructure"),
        ("requests.exceptions.HTTPError: 503 Server Error: Service Unavailable for url: x", "infrastructure"),
        ("requests.exceptions.HTTPError: 404 Client Error: Not Found for url: x", "unknown"),
        ("torch.AcceleratorError: CUDA error: uncorrectable ECC error encountered", "infrastructure"),
        ("RuntimeError: CUDA error: device-side assert triggered", "unknown"),
        ("RuntimeError: CUDA error: out of memory", "memory"),
        ("RuntimeError: HIP out of memory. Tried to allocate 2.00 GiB", "memory"),
        ("MemoryError", "memory"),
        ("ray.exceptions.GetTimeoutError: Get timed out: some object(s) not ready", "timeout"),
        ("asyncio.exceptions.TimeoutError", "timeout"),
        ("AttributeError: module 'nccl' has no attribute 'x' (NCCL)", "code"),
        ("AssertionError: the SCORE fell to 0.1", "accuracy"),
        ("AssertionError: scoreboard", "assertion"),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'x'", "unknown"),
    ],
)
def test_the_presets_rules(error, name):
    """What each error is, going by its name and message."""
    assert failed(last_lines(FRAMES + error), RETRY).name == name


WORDS = st.sampled_from(
    ["NCCL", "timeout=300", "bloom", "connection refused", "TypeError: x", "AssertionError", "FAILED a"]
)
NOISE = st.lists(st.text(max_size=40) | WORDS, max_size=30).map(lambda rows: "\n".join(rows) + "\n")


@given(NOISE, st.sampled_from(["KeyError: 1", "TypeError: x", "AssertionError", "ConnectionError: y", "MemoryError"]))
def test_no_word_before_the_end_decides(noise, final):
    """Whatever was printed before, the class is that of the exception at the end alone."""
    alone, after = (failed(last_lines(log), RETRY) for log in (FRAMES + final, noise + FRAMES + final))
    assert alone == after


@given(
    st.lists(
        st.text(max_size=80)
        | WORDS
        | st.sampled_from([*PYTEST.split("\n"), *ELASTIC.split("\n"), *FRAMES.split("\n")]),
        max_size=60,
    )
)
def test_any_log_has_a_class(rows):
    """Never an exception, whatever a test prints."""
    assert failed(rows, RETRY).name in {*RETRY.rules, "killed", "unknown"}

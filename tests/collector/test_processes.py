"""Kill, fork, several processes, several threads: the record stays whole, with no line lost or written twice."""

import json
import os
import signal
import threading
from collections import Counter

from driftgate.collector import Collector

KILLS = 1000

# Logs in children of its own that report each log() that returned through one byte in shared memory; the fork server
# has paid for the interpreter's start, so that a thousand kills fit a unit test.
KILL_LOOP = """
import mmap, os, random, signal, sys, time
from driftgate.collector import Collector

directory, kills = sys.argv[1], int(sys.argv[2])
for _ in range(kills):
    returned = mmap.mmap(-1, 8)
    pid = os.fork()
    if pid == 0:
        collector = Collector(directory, ["m", "n"])
        step = 0
        while True:
            collector.log({"m": step + 0.5, "n": "no number"}, step=step)
            step += 1
            returned[:] = step.to_bytes(8, "little")
    while returned[:] == bytes(8):
        time.sleep(0.0001)
    time.sleep(random.uniform(0, 0.003))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    print(pid, int.from_bytes(returned, "little"), flush=True)
"""


def _points(lines):
    return Counter((step, value) for line in lines for step, value in line["series"])


def test_sigkill_in_mid_write_tears_at_most_the_last_line(start_child, records):
    """Killed at a random moment, a file holds every log() that had returned, and at most one torn last line."""
    child = start_child(f"import sys; sys.argv = ['-', {str(records)!r}, '{KILLS}']\n{KILL_LOOP}")
    out, err = child.communicate()
    assert child.returncode == 0, err
    returned = {int(pid): int(count) for pid, count in map(str.split, out.splitlines())}
    files = {int(path.name.split("-")[0]): path for path in records.iterdir()}
    assert len(files) == KILLS
    assert files.keys() == returned.keys()
    for pid, path in files.items():
        _assert_complete(path.read_bytes(), returned[pid])


def _assert_complete(content, returned):
    *lines, torn = content.split(b"\n")
    parsed = [json.loads(line) for line in lines]
    values = [line["series"][0] for line in parsed if "series" in line]
    defects = [line["step"] for line in parsed if "defect" in line]
    assert values == [[step, step + 0.5] for step in range(len(values))]
    assert defects == list(range(len(defects)))
    assert min(len(values), len(defects)) >= returned
    assert b'{"metric": '.startswith(torn[:11])


def test_after_a_fork_the_child_writes_a_file_of_its_own(start_child, read_files):
    """Parent and child go on with the default collector: two files named by their pids, no line in both."""
    child = start_child(
        "import driftgate, os\n"
        "driftgate.log({'m': 1}, step=0)\n"
        "pid = os.fork()\n"
        "driftgate.log({'m': 2 if pid else 3}, step=1)\n"
        "driftgate.log({'m': 2 if pid else 3}, step=2)\n"
        "if pid: os.waitpid(pid, 0); print(os.getpid(), pid)\n"
    )
    out, err = child.communicate()
    assert err == ""
    parent, forked = out.split()
    by_pid = {name.split("-")[0]: _points(lines) for name, lines in read_files().items()}
    assert by_pid == {
        parent: Counter({(0, 1): 1, (1, 2): 1, (2, 2): 1}),
        forked: Counter({(1, 3): 1, (2, 3): 1}),
    }


def test_a_fork_while_threads_log_neither_blocks_nor_repeats(start_child, read_files):
    """The child of a process whose threads hold the collector's lock can log at once; each point exists once."""
    child = start_child(
        "import driftgate, os, threading\n"
        "stop = threading.Event()\n"
        "def work(base):\n"
        "    step = base\n"
        "    while not stop.is_set() and step < base + 100_000:\n"
        "        driftgate.log({'m': os.getpid()}, step=step); step += 1\n"
        "threads = [threading.Thread(target=work, args=(i * 1_000_000,)) for i in range(4)]\n"
        "[t.start() for t in threads]\n"
        "for i in range(40):\n"
        "    pid = os.fork()\n"
        "    if not pid:\n"
        "        driftgate.log({'m': os.getpid()}, step=i); driftgate.log({'m': os.getpid()}, step=i + 1); os._exit(0)\n"
        "    assert os.waitpid(pid, 0)[1] == 0\n"
        "stop.set(); [t.join() for t in threads]\n",
        PYTHONWARNINGS="ignore",
    )
    _, err = child.communicate(timeout=30)
    assert (child.returncode, err) == (0, "")
    files = read_files()
    assert len(files) == 41
    for name, lines in files.items():
        points = _points(lines)
        assert {value for _, value in points} == {int(name.split("-")[0])}
        assert set(points.values()) == {1}


def test_two_processes_share_a_directory_and_no_file(start_child, read_files):
    """Concurrent processes of one attempt each own a file, complete on its own."""
    code = "import driftgate\nfor step in range(500): driftgate.log({'m': step}, step=step)"
    children = [start_child(code), start_child(code)]
    assert [child.communicate()[1] for child in children] == ["", ""]
    files = read_files()
    assert {int(name.split("-")[0]) for name in files} == {child.pid for child in children}
    for lines in files.values():
        assert [line["series"] for line in lines] == [[[step, step]] for step in range(500)]


def test_two_collectors_of_one_process_own_a_file_each(make_collector, read_files):
    """Each instance owns one file, even within one process."""
    for value in (1, 2):
        make_collector().log({"m": value}, step=0)
    assert sorted(lines[0]["series"][0][1] for lines in read_files().values()) == [1, 2]


def test_threads_share_one_collector(make_collector, read_lines):
    """Eight threads, the first call included: one file, whole lines, each point once."""
    collector = make_collector()
    start = threading.Barrier(8)

    def work(base):
        start.wait()
        for step in range(base, base + 500):
            collector.log({"m": step, "n": step}, step=step)

    threads = [threading.Thread(target=work, args=(base * 1000,)) for base in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    points = Counter((line["metric"], *line["series"][0]) for line in read_lines())
    assert points == Counter(
        (m, s, s) for base in range(8) for s in range(base * 1000, base * 1000 + 500) for m in "mn"
    )


def test_finishing_while_threads_log_loses_nothing(make_collector, read_lines):
    """A descriptor is never closed under a write: every point logged around finish() is in the one file."""
    collector = make_collector()
    done = threading.Event()

    def finish_again_and_again():
        while not done.is_set():
            collector.finish()

    closer = threading.Thread(target=finish_again_and_again)
    closer.start()
    for step in range(2000):
        collector.log({"m": step}, step=step)
    done.set()
    closer.join()
    assert [line["series"][0][0] for line in read_lines()] == list(range(2000))


def test_a_signal_handler_may_log(make_collector, read_lines):
    """A handler that logs while log() is at work neither deadlocks nor tears a line."""
    collector = make_collector()
    handled = []

    def handler(signum, frame):
        handled.append(1)
        collector.log({"n": 1}, step=len(handled))

    collector.log({"m": 0}, step=0)
    previous = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        for step in range(1, 20_000):
            collector.log({"m": step}, step=step)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    assert handled
    counts = Counter(line["metric"] for line in read_lines())
    assert counts == {"m": 20_000, "n": len(handled)}


def test_cost_does_not_grow_with_what_was_logged(make_collector, monkeypatch):
    """Each log() is exactly one write of the same size, and opens nothing after the first."""
    writes, opens = [], []
    real_write, real_open = os.write, os.open
    monkeypatch.setattr(
        "driftgate.collector.os.write", lambda fd, data: writes.append(len(data)) or real_write(fd, data)
    )
    monkeypatch.setattr("driftgate.collector.os.open", lambda *args: opens.append(args) or real_open(*args))
    collector = make_collector()
    for _ in range(3000):
        collector.log({"m": 0.25, "n": 2}, step=7)
    assert len(writes) == 3000
    assert len(set(writes)) == 1
    assert len(opens) == 1


def test_the_default_collector_follows_the_environment_of_its_first_use(records, monkeypatch, read_lines):
    """driftgate.log makes one collector at the first call and keeps it."""
    from driftgate import collector

    collector._default.cache_clear()
    monkeypatch.setenv("DRIFTGATE_RECORD_DIR", str(records))
    monkeypatch.setenv("DRIFTGATE_METRICS", '["m"]')
    try:
        collector.log({"m": 1.0}, step=0)
        monkeypatch.delenv("DRIFTGATE_RECORD_DIR")
        collector.log({"m": 2.0}, step=1)
        collector._default().finish()
    finally:
        collector._default.cache_clear()
    assert len(read_lines()) == 2
    assert isinstance(collector._default(), Collector)
    collector._default.cache_clear()

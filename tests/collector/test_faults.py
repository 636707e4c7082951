"""I/O that fails: one warning with path and errno, collecting off for the process, training untouched."""

import errno
import os
import shutil
import sys
from pathlib import Path

import pytest

from driftgate.collector import Collector


def _assert_one_warning(err, path, number):
    lines = err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("driftgate: warning: ")
    assert str(path) in lines[0]
    assert f"[Errno {number}]" in lines[0]


def _log_often(collector):
    for step in range(3):
        collector.log({"m": 1.0}, step=step)
    collector.finish()


@pytest.mark.parametrize("when", ["before the first log", "between two logs"])
def test_a_removed_directory_is_one_warning(make_collector, records, capsys, when):
    """Also in mid-run, where the unlinked file would still take every write without an error."""
    collector = make_collector()
    if when == "between two logs":
        collector.log({"m": 1.0}, step=0)
    shutil.rmtree(records)
    _log_often(collector)
    _assert_one_warning(capsys.readouterr().err, records, errno.ENOENT)
    assert not records.exists()


def test_a_path_that_is_a_file_is_one_warning(tmp_path, capsys):
    """A record directory that is no directory behaves like one that is gone."""
    path = tmp_path / "file"
    path.write_text("")
    _log_often(Collector(str(path), ["m"]))
    _assert_one_warning(capsys.readouterr().err, path, errno.ENOTDIR)


def test_an_impossible_path_is_one_warning(capsys):
    """A path the operating system cannot even be asked about is not an exception either."""
    _log_often(Collector("/nul\0byte", ["m"]))
    assert capsys.readouterr().err.count("driftgate: warning: ") == 1


def test_a_directory_without_permission_is_one_warning(start_child, records):
    """A read-only directory, as the unprivileged user that training runs as."""
    records.chmod(0o555)
    child = start_child(
        "import os, driftgate.collector as c\n"
        "collector = c.Collector.from_env()\n"
        "if os.getuid() == 0: os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
        "for step in range(3): collector.log({'m': 1.0}, step=step)\n"
        "print('trained')"
    )
    out, err = child.communicate()
    assert (child.returncode, out) == (0, "trained\n")
    _assert_one_warning(err, records, errno.EACCES)


@pytest.mark.parametrize(
    "number", [errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EPERM, errno.ESTALE], ids=errno.errorcode.get
)
def test_a_failing_write_is_one_warning_and_no_retry(make_collector, records, capsys, monkeypatch, number):
    """After the first failure the collector issues no further write."""
    calls = []

    def refuse(descriptor, data):
        calls.append(data)
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("driftgate.collector.os.write", refuse)
    _log_often(make_collector())
    monkeypatch.undo()
    _assert_one_warning(capsys.readouterr().err, records, number)
    assert len(calls) == 1


def test_a_short_write_is_one_warning_and_tears_only_the_last_line(make_collector, records, capsys, monkeypatch):
    """What fitted stays; nothing is appended behind the torn line."""
    real_write = os.write
    collector = make_collector()
    collector.log({"m": 0.5}, step=0)
    monkeypatch.setattr("driftgate.collector.os.write", lambda fd, data: real_write(fd, data[:10]))
    _log_often(collector)
    monkeypatch.undo()
    _assert_one_warning(capsys.readouterr().err, records, errno.EIO)
    (path,) = records.iterdir()
    assert path.read_text() == '{"metric": "m", "series": [[0, 0.5]]}\n{"metric":'


def test_a_full_disk_stops_collecting_and_not_training(start_child, records):
    """The kernel itself cuts the file at a size limit: a whole record up to there, one warning, exit 0."""
    child = start_child(
        "import resource, driftgate\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "for step in range(100): driftgate.log({'m': 0.5}, step=step)\n"
        "print('trained')"
    )
    out, err = child.communicate()
    assert (child.returncode, out) == (0, "trained\n")
    assert err.count("driftgate: warning: ") == 1
    (path,) = records.iterdir()
    assert path.stat().st_size == 1000
    assert path.read_text().splitlines()[24] == '{"metric": "m", "series": [[24, 0.5]]}'


def test_after_a_failure_a_forked_child_tries_again(start_child, records, tmp_path):
    """Off means off for the process: the child's own file is its own attempt."""
    aside = tmp_path / "aside"
    child = start_child(
        "import driftgate, os\n"
        f"os.rename({str(records)!r}, {str(aside)!r})\n"
        "driftgate.log({'m': 1}, step=0)\n"
        f"os.rename({str(aside)!r}, {str(records)!r})\n"
        "driftgate.log({'m': 2}, step=1)\n"
        "pid = os.fork()\n"
        "if pid: os.waitpid(pid, 0); print(pid)\n"
        "else: driftgate.log({'m': 3}, step=2)\n"
    )
    out, err = child.communicate()
    assert err.count("driftgate: warning: ") == 1
    (path,) = records.iterdir()
    assert path.name.startswith(out.strip() + "-")
    assert path.read_text() == '{"metric": "m", "series": [[2, 3]]}\n'


def test_a_descriptor_taken_over_by_training_is_never_written_to(make_collector, records, tmp_path, capsys):
    """Training that closes all descriptors and opens a checkpoint under our number must not find our lines in it."""
    collector = make_collector()
    collector.log({"m": 1.0}, step=0)
    (record,) = records.iterdir()
    checkpoint = tmp_path / "checkpoint"
    descriptor = os.open(checkpoint, os.O_WRONLY | os.O_CREAT)
    ours = next(fd for fd in range(3, 256) if _is_open_on(fd, record))
    os.dup2(descriptor, ours)
    _log_often(collector)
    os.write(ours, b"weights")
    os.close(ours)
    os.close(descriptor)
    _assert_one_warning(capsys.readouterr().err, records, errno.EBADF)
    assert checkpoint.read_bytes() == b"weights"


def _is_open_on(descriptor, path):
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


def test_warnings_turned_into_errors_do_not_reach_training(start_child, records):
    """Python's -W error, a favourite of careful test suites, must not turn a warning of ours into a crash."""
    child = start_child(
        "import warnings, driftgate\n"
        "warnings.simplefilter('error')\n"
        "driftgate.log({'m': None}, step=0)\n"
        "print('trained')"
    )
    out, err = child.communicate()
    assert out == "trained\n"
    assert err.count("driftgate: warning: ") == 1


@pytest.mark.parametrize("stream", [None, "closed"])
def test_a_missing_standard_error_harms_nothing(make_collector, read_lines, tmp_path, monkeypatch, stream):
    """Daemons have no standard error: the defect is written all the same."""
    broken = Path(tmp_path / "stream").open("w")  # noqa: SIM115 - closed on the next line, on purpose
    broken.close()
    monkeypatch.setattr(sys, "stderr", broken if stream else None)
    make_collector().log({"m": None}, step=0)
    monkeypatch.undo()
    assert read_lines()[0]["defect"] == "expected a number, got NoneType"

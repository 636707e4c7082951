"""What every collector test needs: a record directory, and a reader that accepts strict JSON only."""

import contextlib
import json
import os
import signal
import subprocess
import sys

import pytest

from driftgate.collector import Collector


def _refuse(constant):
    raise AssertionError(f"not strict JSON: {constant}")


def parse_line(line):
    return json.loads(line, parse_constant=_refuse)


@pytest.fixture
def records(tmp_path):
    directory = tmp_path / "attempt-1"
    directory.mkdir()
    return directory


@pytest.fixture
def read_files(records):
    """File name → its parsed lines; every byte of every file must be whole lines of strict JSON."""

    def read():
        texts = {path.name: path.read_bytes() for path in sorted(records.iterdir())}
        assert all(text.endswith(b"\n") for text in texts.values())
        return {name: [parse_line(line) for line in text.splitlines()] for name, text in texts.items()}

    return read


@pytest.fixture
def read_lines(read_files):
    """All lines of the one file that must exist."""

    def read():
        (lines,) = read_files().values()
        return lines

    return read


@pytest.fixture
def make_collector(records):
    """A collector on the record directory, made from an environment with the given extra variables."""
    made = []

    def make(metrics=("m", "n"), **extra):
        made.append(
            Collector.from_env({"DRIFTGATE_RECORD_DIR": str(records), "DRIFTGATE_METRICS": json.dumps(metrics)} | extra)
        )
        return made[-1]

    yield make
    for collector in made:
        collector.finish()


@pytest.fixture
def start_child(records):
    """Starts ``python -c code`` that collects metric ``m``; it and its forks are killed at the end."""
    children = []

    def start(code, **extra):
        env = os.environ | {"DRIFTGATE_RECORD_DIR": str(records), "DRIFTGATE_METRICS": '["m"]'} | extra
        child = subprocess.Popen(
            [sys.executable, "-c", code],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        children.append(child)
        return child

    yield start
    for child in children:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()

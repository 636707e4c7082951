"""The reports that the jobs of a pipeline left, read as data: whatever is wrong with one is told, never dropped."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import orjson

from driftgate.harness.report_json import read_run
from driftgate.harness.reported import ReportedRun
from driftgate.harness.run_markdown import Detail, told
from driftgate.harness.run_report import verdict_text
from gate.errors import DriftgateError
from gate.identity import SeriesIdentity
from gate.outline import headline

LARGEST_BYTES = 256 << 20

ProblemKind = Literal[
    "missing", "no_files", "damaged", "duplicate", "rerun", "expected", "same_test", "differs", "fork"
]


@dataclass(frozen=True, slots=True)
class ReportProblem:
    """Something about the reports themselves. ``file`` is as it was named, empty where it is about all of them."""

    kind: ProblemKind
    file: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class ShardReport:
    """One job's report. ``superseded`` names the report of a later attempt of the same job."""

    file: str
    run: ReportedRun
    superseded: str | None = None

    @property
    def planned(self) -> frozenset[SeriesIdentity]:
        return frozenset((*(test.identity for test in self.run.tests), *self.run.not_run))


@dataclass(slots=True)
class _Reading:
    shards: list[ShardReport] = field(default_factory=list)
    problems: list[ReportProblem] = field(default_factory=list)
    names_by_content: dict[bytes, str] = field(default_factory=dict)


def read_shards(paths: Sequence[Path]) -> tuple[tuple[ShardReport, ...], tuple[ReportProblem, ...]]:
    """Every report among the paths once, sorted by name; a folder stands for the ``*.json`` files below it."""
    reading = _Reading()
    for path in sorted(dict.fromkeys(_files(paths, reading))):
        _read(path, reading)
    return tuple(reading.shards), tuple(reading.problems)


def _files(paths: Iterable[Path], reading: _Reading) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        found = [file for file in path.rglob("*.json") if file.is_file()]
        if not found:
            reading.problems.append(ReportProblem("no_files", str(path), "the folder holds no report (*.json)"))
        yield from found


def _read(path: Path, reading: _Reading) -> None:
    name = str(path)
    try:
        content = _content(path)
    except OSError as error:
        reading.problems.append(ReportProblem("missing", name, f"the report cannot be read: {error.strerror}"))
        return
    try:
        digest = hashlib.sha256(content).digest()
        if digest in reading.names_by_content:
            same = reading.names_by_content[digest]
            reading.problems.append(ReportProblem("duplicate", name, f"the same report as {same}; counted once"))
            return
        reading.shards.append(ShardReport(name, _tellable(_parsed(content))))
        reading.names_by_content[digest] = name
    except DriftgateError as error:
        reading.problems.append(ReportProblem("damaged", name, f"the report {error}"))


def _content(path: Path) -> bytes:
    if path.exists() and not path.is_file():
        raise OSError(0, "it is no regular file")
    with path.open("rb") as file:
        return file.read(LARGEST_BYTES + 1)


def _parsed(content: bytes) -> ReportedRun:
    if len(content) > LARGEST_BYTES:
        raise DriftgateError(f"is larger than {LARGEST_BYTES >> 20} MiB")
    if not content.strip():
        raise DriftgateError("is empty: its job ended before it was written")
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise DriftgateError(f"is no JSON: {error}") from error
    return read_run(document)


def _tellable(run: ReportedRun) -> ReportedRun:
    """The run, if every report on it can be written: a file that cannot be told must not keep others from it."""
    try:
        list(told(run.tests, run.not_run, run.skipped, Detail()))
        for test in run.tests:
            verdict_text(test.verdict)
            headline(test.verdict)
    except Exception as error:
        raise DriftgateError(f"is no report of driftgate run: {type(error).__name__} {error}") from error
    return run

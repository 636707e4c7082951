"""Several jobs' reports as one: which tests count, and where the reports do not fit together."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from driftgate.harness.outcome import JobExit, combined
from driftgate.harness.reported import ReportedRun, ReportedSkip, ReportedTest, counts
from driftgate.harness.run_markdown import result_word
from driftgate.harness.shard_files import ReportProblem, ShardReport, read_shards
from gate.identity import SeriesIdentity

LOST = ("missing", "no_files", "damaged", "expected")
"""Kinds of problems with which some result is not known."""
HARMLESS = ("duplicate", "rerun")
"""Kinds that change nothing about the results."""
_SHARD = re.compile(r"([0-9]{1,4})/([0-9]{1,4})")
_COMMON: dict[str, Callable[[ReportedRun], object]] = {
    "cadence": lambda run: run.cadence,
    "commit": lambda run: run.provenance.commit_sha,
    "CI run": lambda run: run.provenance.ci_run_id,
}
"""What all jobs of one pipeline have in common."""


@dataclass(frozen=True, slots=True, eq=False)
class CiReport:
    """``shards`` are all that could be read, in the order of their names; only those not superseded count."""

    title: str | None
    shards: tuple[ShardReport, ...]
    problems: tuple[ReportProblem, ...]

    @property
    def counting(self) -> tuple[ShardReport, ...]:
        return tuple(shard for shard in self.shards if shard.superseded is None)

    @property
    def tests(self) -> tuple[ReportedTest, ...]:
        return tuple(test for shard in self.counting for test in shard.run.tests)

    @property
    def not_run(self) -> tuple[SeriesIdentity, ...]:
        return tuple(identity for shard in self.counting for identity in shard.run.not_run)

    @property
    def skipped(self) -> tuple[ReportedSkip, ...]:
        """Each once: a shard tells of all that its suite skips."""
        return tuple(dict.fromkeys(skipped for shard in self.counting for skipped in shard.run.skipped))

    @property
    def fork(self) -> bool:
        return any(shard.run.fork for shard in self.counting)

    @property
    def complete(self) -> bool:
        """Whether every result is known, as far as anybody said how many there are."""
        return not any(problem.kind in LOST for problem in self.problems)

    @property
    def headline(self) -> str:
        """``INCOMPLETE, 1 failed, 12 passed``: green is never said where a result is not known."""
        interrupted = any(shard.run.interrupted for shard in self.counting)
        told = ("" if self.complete else "INCOMPLETE, ", "interrupted, " if interrupted else "", counts(self.tests))
        return "".join(told)

    @property
    def exit(self) -> JobExit:
        """As of one run; a report that is lost is worth UNAVAILABLE."""
        lost = [] if self.complete else [JobExit.UNAVAILABLE]
        return combined([*(shard.run.exit for shard in self.counting), *lost])


def merged(paths: Sequence[Path], *, expect: int | None = None, title: str | None = None) -> CiReport:
    """The reports in these files and folders. ``expect``: how many jobs were to leave one; of 0 none is missing."""
    read, problems = read_shards(paths)
    if expect == 0:
        problems = tuple(problem for problem in problems if problem.kind != "missing")
    shards = tuple(_superseded(shard, read) for shard in read)
    counting = [shard for shard in shards if shard.superseded is None]
    if len(counting) == expect:  # then nobody was to leave anything in an empty folder
        problems = tuple(problem for problem in problems if problem.kind != "no_files")
    found = (*problems, *_absent(counting, expect), *_same_tests(counting), *_differing(counting), *_reruns(shards))
    return CiReport(title, shards, found)


def _superseded(shard: ShardReport, shards: Sequence[ShardReport]) -> ShardReport:
    """By the newest report of the same job: the same CI run, shard and tests, and a later attempt."""
    later = [other for other in shards if _is_later(other, shard)]
    if not later:
        return shard
    newest = max(later, key=lambda other: other.run.provenance.ci_run_attempt or 0)
    return replace(shard, superseded=newest.file)


def _is_later(other: ShardReport, shard: ShardReport) -> bool:
    now, then = other.run.provenance, shard.run.provenance
    if now.ci_run_id is None or (now.ci_run_id, now.shard) != (then.ci_run_id, then.shard):
        return False
    return (now.ci_run_attempt or 0) > (then.ci_run_attempt or 0) and other.planned == shard.planned


def _absent(counting: Sequence[ShardReport], expect: int | None) -> Iterator[ReportProblem]:
    if expect is not None and len(counting) != expect:
        text = f"{expect} reports were expected, {len(counting)} can be counted"
        yield ReportProblem("expected" if len(counting) < expect else "differs", "", text)
    elif not counting and expect is None:
        yield ReportProblem("expected", "", "there is no report: no result is known")
    for suite, (count, present) in sorted(_present_shards(counting).items()):
        absent = [f"{index}/{count}" for index in range(count) if index not in present]
        if absent:
            yield ReportProblem("expected", "", f"suite {suite}: no report of shard {', '.join(absent[:20])}")


def _present_shards(counting: Sequence[ShardReport]) -> dict[str, tuple[int, set[int]]]:
    """Of each suite that ran in shards, into how many it was split and which are there; an empty one may be of any."""
    empty: dict[int, set[int]] = defaultdict(set)
    present: dict[str, tuple[int, set[int]]] = {}
    for shard in counting:
        found = _SHARD.fullmatch(f"{shard.run.provenance.shard}")
        if found is None:
            continue
        index, count = int(found[1]), int(found[2])
        for suite in {identity.suite for identity in shard.planned}:
            present.setdefault(suite, (count, set()))[1].add(index)
        if not shard.planned:
            empty[count].add(index)
    return {suite: (count, indices | empty[count]) for suite, (count, indices) in present.items()}


def _same_tests(counting: Sequence[ShardReport]) -> Iterator[ReportProblem]:
    files: dict[SeriesIdentity, list[str]] = defaultdict(list)
    for shard in counting:
        for test in shard.run.tests:
            files[test.identity].append(shard.file)
    for identity, names in sorted(files.items()):
        if len(names) > 1:
            text = f"{identity.test_path} in {identity.suite} ran in {len(names)} reports: {', '.join(names)}"
            yield ReportProblem("same_test", "", f"{text}; each is shown")


def _differing(counting: Sequence[ShardReport]) -> Iterator[ReportProblem]:
    """Reports of another pipeline, or a checkout that moved between two jobs."""
    for name, fact in _COMMON.items():
        files: dict[str, list[str]] = defaultdict(list)
        for shard in counting:
            if (value := fact(shard.run)) is not None:
                files[f"{value}"].append(shard.file)
        if len(files) > 1:
            told = "; ".join(f"{value} in {', '.join(names)}" for value, names in sorted(files.items()))
            yield ReportProblem("differs", "", f"the reports are not of one {name}: {told}")
    forks = [shard.file for shard in counting if shard.run.fork]
    if forks and len(forks) < len(counting):
        yield ReportProblem("fork", "", f"only some reports come from a fork: {', '.join(forks)}")


def _reruns(shards: Sequence[ShardReport]) -> Iterator[ReportProblem]:
    """What a later attempt of a job replaces, and what was red in it."""
    for shard in shards:
        if shard.superseded is None:
            continue
        red = [f"{test.identity.test_path} {result_word(test)}" for test in shard.run.tests if test.severity > 1]
        then = f"; it had {', '.join(red)}" if red else ""
        attempt = shard.run.provenance.ci_run_attempt
        yield ReportProblem(
            "rerun", shard.file, f"attempt {attempt} of its job; the later {shard.superseded} counts{then}"
        )

"""Which exceptions ended an attempt, by the end of its log. Pure; standard library only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from signal import Signals

from driftgate.harness.runner_reports import FailedTest, RunnerReport, runner_report
from driftgate.harness.tracebacks import Raised, plain_lines, tracebacks

_ROOT_RANK = re.compile(r"Root Cause.*?^ *rank +: (\d+)", re.DOTALL | re.MULTILINE)
_KILLED = re.compile(r"Signal \d+ \((SIG[A-Z0-9]+)\)|died with <Signals\.(SIG[A-Z0-9]+)")
_SHELL_STATUS = re.compile(r"exit (?:status|code) (\d{3})\b")
_SHELL_SIGNALS = 128
_ABORT = "SIGABRT"


@dataclass(frozen=True, slots=True)
class Final:
    """What ended an attempt: one exception, one for each failed test, or none; or the signal that killed a process."""

    raised: tuple[Raised, ...] = ()
    signal: str = ""


def final_failures(last_lines: Sequence[str], wrappers: Sequence[str]) -> Final:
    """The last exception decides; where a test runner reports last, the last one of each failed test.

    ``wrappers`` are exceptions which only tell that another process failed: the last exception before them decides,
    of the rank that torchrun holds for the cause where it names one, or the signal that killed that process.
    """
    lines = plain_lines(last_lines)
    log = _Log(tracebacks(lines), tuple(wrappers))
    report = runner_report(lines, log.raised)
    if report is not None and not any(found.line > report.last for found in log.raised):
        return _of_report(report, log)
    if not log.raised:
        return Final()
    last = log.raised[-1]
    if report is not None and log.wraps(last) and not any(report.last < f.line < last.line for f in log.raised):
        return _of_report(report, log)
    return log.behind(last)


def is_named(name: str, wanted: Sequence[str]) -> bool:
    """Whether the exception is one of the wanted: each with its module, part of it, or none."""
    return any(name == entry or name.endswith(f".{entry}") for entry in wanted)


@dataclass(frozen=True, slots=True)
class _Log:
    """The exceptions of a log in the order of their ends."""

    raised: list[Raised]
    wrappers: tuple[str, ...]

    def wraps(self, found: Raised) -> bool:
        return is_named(found.name, self.wrappers)

    def behind(self, last: Raised, first: int = 0, after: int | None = None) -> Final:
        """``last`` itself, or what it wraps, looked for in the lines from ``first`` and before ``after``."""
        if not self.wraps(last):
            return Final((last,))
        end = last.line if after is None else after
        causes = [found for found in self.raised if first <= found.line < end and not self.wraps(found)]
        rank = _ROOT_RANK.search(last.message)
        killer = _signal_in(last.message)
        if killer:
            aborted = [found for found in causes if found.native and killer == _ABORT]
            return Final((aborted[0],)) if aborted else Final(signal=killer)
        of_root = [found for found in causes if rank and found.rank == int(rank[1])]
        chosen = (of_root or causes or [last])[-1]
        return Final((chosen,))


def _of_report(report: RunnerReport, log: _Log) -> Final:
    finals = [_of_test(test, report, log) for test in report.failed]
    raised = tuple(found for final in finals for found in final.raised)
    return Final(raised, next((final.signal for final in finals if final.signal), ""))


def _of_test(test: FailedTest, report: RunnerReport, log: _Log) -> Final:
    """What a test's wrapper hides is in the output captured with it, else in what was shown before the report."""
    if not log.wraps(test.raised):
        return Final((test.raised,))
    shown = [found for found in log.raised if test.first <= found.line < test.after and not log.wraps(found)]
    return log.behind(test.raised, test.first, test.after) if shown else log.behind(test.raised, 0, report.first)


def _signal_in(text: str) -> str:
    """The signal that killed the process which a wrapper tells of; shells give its number with 128 added."""
    _, mark, root = text.partition("Root Cause")
    told = root if mark else text
    if found := _KILLED.search(told):
        return found[1] or found[2]
    if status := _SHELL_STATUS.search(told):
        numbers = {int(number) for number in Signals}
        number = int(status[1]) - _SHELL_SIGNALS
        return Signals(number).name if number in numbers else ""
    return ""

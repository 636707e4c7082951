"""The class of an attempt that failed, and whether another attempt may help. Pure; standard library only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from driftgate.config.model import KILLED, TIMEOUT, UNKNOWN, FailureRule, Retry
from driftgate.harness.final_failures import Final, final_failures, is_named
from driftgate.harness.tracebacks import Raised

_LONGEST_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class FailureClass:
    """``name`` of the rule, or one of `BUILT_IN_CLASSES`; ``retry``: another attempt may help.

    ``message`` is the exception's line as the test wrote it, cut where it is long; empty where the log shows none.
    """

    name: str
    retry: bool
    message: str = ""


def timed_out(retry: Retry) -> FailureClass:
    """The class of an attempt that ran out of time."""
    rule = next((rule for rule in retry.rules.values() if rule.timeouts), None)
    return _built_in(TIMEOUT, retry) if rule is None else FailureClass(rule.name, rule.retry)


def failed(last_lines: Sequence[str], retry: Retry, *, signal: str = "") -> FailureClass:
    """The class of an attempt that ended by itself, or by ``signal``, with these last lines of output.

    Of several failed tests the first that is not to be tried again decides, else the first.
    """
    final = final_failures(last_lines, retry.wrappers)
    if signal and not _aborted_by(final):
        return _built_in(KILLED, retry)
    found = [_by_rules(raised, retry) for raised in final.raised]
    if final.signal:
        found.append(_built_in(KILLED, retry, f"killed by {final.signal}"))
    decisive = [one for one in found if not one.retry] or found
    return decisive[0] if decisive else _built_in(UNKNOWN, retry)


def _aborted_by(final: Final) -> bool:
    """A C++ exception that nobody caught ends a process by a signal, but is the cause."""
    return any(raised.native for raised in final.raised)


def _by_rules(raised: Raised, retry: Retry) -> FailureClass:
    rows = raised.message.split("\n")
    message = next((row for row in rows if row.startswith(raised.name)), rows[0])[:_LONGEST_MESSAGE]
    for rule in retry.rules.values():
        if _matches(rule, raised, retry.wrappers):
            return FailureClass(rule.name, rule.retry, message)
    return _built_in(UNKNOWN, retry, message)


def _matches(rule: FailureRule, raised: Raised, wrappers: Sequence[str]) -> bool:
    """A wrapper's message is the command that failed, whose words say nothing."""
    if is_named(raised.name, rule.exceptions):
        return True
    return not is_named(raised.name, wrappers) and any(re.search(words, raised.message) for words in rule.patterns)


def _built_in(name: str, retry: Retry, message: str = "") -> FailureClass:
    """A rule of that name says whether it is tried again."""
    rule = retry.rules.get(name)
    return FailureClass(name, rule is not None and rule.retry, message)

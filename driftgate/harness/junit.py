"""JUnit XML: what CI services show as test results. A test file is a test case, and so is the gate's word on it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from driftgate.harness.outcome import JobExit
from driftgate.harness.reported import ReportedRun, ReportedTest, reported
from driftgate.harness.run import RunResult
from driftgate.harness.run_report import verdict_text
from gate.evaluate import NO_DECLARATION
from gate.identity import SeriesIdentity
from gate.outline import NOT_EVIDENCE, headline
from gate.verdict import Verdict

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to hold."""


@dataclass(frozen=True, slots=True)
class _Case:
    """``kind`` is the element that says how it ended: ``failure``, ``error``, ``skipped``, None where it passed."""

    identity: SeriesIdentity
    name: str
    seconds: float = 0.0
    kind: str | None = None
    what: str = ""
    message: str = ""
    output: str = ""
    properties: tuple[tuple[str, str], ...] = ()


def junit_xml(result: RunResult) -> bytes:
    """A test suite for each suite, a test case for each test and one for each verdict of the gate."""
    return junit_of([reported(result)])


def junit_of(runs: Sequence[ReportedRun]) -> bytes:
    """The same of several runs in one document."""
    cases = [case for run in runs for case in _cases(run)]
    return _document(cases, fork=any(run.fork for run in runs))


def verdict_junit(verdict: Verdict, code: JobExit) -> bytes:
    """The one verdict of the post-test hook; ``code`` is what it means for the job."""
    return _document([_verdict_case(verdict, code)], fork=verdict.provenance.fork is True)


def _cases(run: ReportedRun) -> Iterable[_Case]:
    for test in run.tests:
        yield _test_case(test)
        if test.passed and test.verdict.reason != NO_DECLARATION:
            yield _verdict_case(test.verdict, test.exit)
    for identity in run.not_run:
        yield _skipped(identity, "not run: an earlier test ended the run")
    for skipped in run.skipped:
        yield _skipped(skipped.identity, skipped.reason)


def _skipped(identity: SeriesIdentity, reason: str) -> _Case:
    return _Case(identity, identity.test_path, kind="skipped", message=reason)


def _test_case(test: ReportedTest) -> _Case:
    last = test.last
    kind = None if test.passed else "error" if test.interrupted else "failure"
    facts = [("gate", headline(test.verdict)), ("attempts", f"{len(test.attempts)}")]
    facts += [(f"attempt {attempt.number}", attempt.told) for attempt in test.attempts[:-1]]
    return _Case(
        identity=test.identity,
        name=test.identity.test_path,
        seconds=test.duration_s,
        kind=kind,
        what=last.failure or last.attempt_class,
        message=last.told,
        output="\n".join(last.last_lines),
        properties=tuple(facts),
    )


def _verdict_case(verdict: Verdict, code: JobExit) -> _Case:
    """Red only where the job is: in shadow a verdict that is not TRUSTED is shown as skipped, with its words."""
    kinds = {JobExit.REJECTED: "failure", JobExit.UNAVAILABLE: "error", JobExit.UNUSABLE: "error"}
    kind = kinds.get(code, None if verdict.trusted else "skipped")
    message = headline(verdict) if code is not JobExit.FINE else f"{headline(verdict)}, in shadow: fails nothing"
    return _Case(
        identity=verdict.identity,
        name=f"gate: {verdict.identity.test_path}",
        kind=kind,
        what=verdict.outcome,
        message=message,
        output=verdict_text(verdict),
    )


def _document(cases: Iterable[_Case], *, fork: bool) -> bytes:
    of_suite: dict[str, list[_Case]] = defaultdict(list)
    for case in cases:
        of_suite[case.identity.suite or case.identity.test_path].append(case)
    root = Element("testsuites", _totals([case for found in of_suite.values() for case in found], "driftgate"))
    for name, found in of_suite.items():
        suite = SubElement(root, "testsuite", _totals(found, name))
        if fork:
            _add_properties(suite, [("evidence", NOT_EVIDENCE)])
        for case in found:
            _add_case(suite, case)
    indent(root)
    document: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _totals(cases: Sequence[_Case], name: str) -> dict[str, str]:
    kinds = [case.kind for case in cases]
    return {
        "name": _legal(name),
        "tests": f"{len(cases)}",
        "failures": f"{kinds.count('failure')}",
        "errors": f"{kinds.count('error')}",
        "skipped": f"{kinds.count('skipped')}",
        "time": f"{sum(case.seconds for case in cases):.3f}",
    }


def _add_case(suite: Element, case: _Case) -> None:
    path = case.identity.test_path
    facts = {"classname": case.identity.suite, "name": case.name, "file": path, "time": f"{case.seconds:.3f}"}
    element = SubElement(suite, "testcase", {name: _legal(fact) for name, fact in facts.items()})
    _add_properties(element, case.properties)
    if case.kind == "skipped":
        SubElement(element, "skipped", {"message": _legal(case.message)})
    elif case.kind:
        facts = {"type": _legal(case.what), "message": _legal(case.message)}
        SubElement(element, case.kind, facts).text = _legal(case.output)
    if case.output and case.kind in (None, "skipped"):
        SubElement(element, "system-out").text = _legal(case.output)


def _add_properties(element: Element, properties: Sequence[tuple[str, str]]) -> None:
    if properties:
        inside = SubElement(element, "properties")
        for name, value in properties:
            SubElement(inside, "property", {"name": _legal(name), "value": _legal(value)})


def _legal(text: str) -> str:
    """``text`` with what XML cannot hold written as Python escapes it."""
    return _ILLEGAL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)

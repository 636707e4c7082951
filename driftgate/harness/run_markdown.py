"""Reports on tests as Markdown: what needs a look first, the rest folded away, and nothing from a test is markup."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from driftgate.harness.fitted import Block
from driftgate.harness.next_steps import next_steps
from driftgate.harness.reported import ReportedAttempt, ReportedRun, ReportedSkip, ReportedTest
from gate.identity import SeriesIdentity
from gate.outline import NOT_EVIDENCE, headline, safe, summaries, warnings
from gate.report_markdown import code, markdown_report
from gate.verdict import Verdict

COMMIT_CHARACTERS = 12
_SMALLEST_SECTION = 1500
_TABLE = ("| test | suite | result | found |", "|---|---|---|---|")


@dataclass(frozen=True, slots=True)
class Detail:
    """How much is told. ``section_bytes`` bounds what is said of one test, ``deviations`` those of one gate spec."""

    section_bytes: int = 60_000
    deviations: int = 20
    output: bool = True

    def shared_by(self, tests: int, max_bytes: int) -> Detail:
        """The same, with sections that all fit into ``max_bytes``, unless that left too little of each."""
        share = max(_SMALLEST_SECTION, max_bytes // max(1, tests))
        return Detail(min(self.section_bytes, share), self.deviations, self.output)


def verdict_markdown(verdict: Verdict, max_bytes: int = 60_000, *, most: int = 20) -> str:
    """The gate's own report and what to do next, of ``max_bytes`` at most."""
    steps = "".join(f"- next: {code(step)}\n" for step in next_steps(verdict))
    return markdown_report(verdict, max_bytes=max(0, max_bytes - len(steps)), most=most) + steps


def evidence(*forks: bool | None) -> Block:
    """The label of runs from forks; empty where there is none."""
    return Block((f"**{NOT_EVIDENCE.replace(':', '**:', 1)}", "")) if any(forks) else Block()


def origin(run: ReportedRun) -> str:
    """``cadence `nightly`, commit `f00ba4`, CI run `7` attempt `2`, shard `0/4` ``: what is known of it."""
    facts = {
        "cadence": run.cadence,
        "commit": run.provenance.commit_sha and f"{run.provenance.commit_sha}"[:COMMIT_CHARACTERS],
        "pull request": run.provenance.pr,
        "CI run": run.provenance.ci_run_id,
        "attempt": run.provenance.ci_run_attempt,
        "shard": run.provenance.shard,
    }
    return ", ".join(f"{name} {code(safe(f'{fact}'))}" for name, fact in facts.items() if fact is not None)


def told(
    tests: Iterable[ReportedTest], not_run: Sequence[SeriesIdentity], skipped: Sequence[ReportedSkip], detail: Detail
) -> Iterator[Block]:
    """Everything about the tests: a table of those that need a look, each of them at length, then the others."""
    ordered = sorted(tests, key=lambda test: (-test.severity, test.identity))
    needy = [test for test in ordered if test.severity > 1]
    quiet = [test for test in ordered if test.severity <= 1]
    if needy:
        yield Block(_TABLE, tuple(map(_row, needy)), ("",))
    yield from (block for test in needy for block in section(test, detail))
    yield retried([test for test in ordered if test.passed_on_retry])
    if not_run:
        yield Block(("### Not run", ""), tuple(f"- {place(identity)}" for identity in not_run), ("",))
    if quiet:
        yield _folded(f"{len(quiet)} without deviations", (*_TABLE, *map(_row, quiet)))
        notes = tuple(line for test in quiet for line in _notes(test))
        yield Block((), notes, ("",) if notes else ())
    if skipped:
        lines = tuple(f"- {place(skip.identity)}: {code(safe(skip.reason))}" for skip in skipped)
        yield _folded(f"{len(skipped)} skipped", lines)


def section(test: ReportedTest, detail: Detail) -> Iterator[Block]:
    """One test that needs a look: how its attempts ended, or what the gate has against it."""
    title = f"### {result_word(test)}: {place(test.identity)}"
    if test.passed:
        written = verdict_markdown(test.verdict, max_bytes=detail.section_bytes, most=detail.deviations)
        lines = f"#{written}".splitlines()
    else:
        lines = [f"- {_attempt(attempt)}" for attempt in test.attempts]
    lines += [f"- {code(safe(remark))}" for remark in test.remarks]
    yield Block((title, ""), tuple(lines), ("",))
    if detail.output and test.last.last_lines:
        yield _output(test.last)


def retried(tests: Sequence[ReportedTest]) -> Block:
    """The tests that passed only on a later attempt, and what that hid; empty without any."""
    if not tests:
        return Block()
    lines = []
    for test in tests:
        lines.append(f"- {place(test.identity)} passed on attempt {test.last.number}")
        lines += [f"  - {_attempt(attempt)}" for attempt in test.attempts[:-1]]
    return Block(("### Passed only on retry", "", "What the retries hid:", ""), tuple(lines), ("",))


def result_word(test: ReportedTest) -> str:
    if not test.passed:
        return {"timeout": "TIMED OUT", "interrupted": "INTERRUPTED"}.get(test.last.attempt_class, "FAILED")
    if test.distrusted:
        return "NOT TRUSTED"
    return "NOT JUDGED" if test.unjudged else "NOT STORED" if test.unstored else "PASSED"


def found(test: ReportedTest) -> str:
    """The one thing to know about a test: the error it ended with, its worst deviation, or what the gate said."""
    if not test.passed:
        return ": ".join(filter(None, (test.last.detail, test.last.last_words)))
    worst = summaries(test.verdict, most=1)[:1] if test.distrusted else []
    minded = [text for summary in worst for text in (*summary.deviations, *summary.reasons)]
    return next((text for text in (*minded, test.unstored) if text), headline(test.verdict))


def hidden_by_retry(test: ReportedTest) -> str:
    """``attempt 1: fail (exit code 1): OSError: gone``: the attempts before the last."""
    return "; ".join(f"attempt {attempt.number}: {attempt.told}" for attempt in test.attempts[:-1])


def place(identity: SeriesIdentity) -> str:
    return f"{code(safe(identity.test_path))} in {code(safe(identity.suite))}"


def cell(text: str) -> str:
    """One cell of a table: a code span in which a bar does not end the cell."""
    return code(safe(text)).replace("|", "\\|")


def duration(seconds: float) -> str:
    """``3.2 s``, ``12m 05s``, ``2h 03m``."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m {rest:02}s" if minutes < 60 else f"{minutes // 60}h {minutes % 60:02}m"


def _row(test: ReportedTest) -> str:
    word = f"**{result_word(test)}**" if test.severity > 1 else "passed"
    tries = f" on attempt {test.last.number}" if test.passed_on_retry else ""
    red = ", fails the job" if test.fails_by_gate else ""
    result = f"{word}{tries}, {duration(test.duration_s)}{red}"
    return f"| {cell(test.identity.test_path)} | {cell(test.identity.suite)} | {result} | {cell(found(test))} |"


def _attempt(attempt: ReportedAttempt) -> str:
    words = f": {code(safe(attempt.last_words))}" if attempt.last_words else ""
    return f"attempt {attempt.number}: {code(safe(attempt.ending))} after {duration(attempt.duration_s)}{words}"


def _notes(test: ReportedTest) -> Iterator[str]:
    """What is to be known of a test that needs no look otherwise."""
    yield from (f"- {place(test.identity)}: warning {code(text)}" for text in warnings(test.verdict))
    yield from (f"- {place(test.identity)}: {code(safe(remark))}" for remark in test.remarks)


def _output(attempt: ReportedAttempt) -> Block:
    lines = [safe(line) for line in attempt.last_lines]
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return _folded(f"Last lines of attempt {attempt.number}", (f"{fence}text", *lines, fence), whole=True)


def _folded(summary: str, lines: Iterable[str], *, whole: bool = False) -> Block:
    """Hidden until asked for; ``whole``: shown with all its lines or not at all."""
    head, tail = (f"<details><summary>{summary}</summary>", ""), ("", "</details>", "")
    return Block((*head, *lines, *tail)) if whole else Block(head, tuple(lines), tail)

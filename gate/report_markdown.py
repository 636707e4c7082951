"""The report for a job summary: Markdown in which nothing from a test is markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gate.outline import SpecSummary, facts, headline, summaries, warnings
from gate.verdict import Verdict

_CUT = "- the rest is cut to keep this summary small; the JSON report has everything"


def markdown_report(verdict: Verdict, *, most: int = 20, max_bytes: int = 60_000) -> str:
    """Headline and deviations first, at most ``most`` of each gate spec; at most ``max_bytes`` of ASCII."""
    lines: list[str] = []
    room = max_bytes - len(_CUT) - 1
    for line in _lines(verdict, most):
        room -= len(line) + 1
        if room < 0:
            lines.append(_CUT)
            break
        lines.append(line)
    return "\n".join(lines) + "\n"


def code(text: str) -> str:
    """``text``, one line of printable ASCII, as a code span that it cannot leave."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if not text.strip() or "`" in (text[0], text[-1]) else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def _lines(verdict: Verdict, most: int) -> Iterator[str]:
    title = headline(verdict)
    yield f"### {code(title) if verdict.outcome == 'not_judged' else title}"
    yield ""
    told = summaries(verdict, most)
    for summary in told:
        if not summary.quiet:
            yield from _deviating(summary)
    yield from (f"- {code(fact)}" for fact in facts(verdict))
    yield from (f"- warning {code(text)}" for text in warnings(verdict))
    yield from (f"- {_state(summary)}" for summary in told if summary.quiet)


def _state(summary: SpecSummary) -> str:
    return f"{summary.status.label} {code(summary.title)}, {summary.compared} of {summary.total} compared"


def _deviating(summary: SpecSummary) -> Iterator[str]:
    yield f"**{summary.status.label.upper()}** {code(summary.title)}, {summary.compared} of {summary.total} compared"
    yield ""
    yield from (f"- {code(text)}" for text in (*summary.reasons, *summary.deviations))
    if summary.more:
        yield f"- and {summary.more} more"
    yield ""

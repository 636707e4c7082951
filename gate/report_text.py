"""The report for a console: plain printable ASCII, no colours."""

from __future__ import annotations

from collections.abc import Iterator

from gate.outline import SpecSummary, facts, headline, summaries, warnings
from gate.verdict import Verdict


def text_report(verdict: Verdict, *, most: int = 10) -> str:
    """Headline first, then deviations grouped by gate spec, at most ``most`` of each; ends with a newline.

    No line begins with anything that came from a test, so none is a workflow command.
    """
    lines = [headline(verdict), *(f"  {fact}" for fact in facts(verdict))]
    for summary in summaries(verdict, most):
        lines += _spec_lines(summary)
    lines += [f"  warning: {text}" for text in warnings(verdict)]
    return "\n".join(lines) + "\n"


def _spec_lines(summary: SpecSummary) -> Iterator[str]:
    yield f"  [{summary.status.label.upper()}] {summary.title} ({summary.compared} of {summary.total} compared)"
    for text in (*summary.reasons, *summary.deviations):
        yield f"    - {text}"
    if summary.more:
        yield f"    - and {summary.more} more"

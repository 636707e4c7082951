"""What a person does about a verdict of NOT TRUSTED: commands to paste."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from gate.outline import safe
from gate.verdict import Status, Verdict


def next_steps(verdict: Verdict) -> tuple[str, ...]:
    """One line each, printable ASCII; none for any other outcome. Test paths are relative to the repository root."""
    return tuple(map(safe, _steps(verdict))) if verdict.outcome == "not_trusted" else ()


def _steps(verdict: Verdict) -> Iterator[str]:
    series = verdict.identity
    for spec in verdict.specs:
        if not spec.trusted and spec.baseline:
            where = ["--backend", series.backend, "--suite", series.suite, "--metric", spec.spec.metric_key]
            yield f"what it was compared with: {_command('baseline', series.test_path, *where)}"
            break
    if any(spec.status is Status.ERROR for spec in verdict.specs):
        yield "an error is about the record, not about the numbers: look at what the test logged"
    if verdict.written is None:
        return
    run_id = verdict.written.run_id
    yield f"this run: {_command('runs', 'show', run_id)}"
    if not verdict.written.trusted:
        yield "it moves no baseline; if its numbers are right: " + _command(
            "mark-trusted", "--run-id", run_id, "--reason", "why they are right"
        )


def _command(*words: str) -> str:
    return shlex.join(("driftgate", *words))

"""What every report tells, in the order in which it is told; text and Markdown only give it a form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gate.verdict import Notice, SpecVerdict, Status, Verdict

NOT_EVIDENCE = "NOT EVIDENCE: the run comes from a fork, so neither its red nor its green is proof"
_LONGEST = 500
_FACTS = ("baseline_file", "enforcement_off", "provenance")
"""Kinds of notices that warn of nothing: the past that was judged against, who put the run into shadow, what has
changed since then."""
_OUTCOMES = {"trusted": "TRUSTED", "not_trusted": "NOT TRUSTED", "not_judged": "NOT JUDGED"}


@dataclass(frozen=True, slots=True)
class SpecSummary:
    """One gate spec. ``reasons`` of its checks, then ``deviations``: the worst status first and, of one status, the
    largest number of bands; ``more`` deviations are not told.
    """

    title: str
    status: Status
    compared: int
    total: int
    reasons: tuple[str, ...]
    deviations: tuple[str, ...]
    more: int

    @property
    def quiet(self) -> bool:
        return not self.reasons and not self.deviations


def headline(verdict: Verdict) -> str:
    """``gate: TRUSTED (240 of 250 compared)``: the three outcomes are three different words."""
    if verdict.outcome == "not_judged":
        detail = safe(verdict.reason or "no reason given")
    else:
        detail = f"{verdict.compared} of {verdict.coordinates_total} compared"
    return f"gate: {_OUTCOMES[verdict.outcome]} ({detail})"


def facts(verdict: Verdict) -> Iterator[str]:
    """Which series, in which mode, and what became of the run."""
    series = verdict.identity
    where = f" on {series.backend} in {series.suite}" if series.backend and series.suite else ""
    yield safe(f"series {series.test_path}{where}, project {series.project}")
    yield "mode shadow: shown only, fails nothing" if verdict.mode == "shadow" else "mode enforced"
    yield from _epochs(verdict)
    if verdict.provenance.fork:
        yield NOT_EVIDENCE
    yield from (safe(notice.text) for notice in verdict.warnings if _is_fact(notice))
    if verdict.written is not None:
        trust = "trusted" if verdict.written.trusted else "untrusted"
        why = f": {safe(verdict.written.reason)}" if verdict.written.reason else ""
        again = ", stored before" if verdict.written.repeat else ""
        yield f"written as run {safe(verdict.written.run_id)}, {trust}{again}{why}"


def _epochs(verdict: Verdict) -> Iterator[str]:
    """Since when another level is expected, where somebody said so, and how far its anchor is."""
    specs_of: dict[str, list[SpecVerdict]] = {}
    for spec in verdict.specs:
        if spec.epoch_id is not None:
            specs_of.setdefault(spec.epoch_id, []).append(spec)
    wanted = verdict.policy.anchor_runs
    for epoch_id, specs in specs_of.items():
        runs = min(len(spec.anchor) for spec in specs)
        whose = "" if len(specs) == len(verdict.specs) else f" of {', '.join(spec.spec.metric_key for spec in specs)}"
        yield safe(f"epoch {epoch_id}{whose}: {min(runs, wanted)} of the {wanted} runs of its anchor so far")


def summaries(verdict: Verdict, most: int) -> list[SpecSummary]:
    """The gate specs, worst first, those with nothing to tell last; each with at most ``most`` deviations."""
    told = [_summary(spec, most) for spec in verdict.specs]
    return sorted(told, key=lambda summary: (summary.quiet, -summary.status))


def safe(text: str) -> str:
    """Printable ASCII on one line, whatever a test put into a name: no control characters, no workflow commands."""
    escaped = "".join(c if " " <= c <= "~" else c.encode("unicode_escape").decode() for c in text[:_LONGEST])
    cut = "..." if len(text) > _LONGEST else ""
    return escaped.replace("##[", "# #[") + cut


def warnings(verdict: Verdict) -> list[str]:
    return [safe(f"{notice.kind}: {notice.text}") for notice in verdict.warnings if not _is_fact(notice)]


def _is_fact(notice: Notice) -> bool:
    return notice.kind in _FACTS


def _summary(spec: SpecVerdict, most: int) -> SpecSummary:
    worst = spec.worst
    deviating = np.flatnonzero(worst >= Status.OUTSIDE)
    told = deviating[np.lexsort((-_bands_away(spec)[deviating], -worst[deviating]))][:most]
    reasons = [f"{name} {check.status.label}: {check.reason}" for name, check in spec.checks.items() if check.reason]
    return SpecSummary(
        title=safe(f"{spec.spec.metric_key} {spec.spec.key.steps_key}"),
        status=spec.status,
        compared=spec.compared,
        total=spec.steps.size,
        reasons=tuple(map(safe, reasons)),
        deviations=tuple(safe("; ".join(_sentences(spec, index))) for index in told.tolist()),
        more=deviating.size - told.size,
    )


def _bands_away(spec: SpecVerdict) -> NDArray[np.float64]:
    """Float64 (m,): how many bands each value lies from the mean it is farthest from; 0 where nothing tells."""
    farthest = np.zeros(spec.steps.size)
    for check in spec.columns.values():
        if check.mean is None or check.lo is None or check.hi is None:
            continue
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            above = spec.values > check.mean
            band = np.where(above, check.hi / 2 - check.mean / 2, check.mean / 2 - check.lo / 2)
            bands = np.abs(spec.values / 2 - check.mean / 2) / band
        farthest = np.fmax(farthest, bands)
    return farthest


def _sentences(spec: SpecVerdict, index: int) -> list[str]:
    """What the checks say about one coordinate, each thing once."""
    found = (check.reasons[index] for check in spec.columns.values() if index in check.reasons)
    return list(dict.fromkeys(found))

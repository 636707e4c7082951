"""Stored runs as JSON, as rows of a listing, and as a page for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from driftgate.cli.output import moment, number, print_table, print_text
from gate.provenance import Provenance
from store.contract import RunValues, SeriesValues, StoredRun

LIST_COLUMNS = ("run", "created", "test", "suite", "state", "commit", "CI run")
_MOST_DEVIATIONS = 20
_DEVIATING = ("fail", "outside", "error")


def list_cells(run: StoredRun) -> tuple[str, ...]:
    commit = (run.provenance.commit_sha or "-")[:10]
    ci_run = "-" if run.provenance.ci_run_id is None else str(run.provenance.ci_run_id)
    identity = run.identity
    return (run.run_id, moment(run.created_at), identity.test_path, identity.suite, state(run), commit, ci_run)


def state(run: StoredRun) -> str:
    if run.superseded_by is not None:
        return "superseded"
    return "trusted" if run.trusted else "not trusted"


def gate_said(verdict: Mapping[str, Any]) -> str | None:
    """The headline of a stored verdict: ``NOT TRUSTED (250 of 250 compared)``; None where nothing was stored."""
    if not verdict:
        return None
    outcome = str(verdict["verdict"]).replace("_", " ").upper()
    return f"{outcome} ({verdict['compared']} of {verdict['coordinates_total']} compared)"


def print_run(found: RunValues) -> None:
    """What it is, where it comes from, what was measured, what the gate minded."""
    run = found.run
    print_text(f"run {run.run_id}: {state(run)}\n")
    print_table(("", ""), [(name, str(value)) for name, value in _facts(run).items() if value not in (None, {}, "")])
    print_text("\n")
    print_table(("metric", "steps", "values", "min", "max", "verdict"), map(_values_cells, found.series))
    deviations = list(_deviations(run))
    for text in deviations[:_MOST_DEVIATIONS]:
        print_text(f"  {text}\n")
    if len(deviations) > _MOST_DEVIATIONS:
        print_text(f"  and {len(deviations) - _MOST_DEVIATIONS} more\n")


def _facts(run: StoredRun) -> dict[str, Any]:
    series = run.identity
    return {
        "test": f"{series.test_path} on {series.backend} in {series.suite}, project {series.project}",
        "created": moment(run.created_at),
        "gate said": gate_said(run.verdict),
        "why not trusted": run.untrusted_reason,
        "superseded by": run.superseded_by,
        **_origin(run.provenance),
    }


def _origin(provenance: Provenance) -> dict[str, Any]:
    """Every fact that is known, the tested commit as ``commit``, the CI's own only where it is another."""
    facts = {"commit": provenance.commit_sha, **asdict(provenance)}
    del facts["tested_sha"]
    if facts["ci_sha"] == facts["commit"]:
        del facts["ci_sha"]
    packages = facts.pop("packages")
    words = {name.replace("_", " ").replace("ci ", "CI ").replace("gpu", "GPU"): fact for name, fact in facts.items()}
    return words | {"packages": ", ".join(f"{name} {version}" for name, version in packages.items())}


def _values_cells(series: SeriesValues) -> tuple[str, ...]:
    return (
        series.key.metric_key,
        series.key.steps_key,
        str(len(series.values)),
        number(min(series.values, default=math.nan)),
        number(max(series.values, default=math.nan)),
        "pass" if series.trusted else "not trusted",
    )


def _deviations(run: StoredRun) -> Iterator[str]:
    """The checks of whole gate specs first, then coordinate by coordinate, nothing twice."""
    for spec in run.verdict.get("specs", []):
        for name, check in spec["checks"].items():
            if check["status"] in _DEVIATING and check["reason"]:
                yield f"{spec['metric_key']} {name} {check['status']}: {check['reason']}"
    for row in run.verdict.get("coordinates", []):
        reasons = (check["reason"] for check in row["checks"].values() if check["status"] in _DEVIATING)
        yield from dict.fromkeys(reasons)

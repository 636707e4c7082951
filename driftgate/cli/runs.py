"""``driftgate runs``: what is stored."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftgate.cli.exits import ExitCode
from driftgate.cli.output import moment, number, print_json, print_table, say
from driftgate.cli.session import Session, command
from driftgate.cli.targets import BackendOption, SuiteOption

if TYPE_CHECKING:
    from store.contract import RunValues, SeriesValues, StoredRun

app = typer.Typer(help="What is stored.", no_args_is_help=True)

RunId = Annotated[str, typer.Argument(metavar="ID", help="As `driftgate runs list` shows it.")]


@app.command("list")
@command
def list_runs(
    session: Session,
    *,
    test: Annotated[Path | None, typer.Argument(metavar="[TEST]", help="Only runs of this test file.")] = None,
    backend: BackendOption = None,
    suite: SuiteOption = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many, newest first.")] = 50,
) -> None:
    """Runs, newest first.

    Example: driftgate runs list tests/e2e/test_grpo.py --limit 10
    """
    from driftgate.harness.test_files import series_path
    from store.contract import RunFilter

    with session.history() as (config, store):
        name = None if test is None else series_path(test, config.repository)
        runs = store.list_runs(config.project, RunFilter(test_path=name, backend=backend, suite=suite, limit=limit))
    if session.json:
        print_json({"schema": 1, "runs": [_run_json(run) for run in runs]})
        return
    print_table(("run", "created", "test", "suite", "state", "commit", "CI run"), map(_run_cells, runs))


@app.command("show")
@command
def show(session: Session, run_id: RunId) -> None:
    """One run: verdict, provenance, values.

    Example: driftgate runs show 5f0c4f6e8a9b4c1d8e7f6a5b4c3d2e1f
    """
    with session.history() as (config, store):
        found = store.get_run(config.project, run_id)
    if session.json:
        print_json({"schema": 1, **_run_json(found.run), "series_values": [_values_json(s) for s in found.series]})
        return
    _print_run(found)


@app.command("replay")
@command
def replay(session: Session, run_id: RunId) -> None:
    """Judge a stored run again from the stored rows; the verdict must come out the same (exit 1 where it does not).

    Example: driftgate runs replay 5f0c4f6e8a9b4c1d8e7f6a5b4c3d2e1f
    """
    from gate.errors import DriftgateError
    from gate.replay import referenced_runs
    from gate.replay import replay as judge_again
    from gate.report import text_report
    from gate.verdict_json import to_json, to_stored

    with session.history() as (config, store):
        found = store.get_run(config.project, run_id)
        if not found.run.verdict:
            raise DriftgateError(f"run {run_id} was stored without a verdict; there is nothing to replay")
        named = store.get_runs(config.project, referenced_runs(found.run.verdict))
    verdict = judge_again(found.run.verdict, found.series, named)
    same = to_stored(verdict) == found.run.verdict
    if session.json:
        print_json({**to_json(verdict), "replay": {"run_id": run_id, "same": same}})
    else:
        print(text_report(verdict), end="")
        say("the same verdict as stored" if same else "NOT the verdict that was stored")
    raise typer.Exit(ExitCode.FINE if same else ExitCode.TEST_FAILED)


def _run_json(run: StoredRun) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "run_id": run.run_id,
        "series": asdict(run.identity),
        "created_at": run.created_at.isoformat(),
        "trusted": run.trusted,
        "gate_trusted": run.gate_trusted,
        "counting": run.counting,
        "marked": run.marked,
        "untrusted_reason": run.untrusted_reason,
        "superseded_by": run.superseded_by,
        "provenance": {"commit_sha": run.provenance.commit_sha, **asdict(run.provenance)},
    }


def _values_json(series: SeriesValues) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        **asdict(series.key),
        "steps": list(series.steps),
        "at_step": series.at_step,
        "values": list(series.values),
        "trusted": series.trusted,
        "points": series.points,
    }


def _state(run: StoredRun) -> str:
    if run.superseded_by is not None:
        return "superseded"
    return "trusted" if run.trusted else "not trusted"


def _run_cells(run: StoredRun) -> tuple[str, ...]:
    commit = (run.provenance.commit_sha or "-")[:10]
    ci_run = "-" if run.provenance.ci_run_id is None else str(run.provenance.ci_run_id)
    identity = run.identity
    return (run.run_id, moment(run.created_at), identity.test_path, identity.suite, _state(run), commit, ci_run)


def _print_run(found: RunValues) -> None:
    run, identity = found.run, found.run.identity
    print(f"run {run.run_id}: {_state(run)}")
    print(f"{identity.test_path}  {identity.backend}  {identity.suite}  project {identity.project}")
    facts = {
        "created": moment(run.created_at),
        "why not trusted": run.untrusted_reason,
        "superseded by": run.superseded_by,
        **{name: value for name, value in _run_json(run)["provenance"].items() if value not in (None, {})},
    }
    print_table(("", ""), [(name, str(value)) for name, value in facts.items() if value is not None])
    print_table(
        ("metric", "steps", "values", "min", "max", "verdict"),
        [
            (
                series.key.metric_key,
                series.key.steps_key,
                str(len(series.values)),
                number(min(series.values, default=math.nan)),
                number(max(series.values, default=math.nan)),
                "pass" if series.trusted else "not trusted",
            )
            for series in found.series
        ],
    )
    for row in run.verdict.get("coordinates", []):
        for check in row["checks"].values():
            if check["status"] in ("fail", "outside", "error"):
                print(f"  {check['status']}: {check['reason']}")

"""What a mark or an epoch changed or would change, as JSON and for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftgate.cli.output import counted, print_json, print_table, print_text, say
from driftgate.cli.session import Session
from gate.identity import AGGREGATE_STEP

if TYPE_CHECKING:
    from store.contract import ActionResult

DryRun = Annotated[bool, typer.Option("--dry-run", help="Write nothing; tell which means move and verdicts flip.")]

_MOST_STEPS = 20
_WORDS = {True: "trusted", False: "not trusted"}


def tell(session: Session, result: ActionResult, document: Mapping[str, Any], done: str) -> None:
    """``document``: for machines; ``done``: what happened, for people."""
    if session.json:
        print_json(document)
    elif result.effects is None:
        print_text("".join(f"{run_id}\n" for run_id in result.runs))
        say(done)
    else:
        _print_effects(result.to_json()["effects"])
        say(f"dry run, nothing is written; {counted(len(result.runs), 'run')} would change")


def _print_effects(effects: Mapping[str, list[dict[str, Any]]]) -> None:
    _print("runs that change", ("run", "created", "was", "becomes"), map(_trust_cells, effects["trust"]))
    _print(
        "means that move",
        ("test", "suite", "metric", "mean of", "step", "old", "new"),
        (cells for moved in effects["means"] for cells in _mean_cells(moved)),
    )
    _print("verdicts that flip", ("run", "created", "was", "becomes", "why"), map(_verdict_cells, effects["verdicts"]))


def _print(title: str, columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    found = list(rows)
    print_text(f"{title}: {'' if found else 'none'}".rstrip() + "\n")
    if found:
        print_table(columns, found)


def _trust_cells(change: Mapping[str, Any]) -> tuple[str, ...]:
    return (change["run_id"], change["created_at"], _WORDS[change["before"]], _WORDS[change["after"]])


def _mean_cells(moved: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """A row for each of the first steps, and one that says how many more move."""
    where = (moved["series"]["test_path"], moved["series"]["suite"], moved["metric_key"], moved["reference"])
    rows = list(zip(moved["steps"], moved["old"], moved["new"], strict=True))
    for step, old, new in rows[:_MOST_STEPS]:
        yield (*where, "-" if step == AGGREGATE_STEP else str(step), _mean(old), _mean(new))
    if len(rows) > _MOST_STEPS:
        yield (*where, f"and {len(rows) - _MOST_STEPS} more", "", "")


def _mean(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"


def _verdict_cells(flip: Mapping[str, Any]) -> tuple[str, ...]:
    from gate.outline import safe

    outcomes = (flip[name].replace("_", " ") for name in ("stored", "rejudged"))
    return (flip["run_id"], flip["created_at"], *outcomes, safe(next(iter(flip["reasons"]), "")))

"""``python -m benchmarks.detection [--quick] [--save] [--corpus FOLDER] [--rivals FOLDER]``: print every table."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from benchmarks import trust_grain
from benchmarks.detection import tables
from benchmarks.detection.corpus import CorpusMissingError, RealHistory, real_histories
from benchmarks.detection.judges import GateJudge, Judge, ours
from benchmarks.detection.measure import share_of_runs
from benchmarks.detection.pages import RESULTS, STATISTICS, fill, results_page
from benchmarks.detection.real import judge_real, reshuffled
from benchmarks.detection.rivals import ENVIRONMENT, RivalsUnavailableError, rivals
from benchmarks.detection.runner import Plan, measured
from benchmarks.detection.scenarios import scenarios
from benchmarks.measure import machine, progress

CORPUS = Path(__file__).parents[3] / "shared" / "data" / "corpus"
TITLES: Mapping[str, str] = MappingProxyType(
    {
        "targets": "Targets",
        "quiet": "Nothing changes: false alarms",
        "changes": "One metric of five changes at run 40",
        "real": "Real histories, bands suggested from their first 20 runs",
        "reshuffled": "Real runs in other orders",
        "trust": "One metric red for 35 nights, by the grain of trust",
        "alternatives": "Checks that were tried, one metric: false alarms per run, then the share caught",
        "sizes": "Sizes of the shift check",
    }
)
RESHUFFLES = 24
FULL, QUICK = Plan(caught=120, quiet=30, ours=10, others=5), Plan(caught=5, quiet=5, ours=4, others=2)


def main() -> None:
    asked = _arguments()
    started = time.monotonic()
    found, missed = {}, []
    for name, text, missing in _parts(asked):
        found[name] = text
        missed += missing
        print(f"## {TITLES[name]}\n\n{text}\n", flush=True)
    heading = f"{machine()}; {datetime.now(UTC):%Y-%m-%d}; {time.monotonic() - started:.0f} s"
    print(heading)
    if asked.save:
        RESULTS.write_text(results_page(heading, TITLES, found), encoding="utf-8")
        STATISTICS.write_text(fill(STATISTICS.read_text(encoding="utf-8"), found), encoding="utf-8")
    if missed:
        progress("missed: " + "; ".join(missed))
        raise SystemExit(1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.detection", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few histories of few scenarios, within a minute")
    parser.add_argument("--save", action="store_true", help="keep the tables in RESULTS.md and in the documentation")
    corpus = Path(os.environ.get("DRIFTGATE_CORPUS", CORPUS))
    parser.add_argument("--corpus", type=Path, default=corpus, help="folder of real histories (or $DRIFTGATE_CORPUS)")
    parser.add_argument("--rivals", type=Path, default=ENVIRONMENT, help="virtual environment for the rivals")
    asked = parser.parse_args()
    if asked.quick and asked.save:
        parser.error("--save keeps the full tables; run it without --quick")
    return asked


def _parts(asked: argparse.Namespace) -> Iterator[tuple[str, str, list[str]]]:
    """Name, table and missed targets of each part, as soon as it is measured."""
    yield from _simulated(asked)
    yield from _real(asked)
    yield "trust", trust_grain.table(histories=4 if asked.quick else 40), []
    if not asked.quick:
        yield "alternatives", tables.alternatives(histories=300), []
        yield "sizes", tables.sizes(samples=400_000), []


def _simulated(asked: argparse.Namespace) -> Iterator[tuple[str, str, list[str]]]:
    judges: tuple[Judge, ...] = ours()
    note = ""
    try:
        judges += rivals(asked.rivals)
    except RivalsUnavailableError as error:
        note = f"\n\nThe rivals were not measured: {error}"
    tried = [scenario for scenario in scenarios() if scenario.quick or not asked.quick]
    found = list(measured(tried, judges, QUICK if asked.quick else FULL))
    yield "targets", tables.targets(found), tables.missed_targets(found)
    yield "quiet", tables.quiet(found) + note, []
    yield "changes", tables.changes(found) + note, []


def _real(asked: argparse.Namespace) -> Iterator[tuple[str, str, list[str]]]:
    try:
        histories = real_histories(asked.corpus)
    except CorpusMissingError as error:
        yield "real", str(error), []
        return
    outcomes = [
        judge_real(history, judge, wall_time=wall_time)
        for wall_time in (False, True)
        for history in histories
        for judge in (ours()[:1] if wall_time else ours())
    ]
    yield "real", tables.real(outcomes), tables.missed_on_real(outcomes)
    if not asked.quick:
        changed = [history for history in histories if history.change is not None]
        yield "reshuffled", "\n\n".join(_reshuffled(history, histories, ours()[0]) for history in changed), []


def _reshuffled(changed: RealHistory, histories: list[RealHistory], judge: GateJudge) -> str:
    drawn = list(reshuffled(changed, histories, RESHUFFLES))
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(judge_real, drawn, [judge] * len(drawn)))
    share = share_of_runs([[red.run for red in found.false_alarms] for found in outcomes], drawn[0].change or 0)
    return tables.reshuffled(outcomes, share)


if __name__ == "__main__":
    main()

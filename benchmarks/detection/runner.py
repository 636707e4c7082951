"""Every judge on every scenario, spread over the processors."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from benchmarks.detection.judges import HELD, Judge, Trial, declare, records_of
from benchmarks.detection.measure import Outcome, outcome
from benchmarks.detection.scenarios import Scenario
from benchmarks.detection.shadow import SHADOW_RUNS, suggestions
from benchmarks.detection.simulate import Floats, changed_runs
from benchmarks.measure import progress


@dataclass(frozen=True, slots=True)
class Plan:
    """How many histories: ``caught`` and ``quiet`` where the judge is held to a target of that kind, ``ours`` for that
    judge elsewhere, ``others`` for every other judge.

    A history tells whether a change is caught once; of a quiet one every run counts.
    """

    caught: int
    quiet: int
    ours: int
    others: int

    def count(self, scenario: Scenario, judge: Judge) -> int:
        if judge.name != HELD:
            return self.others
        if scenario.target is None:
            return self.ours
        return self.caught if scenario.target.what == "caught" else self.quiet


def measured(
    scenarios: Sequence[Scenario], judges: Sequence[Judge], plan: Plan
) -> Iterator[tuple[Scenario, list[Outcome]]]:
    """Each scenario with the outcome of every judge, in the given order."""
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        waiting = [
            (scenario, [pool.submit(measure_one, scenario, judge, plan.count(scenario, judge)) for judge in judges])
            for scenario in scenarios
        ]
        for scenario, answers in waiting:
            yield scenario, [answer.result() for answer in answers]
            progress(f"measured: {scenario.name}")


def measure_one(scenario: Scenario, judge: Judge, count: int) -> Outcome:
    trials = [_trial(scenario, values) for values in scenario.histories(count)]
    changed = changed_runs(scenario.change, scenario.layout.runs)
    return outcome(judge.name, judge.judge(trials), changed)


def _trial(scenario: Scenario, values: Floats) -> Trial:
    metrics = [f"train/metric_{index}" for index in range(scenario.layout.metrics)]
    if scenario.band is None:
        first = list(records_of(values[:SHADOW_RUNS], metrics))
        specs = tuple(one.spec for one in suggestions(metrics, first))
    else:
        specs = tuple(declare(metric, scenario.band) for metric in metrics)
    return Trial(values, specs, scenario.stop_from)

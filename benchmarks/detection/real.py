"""Our gate on real histories, with bands suggested from their first runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.detection.corpus import WALL_TIME, RealHistory, metrics_of
from benchmarks.detection.judges import GateJudge, verdicts
from benchmarks.detection.shadow import suggestions
from benchmarks.measure import progress
from gate.record import Record
from gate.spec import GateSpec
from gate.verdict import Status, Verdict

RESHUFFLED_RUNS = 60


@dataclass(frozen=True, slots=True)
class RedRun:
    run: int
    why: str


@dataclass(frozen=True, slots=True)
class RealOutcome:
    """One judge on one history. ``false_alarms``: red runs that neither follow the change nor are known to be broken;
    ``missed``: broken runs that were trusted; ``caught``: the first red run after the change.
    """

    history: RealHistory
    judge: str
    wall_time: bool
    reds: tuple[RedRun, ...]

    @property
    def false_alarms(self) -> tuple[RedRun, ...]:
        return tuple(red for red in self.reds if red.run not in self.history.special and not self._changed(red.run))

    @property
    def missed(self) -> tuple[int, ...]:
        return tuple(run for run in self.history.special if run not in {red.run for red in self.reds})

    @property
    def caught(self) -> RedRun | None:
        return next((red for red in self.reds if self._changed(red.run)), None)

    @property
    def delay(self) -> int | None:
        """The first changed run is 1."""
        if self.caught is None or self.history.change is None:
            return None
        return self.caught.run - self.history.change + 1

    @property
    def good(self) -> bool:
        """At most one false alarm, the change caught where there is one, no broken run trusted."""
        caught = self.history.change is None or self.caught is not None
        return len(self.false_alarms) <= 1 and caught and not self.missed

    def _changed(self, run: int) -> bool:
        return self.history.change is not None and run >= self.history.change


def judge_real(history: RealHistory, judge: GateJudge, *, wall_time: bool = False) -> RealOutcome:
    """``wall_time``: judge the wall time alone; it is left out otherwise."""
    specs = [judge.configured(spec) for spec in suggested(history, wall_time=wall_time)]
    answers = verdicts(specs, iter(history.records), judge.policy)
    reds = tuple(RedRun(run, _why(verdict)) for run, verdict in enumerate(answers) if verdict.outcome == "not_trusted")
    return RealOutcome(history, judge.name, wall_time, reds)


def suggested(history: RealHistory, *, wall_time: bool) -> Sequence[GateSpec]:
    """One declaration per metric, ``steps="all"``, its band from the first runs, if they vary."""
    metrics = [metric for metric in metrics_of(history) if (metric == WALL_TIME) == wall_time]
    specs = []
    for suggestion in suggestions(metrics, history.records):
        if suggestion.reason:
            progress(f"{history.name}: {suggestion.spec.metric_key} is left out: {suggestion.reason}")
        else:
            specs.append(suggestion.spec)
    return specs


def _why(verdict: Verdict) -> str:
    """Which checks of which metrics said no, worst first."""
    found = [
        (-check.status, f"{spec.spec.metric_key} {name}")
        for spec in verdict.specs
        for name, check in spec.checks.items()
        if check.status >= Status.FAIL
    ]
    return ", ".join(text for _, text in sorted(found))


def reshuffled(changed: RealHistory, histories: Sequence[RealHistory], count: int) -> Iterator[RealHistory]:
    """Ordinary runs of all histories of that task, drawn without replacement, then the runs after the change.

    Each run was trained on its own, so that any order of them is as real as the order in which they were stored.
    """
    ordinary = [run for history in histories if history.env == changed.env for run in _ordinary(history)]
    for index in range(count):
        rng = np.random.default_rng([2026, index])
        before = [ordinary[at] for at in rng.permutation(len(ordinary))[:RESHUFFLED_RUNS]]
        later = changed.records[changed.change :]
        after = [later[at] for at in rng.permutation(len(later))]
        yield replace(changed, records=(*before, *after), change=len(before), special={})


def _ordinary(history: RealHistory) -> Iterator[Record]:
    for index, record in enumerate(history.records[: history.change]):
        if index not in history.special:
            yield record

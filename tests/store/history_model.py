"""A plain model of what a store must hold: one series, one metric with one value per run, marks, rules, epochs."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean

BAND = 0.11
NEWEST = 20
Place = tuple[int, int]


@dataclass(eq=False)
class Run:
    """``gate`` is what the gate says of it now; ``hand``: an operator trusts it; ``hold``: what keeps it untrusted."""

    run_id: str
    place: Place
    ci: int
    attempt: int
    commit: str
    value: float
    gate: bool
    stale: bool
    hand: bool = False
    hold: str | None = None
    superseded_by: Run | None = None

    @property
    def trusted(self) -> bool:
        return self.hold is None and (self.hand or (self.gate and not self.stale))

    @property
    def marked(self) -> bool | None:
        return False if self.hold is not None else True if self.hand else None

    @property
    def counting(self) -> bool:
        return self.trusted and self.superseded_by is None

    @property
    def gate_decides(self) -> bool:
        return self.hold is None and not self.hand and not self.stale and self.superseded_by is None

    @property
    def selectors(self) -> tuple[str, str]:
        return (f"ci_run_id={self.ci}", f"commit_sha={self.commit}")


@dataclass(eq=False)
class Epoch:
    """``before``: what the gate said of each run that its start judged otherwise."""

    epoch_id: str
    start: Place
    before: dict[Run, bool] = field(default_factory=dict)
    undone: bool = False


@dataclass
class Model:
    """``runs`` in order of arrival, ``epochs`` in order of their starts, ``rules`` the standing marks."""

    runs: list[Run] = field(default_factory=list)
    epochs: list[Epoch] = field(default_factory=list)
    rules: set[str] = field(default_factory=set)

    @property
    def in_order(self) -> list[Run]:
        return sorted(self.runs, key=lambda run: run.place)

    @property
    def in_force(self) -> Epoch | None:
        return next((epoch for epoch in reversed(self.epochs) if not epoch.undone), None)

    def counting(self) -> list[Run]:
        """Of the epoch in force, oldest first."""
        return [run for run in self.in_order if run.counting and self._is_member(run)]

    def _is_member(self, run: Run) -> bool:
        epoch = self.in_force
        return epoch is None or run.place >= epoch.start

    def judge(self, ci: int, value: float) -> bool:
        """As the gate would, now."""
        return _inside(value, [run for run in self.counting() if run.ci != ci])

    def write(self, run: Run) -> None:
        rivals = [one for one in self.runs if one.ci == run.ci and one.superseded_by is None]
        higher = [one for one in rivals if one.attempt > run.attempt]
        if higher:
            run.superseded_by = max(higher, key=lambda one: one.attempt)
        for one in rivals if not higher else ():
            one.superseded_by = run
        run.hold = next((rule for rule in run.selectors if rule in self.rules), None)
        self.runs.append(run)

    def mark_run(self, run: Run, *, trusted: bool) -> None:
        if not trusted:
            run.hold = run.run_id
        elif not run.trusted:
            run.hold, run.hand = None, True

    def set_rule(self, rule: str) -> None:
        self.rules.add(rule)
        for run in self.runs:
            if rule in run.selectors and run.hold is None:
                run.hold = rule

    def lift_rule(self, rule: str) -> None:
        self.rules.discard(rule)
        for run in self.runs:
            if run.hold == rule:
                run.hold = next((other for other in run.selectors if other in self.rules), None)

    def start(self, epoch: Epoch, *, backdated: bool) -> None:
        self.epochs.append(epoch)
        for run in self.in_order if backdated else ():
            if run.place >= epoch.start and run.gate_decides:
                said = _inside(run.value, [one for one in self.in_order if self._served(one, run)])
                if said != run.gate:
                    epoch.before[run] = run.gate
                    run.gate = said

    def _served(self, one: Run, run: Run) -> bool:
        """Whether ``one`` counted in the moment in which ``run`` came."""
        superseded = one.superseded_by is not None and one.superseded_by.place < run.place
        earlier = one.place < run.place and one.ci != run.ci
        return earlier and one.trusted and not superseded and self._is_member(one)

    def blocks(self, epoch: Epoch) -> Epoch | None:
        """A later epoch that judged again what this one has judged."""
        last = max((run.place for run in epoch.before), default=None)
        later = self.epochs[self.epochs.index(epoch) + 1 :]
        return next((one for one in reversed(later) if not one.undone and last is not None and one.start <= last), None)

    def undo(self, epoch: Epoch) -> None:
        epoch.undone = True
        for run, said in epoch.before.items():
            run.gate = said


def _inside(value: float, oldest_first: list[Run]) -> bool:
    newest = [run.value for run in oldest_first[-NEWEST:]]
    return not newest or abs(value - fmean(newest)) <= BAND

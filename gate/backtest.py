"""A stored series judged again in order under a proposed declaration, as live judging would have been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import islice
from typing import Any

from gate.errors import DriftgateError
from gate.evaluate import outcome_of
from gate.identity import SpecKey
from gate.past import Past, PastRun, SeriesPast, TrustGrain
from gate.policy import GatePolicy
from gate.rejudge import as_judged, claims_of, rejudge
from gate.spec import GateSpec
from gate.verdict import Outcome, SpecCheck, SpecVerdict, Status

MOST_DEVIATIONS = 10
"""Of a red gate spec so many coordinates are told of."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The declarations to judge by; of the stored values each takes those of its metric and steps."""

    specs: tuple[GateSpec, ...]
    policy: GatePolicy
    grain: TrustGrain = "run"


@dataclass(frozen=True, slots=True)
class SpecOutcome:
    """One gate spec of one run: its checks by name, and the sentences on coordinates where it is red."""

    key: SpecKey
    checks: Mapping[str, SpecCheck]
    deviations: tuple[str, ...] = ()

    @property
    def red(self) -> bool:
        return any(check.status >= Status.FAIL for check in self.checks.values())

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is red: what its checks say, then its coordinates."""
        said = (check.reason for check in self.checks.values() if check.status >= Status.FAIL and check.reason)
        return tuple(map(self._named, said)) + self.deviations

    def _named(self, reason: str) -> str:
        metric = self.key.metric_key
        return reason if reason.startswith(metric) else f"{metric}: {reason}"


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """One run as it would have come out. ``trusted``: whether it would count now, operators' marks included;
    ``stored_trusted``: whether it does. A run without values for any proposed spec is ``not_judged``.
    """

    run_id: str
    created_at: datetime
    commit_sha: str | None
    outcome: Outcome
    trusted: bool
    stored_gate_trusted: bool
    stored_trusted: bool
    superseded: bool
    specs: tuple[SpecOutcome, ...] = field(default=())

    @property
    def red(self) -> bool:
        return self.outcome == "not_trusted"

    @property
    def reasons(self) -> tuple[str, ...]:
        return tuple(reason for spec in self.specs if spec.red for reason in spec.reasons)


@dataclass(frozen=True, slots=True)
class Delay:
    """From a run on: ``runs`` until the first red one, that one included; None where none is red."""

    from_run_id: str
    first_red_run_id: str | None
    runs: int | None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Backtest:
    """``runs`` oldest first, every stored one."""

    proposal: Proposal
    runs: tuple[RunOutcome, ...]

    @property
    def judged(self) -> int:
        return sum(run.outcome != "not_judged" for run in self.runs)

    @property
    def red(self) -> tuple[RunOutcome, ...]:
        return tuple(run for run in self.runs if run.red)

    def red_by(self, key: SpecKey) -> tuple[str, ...]:
        """The runs in which this gate spec is red."""
        return tuple(run.run_id for run in self.runs if any(spec.red and spec.key == key for spec in run.specs))

    def delay_from(self, run_id: str) -> Delay:
        """How long a change that came with that run goes unseen. Raises DriftgateError for an unknown run."""
        start = next((index for index, run in enumerate(self.runs) if run.run_id == run_id), None)
        if start is None:
            raise DriftgateError(f"run {run_id} is not one of this series; `driftgate runs list TEST` shows them")
        for count, run in enumerate(islice(self.runs, start, None), 1):
            if run.red:
                return Delay(run_id, run.run_id, count)
        return Delay(run_id, None, None)

    def to_json(self) -> dict[str, Any]:
        """Every run; of the gate specs only those that are red, with their reasons."""
        return {
            "policy": asdict(self.proposal.policy),
            "trust": self.proposal.grain,
            "specs": [
                {**asdict(spec.key), "checks": list(spec.checks), "red": len(self.red_by(spec.key))}
                for spec in self.proposal.specs
            ],
            "judged": self.judged,
            "red": len(self.red),
            "trusted": sum(run.trusted for run in self.runs),
            "runs": [_run_json(run) for run in self.runs],
        }


def backtest(series: SeriesPast, proposal: Proposal) -> Backtest:
    """Each run in turn: judged by what came before it, and then, if not red, part of what comes after it.

    What operators and standing marks decided is respected, and a rerun supersedes from its coming on. Raises
    DriftgateError for a stored verdict that cannot be read.
    """
    past = Past(series, proposal.grain)
    return Backtest(proposal, tuple(_next(run, proposal, past) for run in series.runs))


def spec_outcome(judged: SpecVerdict) -> SpecOutcome:
    deviations = () if judged.trusted else tuple(islice(_deviations(judged), MOST_DEVIATIONS))
    return SpecOutcome(judged.spec.key, judged.checks, deviations)


def _next(run: PastRun, proposal: Proposal, past: Past) -> RunOutcome:
    claims = claims_of(run, proposal.specs)
    judged = rejudge(run, claims, past, proposal.policy)
    after = as_judged(run, judged, claims)
    past.admit(after)
    return RunOutcome(
        run_id=run.run_id,
        created_at=run.created_at,
        commit_sha=run.commit_sha,
        outcome=outcome_of(judged) if judged else "not_judged",
        trusted=after.trusted and run.superseded_by is None,
        stored_gate_trusted=run.gate_trusted,
        stored_trusted=run.trusted and run.superseded_by is None,
        superseded=run.superseded_by is not None,
        specs=tuple(map(spec_outcome, judged)),
    )


def _deviations(judged: SpecVerdict) -> Sequence[str]:
    """What the checks say about the coordinates, each thing once."""
    reasons = (reason for columns in judged.columns.values() for reason in columns.reasons.values())
    return list(dict.fromkeys(reasons))


def _run_json(run: RunOutcome) -> dict[str, Any]:
    return {
        "run_id": run.run_id,
        "created_at": run.created_at.isoformat(),
        "commit_sha": run.commit_sha,
        "verdict": run.outcome,
        "trusted": run.trusted,
        "superseded": run.superseded,
        "stored": {"gate_trusted": run.stored_gate_trusted, "trusted": run.stored_trusted},
        "red_specs": [asdict(spec.key) for spec in run.specs if spec.red],
        "reasons": list(run.reasons),
    }

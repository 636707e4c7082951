"""Runs to store, and a plain model of what a store must answer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from gate.canonical import canonical_json
from gate.identity import Coordinate, SeriesIdentity, SpecKey
from gate.policy import GatePolicy
from gate.provenance import Provenance
from gate.verdict import Verdict
from gate.verdict_json import to_stored
from store.contract import NewRun, SeriesValues

IDENTITY = SeriesIdentity("default", "tests/test_ppo.py", "cuda", "nightly-8-gpu")
START = datetime(2024, 1, 1, tzinfo=UTC)
SHA = "a" * 40
BY = {"project": "default", "reason": "bad driver", "actor": "on duty"}


def key(metric: str = "loss", steps: str = '"all"', rel_up: float = 0.5) -> SpecKey:
    """A band that holds any value: whether a run is trusted is for each test to say, and a service agrees."""
    return SpecKey(metric, steps, canonical_json({"abs_floor_down": 1e300, "abs_floor_up": 1e300, "rel_up": rel_up}))


def coordinate(step: int, spec: SpecKey | None = None) -> Coordinate:
    spec = spec or key()
    return Coordinate(spec.metric_key, spec.steps_key, spec.constraint_key, step)


def who(actor: str) -> str:
    """Of the actor in a trust log: the one whom the caller named. A service adds whom it knows by the token."""
    return actor.removesuffix(" (the test)")


def verdict(identity: SeriesIdentity = IDENTITY) -> dict:
    """Of a gate that had nothing to judge."""
    return to_stored(Verdict("trusted", identity, GatePolicy()))


def values(by_step: dict[int, float], spec: SpecKey | None = None, *, trusted: bool = True) -> SeriesValues:
    return SeriesValues(spec or key(), tuple(by_step), tuple(by_step.values()), trusted=trusted, points=len(by_step))


def run(number: int, *series: SeriesValues, identity: SeriesIdentity = IDENTITY, **changes) -> NewRun:
    """The run of night ``number``: CI run ``number``, created ``number`` hours after `START`, worth ``number`` at step 0."""
    hours = changes.pop("hours", number)
    facts = {
        "ci_run_id": number,
        "ci_run_attempt": 1,
        "test_attempt": 1,
        "tested_sha": f"{number:040x}",
        **changes.pop("facts", {}),
    }
    given = {
        "identity": identity,
        "created_at": START + timedelta(hours=hours),
        "trusted": True,
        "has_error": False,
        "series": series or (values({0: float(number)}),),
        "provenance": Provenance(**facts),
        "verdict": verdict(identity),
    }
    return NewRun(**(given | changes))


def recent(store, *steps: int, limit: int = 20, identity: SeriesIdentity = IDENTITY) -> list[list[float]]:
    """Per step, the newest counting values."""
    found = store.recent_trusted_values(identity, [coordinate(step) for step in steps or (0,)], limit)
    return list(found.values())


def history(store, *specs: SpecKey, limit: int = 20, anchor_runs: int = 20, exclude_ci_run_id: int | None = None):
    """The history of the first spec."""
    specs = specs or (key(),)
    return store.read_history(IDENTITY, specs, limit, anchor_runs, exclude_ci_run_id).of(specs[0])


def newest(rows: list[tuple[datetime, int, dict[int, float]]], step: int, limit: int, window: int = 500) -> list[float]:
    """The plain model of a baseline: rows are counting runs as (created_at, order of arrival, values by step)."""
    ordered = sorted(rows, key=lambda row: row[:2], reverse=True)[:window]
    return [values_[step] for _, _, values_ in ordered if step in values_][:limit]

"""A series of runs to judge: five metrics whose noise is that of the targets, over as many steps as asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from gate.declarations import parse_declarations
from gate.evaluate import evaluate
from gate.history import HistoryReader
from gate.identity import SeriesIdentity
from gate.policy import GatePolicy
from gate.provenance import Provenance
from gate.record import Record, load_record
from gate.spec import GateSpec
from gate.verdict import Verdict
from gate.verdict_json import to_stored
from store.contract import MetricHistoryStore, NewRun, SeriesValues

METRICS = tuple(f"train/metric_{index}" for index in range(5))
CONSTRAINT = '{"rel_up": 0.5, "abs_floor_up": 0.02, "rel_down": 0.8, "abs_floor_down": 0.02}'
IDENTITY = SeriesIdentity("default", "tests/e2e/test_bench.py", "cuda", "stage-c-8-gpu-h100")
_CI_RUNS = count(10_000_000_000)
START = datetime(2026, 1, 1, tzinfo=UTC)
POLICY = GatePolicy(profile="balanced")


def specs() -> tuple[GateSpec, ...]:
    source = "\n".join(f'register_ci_gate(metric_key="{m}", steps="all", constraint={CONSTRAINT})' for m in METRICS)
    found, problems = parse_declarations("test_bench.py", source, {})
    assert not problems, problems
    return found


@dataclass(frozen=True, slots=True)
class Workload:
    """``values`` float64 (runs, metrics, steps)."""

    values: NDArray[np.float64]

    @classmethod
    def of(cls, runs: int, steps: int) -> Workload:
        noise = np.random.default_rng(20260101)
        return cls(0.05 + noise.normal(0.0, 0.004, (runs, len(METRICS), steps)))

    def record_bytes(self, run: int) -> bytes:
        """A merged record of one run, as the harness hands it to the gate."""
        lines = [_line(metric, self.values[run, index]) for index, metric in enumerate(METRICS)]
        return "".join(lines).encode()

    def new_run(self, run: int, gate_specs: tuple[GateSpec, ...], verdict: dict[str, Any] | None = None) -> NewRun:
        steps = tuple(range(self.values.shape[2]))
        series = tuple(
            SeriesValues(spec.key, steps, tuple(self.values[run, index].tolist()), trusted=True, points=len(steps))
            for index, spec in enumerate(gate_specs)
        )
        return NewRun(
            identity=IDENTITY,
            created_at=START + timedelta(hours=run),
            trusted=True,
            has_error=False,
            series=series,
            provenance=provenance(run),
            verdict=verdict or {},
            idempotency_key=uuid4().hex,
        )

    def fill(self, store: MetricHistoryStore, gate_specs: tuple[GateSpec, ...]) -> None:
        for run in range(self.values.shape[0]):
            store.write_run(self.new_run(run, gate_specs))


def provenance(run: int) -> Provenance:
    """As full as a nightly run on GitHub Actions has it."""
    sha = f"{run:040x}"
    return Provenance(
        tested_sha=sha,
        ci_sha=sha,
        ci_run_id=next(_CI_RUNS),
        ci_run_attempt=1,
        event="schedule",
        ref="refs/heads/main",
        cadence="nightly",
        shard="0/2",
        test_attempt=1,
        host="runner-h100-17",
        gpu_model="NVIDIA H100 80GB HBM3",
        gpu_driver="550.54.15",
        image_digest="sha256:" + sha + sha[:24],
        packages={"torch": "2.8.0", "sglang": "0.5.2", "transformer_engine": "2.6.0"},
    )


def judge(store: HistoryReader, gate_specs: tuple[GateSpec, ...], record: bytes) -> Verdict:
    loaded: Record = load_record(record)
    return evaluate(gate_specs, loaded, identity=IDENTITY, policy=POLICY, reader=store, provenance=provenance(9_999))


def stored_verdict(verdict: Verdict) -> dict[str, Any]:
    return dict(to_stored(verdict))


def _line(metric: str, values: NDArray[np.float64]) -> str:
    points = ",".join(f"[{step},{value!r}]" for step, value in enumerate(values.tolist()))
    return f'{{"metric":"{metric}","series":[{points}]}}\n'

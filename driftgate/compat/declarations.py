"""Gate declarations as the reference design hands them out. Standard library only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from os import PathLike, fspath
from typing import Any

from driftgate.compat.sources import read_source, refuse
from driftgate.config.files import read_preset
from gate.declarations import GATE_MARKER, declared_specs
from gate.errors import Problem
from gate.identity import SpecKey
from gate.spec import DRIFT_CHECKS, Constraint, GateSpec, MetricDefault, Reduction

GATE_DEFAULTS: dict[str, dict[str, Any]] = read_preset("miles")["gate"]["defaults"]
"""By metric: the literals that fill a ``steps`` or a ``constraint`` which a declaration leaves out."""
_CORRIDOR_ALONE = "the reference's gate knows the corridor alone; leave it out or judge with `driftgate gate`"


@dataclass(frozen=True)
class CiGateSpec:
    """One declaration. ``constraint`` holds all four parameters; the keys are JSON of the literals as written."""

    filename: str
    metric_key: str
    steps: str | list[int]
    constraint: dict[str, float]
    steps_key: str
    constraint_key: str
    enforce: bool = False
    allowlist_reason: str | None = None


def parse_ci_gate_specs(filename: str | PathLike[str]) -> list[CiGateSpec]:
    """Every gate declared at the top level of the file, which never runs; `GATE_DEFAULTS` fills what is left out.

    Raises: OSError (no such file), ValueError (all mistakes of the file, one a line; also what this gate cannot
    judge: reductions, ``limits``, ``expect_points``, ``checks``).
    """
    name = fspath(filename)
    source = read_source(name)
    defaults = {metric: MetricDefault(**row) for metric, row in GATE_DEFAULTS.items()}
    specs, problems = declared_specs(source, defaults)
    refuse([*problems, *_beyond_the_corridor(name, specs)])
    return [_as_declared(name, spec) for spec in specs]


def gate_spec(declared: CiGateSpec) -> GateSpec:
    """The declaration as driftgate's gate takes it, without drift checks."""
    steps: Any = tuple(declared.steps) if isinstance(declared.steps, list) else declared.steps
    key = SpecKey(declared.metric_key, declared.steps_key, declared.constraint_key)
    return GateSpec(key, steps, Constraint(**declared.constraint), checks=())


def _as_declared(filename: str, spec: GateSpec) -> CiGateSpec:
    return CiGateSpec(
        filename=filename,
        metric_key=spec.metric_key,
        steps=list(spec.steps) if isinstance(spec.steps, tuple) else str(spec.steps),
        constraint=asdict(spec.constraint),
        steps_key=spec.key.steps_key,
        constraint_key=spec.key.constraint_key,
        enforce=spec.enforce,
        allowlist_reason=spec.allowlist_reason,
    )


def _beyond_the_corridor(filename: str, specs: Sequence[GateSpec]) -> Iterator[Problem]:
    """What would otherwise be left unjudged in silence."""
    for spec in specs:
        beyond = {
            "steps": isinstance(spec.steps, Reduction),
            "limits": spec.limits is not None,
            "expect_points": spec.expect_points is not None,
            "checks": spec.checks != DRIFT_CHECKS,
        }
        for parameter, given in beyond.items():
            if given:
                yield Problem(filename, spec.line, GATE_MARKER.name, parameter, _CORRIDOR_ALONE)

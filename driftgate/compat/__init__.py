"""The names of the reference design, the metric-history gate of the Miles framework, over driftgate's own parts.

Judgement is the reference's: the corridor alone, one coordinate outside fails, no drift checks, no rule for runs that
ended early. Importing this loads the standard library alone: numpy and SQLAlchemy come with the first call that needs
them, so that a training process can import `CiHistoryBackend` from here.
"""

from __future__ import annotations

from driftgate.compat.capture import RECORD_DIR_ENV, TARGET_METRIC_KEYS, CiHistoryBackend
from driftgate.compat.constraints import ConstraintOutcome, evaluate_constraint
from driftgate.compat.declarations import GATE_DEFAULTS, CiGateSpec, parse_ci_gate_specs
from driftgate.compat.gate import evaluate_gate
from driftgate.compat.merged_record import parse_merged_record
from driftgate.compat.registrations import CIRegistry, HWBackend, ut_parse_one_file
from driftgate.compat.results import GateResult, GateStatus, MetricGateResult
from driftgate.compat.selection import Selection, SelectionError, select
from driftgate.compat.storage import MetricHistoryStore, MetricSample, RunIdentity, RunProvenance
from driftgate.compat.stores import NEON_DATABASE_URL_ENV, NeonMetricHistoryStore, SQLiteMetricHistoryStore
from driftgate.markers import register_ci_gate, register_cpu_ci, register_cuda_ci, register_rocm_ci

__all__ = [
    "GATE_DEFAULTS",
    "NEON_DATABASE_URL_ENV",
    "RECORD_DIR_ENV",
    "TARGET_METRIC_KEYS",
    "CIRegistry",
    "CiGateSpec",
    "CiHistoryBackend",
    "ConstraintOutcome",
    "GateResult",
    "GateStatus",
    "HWBackend",
    "MetricGateResult",
    "MetricHistoryStore",
    "MetricSample",
    "NeonMetricHistoryStore",
    "RunIdentity",
    "RunProvenance",
    "SQLiteMetricHistoryStore",
    "Selection",
    "SelectionError",
    "evaluate_constraint",
    "evaluate_gate",
    "parse_ci_gate_specs",
    "parse_merged_record",
    "register_ci_gate",
    "register_cpu_ci",
    "register_cuda_ci",
    "register_rocm_ci",
    "select",
    "ut_parse_one_file",
]

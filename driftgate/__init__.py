"""driftgate: keeps the history of a training framework's test metrics and judges every new run against it.

This module is imported inside training processes and by planners on bare runners: the standard library alone. Nothing
is loaded lazily, because a process forked while another thread imports would wait for that import for ever.
"""

from __future__ import annotations

from driftgate.collector import Collector, log
from driftgate.markers import register_ci_gate, register_cpu_ci, register_cuda_ci, register_rocm_ci
from driftgate.tracking import TrackingManager

__version__ = "0.1.0"

__all__ = [
    "Collector",
    "TrackingManager",
    "__version__",
    "log",
    "register_ci_gate",
    "register_cpu_ci",
    "register_cuda_ci",
    "register_rocm_ci",
]

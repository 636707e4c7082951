"""driftgate: keeps the history of a training framework's test metrics and judges every new run against it.

This module is imported inside training processes: it costs the standard library alone, and loads the collector only
when it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from driftgate.markers import register_ci_gate, register_cpu_ci, register_cuda_ci, register_rocm_ci

if TYPE_CHECKING:
    from driftgate.collector import Collector, log
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

_LAZY = {
    "Collector": "driftgate.collector",
    "TrackingManager": "driftgate.tracking",
    "log": "driftgate.collector",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'driftgate' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - only where the collector is used

    return getattr(import_module(_LAZY[name]), name)

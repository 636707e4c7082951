"""Markers that a test file calls at its top level. They do nothing when run: the harness reads them from the source.

What each accepts is checked by ``driftgate.harness.registrations`` and ``gate.declarations``; the signatures here are
lenient, so that a test file never fails on its own because of a marker.
"""

from __future__ import annotations

from typing import Any


def register_cpu_ci(*args: Any, **kwargs: Any) -> None:
    """``register_cpu_ci(est_time, suite, labels=None, nightly=False, disabled=None)``: run this file on CPU."""


def register_cuda_ci(*args: Any, **kwargs: Any) -> None:
    """``register_cuda_ci(est_time, suite, labels, hardware, num_gpus=None, nightly=False, disabled=None)``."""


def register_rocm_ci(*args: Any, **kwargs: Any) -> None:
    """``register_rocm_ci(est_time, suite, labels, nightly=False, disabled=None)``: run this file on ROCm."""


def register_ci_gate(*args: Any, **kwargs: Any) -> None:
    """``register_ci_gate(metric_key=..., steps=..., constraint=..., limits=..., ...)``: judge this metric."""

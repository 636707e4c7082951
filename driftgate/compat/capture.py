"""The tracking backend of the reference design over the collector. Standard library only."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import Any

from driftgate.collector import DEFAULT_METRICS, Collector

RECORD_DIR_ENV = "DRIFTGATE_RECORD_DIR"
"""Names the directory that the harness gives to an attempt; `CiHistoryBackend` does nothing without it."""
TARGET_METRIC_KEYS: tuple[str, ...] = DEFAULT_METRICS
"""What is kept, unless the harness asks for other metrics in ``DRIFTGATE_METRICS``."""
_REFERENCE_VARIABLE = "MILES_CI_GATE_RECORD_DIR"


class CiHistoryBackend:
    """Writes the kept metrics of this process into a file of its own; complete without `finish`.

    The reference's own variable is honoured where `RECORD_DIR_ENV` is unset: a harness that has not moved yet would
    otherwise find nothing recorded.
    """

    def __init__(self) -> None:
        self._collector = Collector.from_env({})

    def init(self, args: object, *, primary: bool = True, **kwargs: Any) -> None:  # noqa: ARG002 - their signature
        """Begin to collect if the environment says where. Raises ValueError for a malformed ``DRIFTGATE_METRICS``."""
        directory = os.environ.get(RECORD_DIR_ENV) or os.environ.get(_REFERENCE_VARIABLE)
        if not directory:
            return
        with contextlib.suppress(OSError):  # the collector warns when it cannot write there
            os.makedirs(directory, exist_ok=True)  # noqa: PTH103 - pathlib is not worth its import time here
        self._collector = Collector.from_env({**os.environ, RECORD_DIR_ENV: directory, "DRIFTGATE_STRICT": "1"})

    def log(self, metrics: Mapping[str, Any], step: int | None = None, **kwargs: Any) -> None:  # noqa: ARG002 - as init
        """Record one training step. Raises TypeError for a kept value that is no number; then nothing is written."""
        self._collector.log(metrics, step)

    def finish(self) -> None:
        self._collector.finish()

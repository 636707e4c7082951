"""Lightning: ``Trainer(logger=DriftgateLogger({"train_loss": "train/loss"}))``. The step is the trainer's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import driftgate
from driftgate.integrations.loop import rename

try:
    from lightning.pytorch.loggers import Logger
    from lightning.pytorch.utilities import rank_zero_only
except ImportError as error:
    raise ImportError("driftgate.integrations.lightning needs lightning: pip install lightning") from error


class DriftgateLogger(Logger):
    """Records what a module logs. ``names``: the module's keys → metric keys. Only rank 0 records."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self._names = names

    @property
    def name(self) -> str:
        return "driftgate"

    @property
    def version(self) -> int:
        return 0

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        driftgate.log(rename(metrics, self._names), step=step)

    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None:
        """Hyperparameters are no metrics: nothing is recorded."""

"""stable-baselines3: ``model.learn(..., callback=DriftgateCallback())``. The step is the number of time steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import driftgate
from driftgate.integrations.loop import rename

try:
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.logger import KVWriter
except ImportError as error:
    raise ImportError(
        "driftgate.integrations.stable_baselines3 needs stable-baselines3: pip install stable-baselines3"
    ) from error

PPO_NAMES = {"train/approx_kl": "train/ppo_kl", "rollout/ep_rew_mean": "rollout/raw_reward"}


class DriftgateWriter(KVWriter):
    """An output format of the library's logger. ``names``: its keys → metric keys; the default fits PPO."""

    def __init__(self, names: Mapping[str, str] = PPO_NAMES) -> None:
        self._names = names

    def write(self, key_values: Mapping[str, Any], key_excluded: Mapping[str, Any], step: int = 0) -> None:
        driftgate.log(rename(key_values, self._names), step=step)

    def close(self) -> None:
        """Nothing to close: every ``write`` is on disk when it returns."""


class DriftgateCallback(BaseCallback):
    """Adds a ``DriftgateWriter`` to the model's logger when training starts, unless it has one."""

    def __init__(self, names: Mapping[str, str] = PPO_NAMES) -> None:
        super().__init__()
        self._writer = DriftgateWriter(names)

    def _on_training_start(self) -> None:
        formats = self.logger.output_formats
        if not any(isinstance(output, DriftgateWriter) for output in formats):
            formats.append(self._writer)

    def _on_step(self) -> bool:
        return True

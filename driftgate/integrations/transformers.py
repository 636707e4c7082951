"""transformers and TRL: ``trainer.add_callback(DriftgateCallback())``. The step is the trainer's ``global_step``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import driftgate
from driftgate.integrations.loop import rename

try:
    from transformers import TrainerCallback
except ImportError as error:
    raise ImportError("driftgate.integrations.transformers needs transformers: pip install transformers") from error

TRL_NAMES = {"kl": "train/ppo_kl", "reward": "rollout/raw_reward", "grad_norm": "train/grad_norm"}


class DriftgateCallback(TrainerCallback):
    """Records what the trainer logs. ``names``: the trainer's keys → metric keys; the default fits TRL's trainers.

    Only the world's first process records: the others log the same metrics.
    """

    def __init__(self, names: Mapping[str, str] = TRL_NAMES) -> None:
        self._names = names

    def on_log(self, args: Any, state: Any, control: Any, logs: Mapping[str, Any] | None = None, **_: Any) -> None:
        if state.is_world_process_zero and logs:
            driftgate.log(rename(logs, self._names), step=state.global_step)

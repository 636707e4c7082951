"""For home-made training loops: log under the loop's own keys, record under metric keys.

from driftgate.integrations.loop import log
log({"kl": kl, "reward": reward}, step=step, names={"kl": "train/ppo_kl", "reward": "rollout/raw_reward"})
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import driftgate


def log(metrics: Mapping[str, Any], step: int | None = None, *, names: Mapping[str, str]) -> None:
    """``driftgate.log`` with the keys of ``metrics`` translated by ``names``."""
    driftgate.log(rename(metrics, names), step=step)


def rename(metrics: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """The same values under metric keys; a key not in ``names`` keeps its own.

    Where both a translated and an untranslated key end at one metric, the translated one is meant.
    """
    taken = {names[key] for key in metrics if key in names}
    return {names.get(key, key): value for key, value in metrics.items() if key in names or key not in taken}

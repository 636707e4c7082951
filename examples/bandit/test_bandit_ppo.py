"""Nightly test: PPO still learns the bandit. What it asserts is what such tests usually assert: that reward rose.

Whether the *numbers* are still the numbers is declared below and judged by driftgate against earlier nights.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import driftgate
from driftgate import register_ci_gate, register_cpu_ci

sys.path.insert(0, str(Path(__file__).resolve().parent))  # `python -I` and pytest leave the script's folder out

from bandit_ppo import Settings, Update, train

register_cpu_ci(est_time=3, suite="stage-a-cpu")
register_ci_gate(
    metric_key="train/ppo_kl",
    steps="all",
    constraint={"rel_up": 0.5, "abs_floor_up": 0.03, "rel_down": 0.8, "abs_floor_down": 0.03},
)
register_ci_gate(metric_key="rollout/raw_reward", limits={"min": -1.0, "max": 1.0})
register_ci_gate(metric_key="train/grad_norm")


def test_policy_learns() -> None:
    """Reward at the end is well above reward at the start."""
    seed = int(os.environ.get("DRIFTGATE_DEMO_SEED") or int.from_bytes(os.urandom(4), "little"))
    print(f"seed {seed}")
    rewards = [_report(update) for update in train(seed, _settings())]
    assert rewards[-1] > rewards[0] + 0.2, (  # noqa: S101 - a test asserts
        f"reward went from {rewards[0]:.3f} to {rewards[-1]:.3f}"
    )


def _settings() -> Settings:
    """DRIFTGATE_DEMO_BUG=1 switches the bug on; DRIFTGATE_DEMO_DRIFT=0.1 trains with a 10 % higher learning rate."""
    drift = float(os.environ.get("DRIFTGATE_DEMO_DRIFT", "0"))
    return Settings(
        learning_rate=0.01 * (1 + drift),
        forget_rollout=os.environ.get("DRIFTGATE_DEMO_BUG") == "1",
    )


def _report(update: Update) -> float:
    driftgate.log(
        {
            "train/ppo_kl": update.ppo_kl,
            "rollout/raw_reward": update.raw_reward,
            "train/grad_norm": update.grad_norm,
        },
        step=update.step,
    )
    if update.step % 5 == 0:
        print(f"update {update.step:2}  reward {update.raw_reward:.3f}  kl {update.ppo_kl:.4f}")
    return update.raw_reward


if __name__ == "__main__":
    test_policy_learns()
    print("passed")

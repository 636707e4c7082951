"""An example test: it trains nothing, logs two metrics over twenty steps, and declares what shall be judged."""

import random
import sys

import driftgate
from driftgate import register_ci_gate, register_cpu_ci

register_cpu_ci(est_time=5, suite="stage-a-cpu")
register_ci_gate(metric_key="train/ppo_kl")
register_ci_gate(metric_key="rollout/raw_reward", steps={"reduce": "mean", "last": 10}, limits={"min": 0.0, "max": 1.0})


def main() -> int:
    noise = random.Random()
    reward = 0.0
    for step in range(20):
        reward = 0.9 * (1.0 - 0.8**step) + noise.gauss(0.0, 0.01)
        driftgate.log(
            {"train/ppo_kl": abs(noise.gauss(0.02, 0.002)), "rollout/raw_reward": max(reward, 0.0)}, step=step
        )
    return 0 if reward > 0.5 else 1


if __name__ == "__main__":
    sys.exit(main())

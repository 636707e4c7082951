"""PPO on a contextual bandit, in numpy: small enough to read, real enough to break.

Each context has one best action; an action pays the cosine of how far it is from the best one, plus noise. The task is
the same in every run; the seed decides the policy's start and everything that is sampled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

FEATURES, HIDDEN, ACTIONS = 8, 32, 6
TASK = np.random.default_rng(20240229).normal(size=(FEATURES, ACTIONS))


@dataclass(frozen=True, slots=True)
class Settings:
    """``forget_rollout`` is the bug of the demo: see ``_improve``."""

    updates: int = 40
    batch: int = 1024
    epochs: int = 8
    learning_rate: float = 0.01
    clip: float = 0.2
    entropy_bonus: float = 0.01
    forget_rollout: bool = False


@dataclass(frozen=True, slots=True)
class Rollout:
    contexts: Array
    actions: NDArray[np.int64]
    rewards: Array
    log_probs: Array


@dataclass(frozen=True, slots=True)
class Update:
    """What one update reports: mean reward of its rollout, KL(before || after) and mean gradient norm."""

    step: int
    raw_reward: float
    ppo_kl: float
    grad_norm: float


def train(seed: int, settings: Settings) -> Iterator[Update]:
    """Train a fresh policy; yields after each of ``settings.updates`` updates."""
    rng = np.random.default_rng(seed)
    policy = Policy(rng)
    for step in range(settings.updates):
        rollout = _sample(policy, rng, settings.batch)
        grad_norm = _improve(policy, rollout, settings)
        change = rollout.log_probs - policy.log_probs(rollout.contexts)
        kl = (np.exp(rollout.log_probs) * change).sum(axis=1).mean()
        yield Update(step, float(rollout.rewards.mean()), float(kl), grad_norm)


class Policy:
    """A network of one hidden layer from contexts to action probabilities, trained with Adam."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.weights = [
            rng.normal(size=(FEATURES, HIDDEN)) / np.sqrt(FEATURES),
            rng.normal(size=(HIDDEN, ACTIONS)) * 0.01,
        ]
        self._mean = [np.zeros_like(weight) for weight in self.weights]
        self._square = [np.zeros_like(weight) for weight in self.weights]
        self._steps = 0

    def log_probs(self, contexts: Array) -> Array:
        """One row of log-probabilities per context."""
        logits: Array = np.tanh(contexts @ self.weights[0]) @ self.weights[1]
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return logits

    def gradient(self, contexts: Array, by_logits: Array) -> list[Array]:
        """Of the loss whose derivative by each row of logits is given."""
        hidden = np.tanh(contexts @ self.weights[0])
        by_hidden = (by_logits @ self.weights[1].T) * (1 - hidden**2)
        return [contexts.T @ by_hidden, hidden.T @ by_logits]

    def descend(self, gradient: list[Array], learning_rate: float) -> None:
        """One step of Adam."""
        self._steps += 1
        for i, slope in enumerate(gradient):
            self._mean[i] = 0.9 * self._mean[i] + 0.1 * slope
            self._square[i] = 0.99 * self._square[i] + 0.01 * slope**2
            scale = np.sqrt(self._square[i] / (1 - 0.99**self._steps)) + 1e-8
            self.weights[i] = self.weights[i] - learning_rate * self._mean[i] / (1 - 0.9**self._steps) / scale


def _sample(policy: Policy, rng: np.random.Generator, batch: int) -> Rollout:
    contexts = rng.normal(size=(batch, FEATURES))
    log_probs = policy.log_probs(contexts)
    actions = (log_probs + rng.gumbel(size=log_probs.shape)).argmax(axis=1)
    best = (contexts @ TASK).argmax(axis=1)
    rewards = np.cos(np.pi * (actions - best) / ACTIONS) + rng.normal(scale=0.2, size=batch)
    return Rollout(contexts, actions, rewards, log_probs)


def _improve(policy: Policy, rollout: Rollout, settings: Settings) -> float:
    """Several epochs of the clipped surrogate on one rollout; returns the mean gradient norm."""
    advantages = (rollout.rewards - rollout.rewards.mean()) / (rollout.rewards.std() + 1e-8)
    rows = np.arange(len(advantages))
    old = rollout.log_probs[rows, rollout.actions]
    norms = []
    for _ in range(settings.epochs):
        new = policy.log_probs(rollout.contexts)
        if settings.forget_rollout:
            # The bug: "old" should stay the rollout's policy. Refreshed every epoch, the ratio is always 1, so that
            # clipping never holds the policy back. Reward still rises, and no assertion about it notices.
            old = new[rows, rollout.actions]
        gradient = policy.gradient(rollout.contexts, _loss_by_logits(new, old, rollout.actions, advantages, settings))
        norms.append(np.sqrt(sum(float((slope**2).sum()) for slope in gradient)))
        policy.descend(gradient, settings.learning_rate)
    return float(np.mean(norms))


def _loss_by_logits(new: Array, old: Array, actions: NDArray[np.int64], advantages: Array, settings: Settings) -> Array:
    """Derivative of -mean(min(ratio·A, clip(ratio)·A)) - bonus·entropy by each row of logits."""
    rows = np.arange(len(actions))
    probabilities = np.exp(new)
    ratio = np.exp(new[rows, actions] - old)
    held_back = np.where(advantages > 0, ratio > 1 + settings.clip, ratio < 1 - settings.clip)
    by_log_prob = np.where(held_back, 0.0, -ratio * advantages)
    surrogate = -probabilities * by_log_prob[:, None]
    surrogate[rows, actions] += by_log_prob
    entropy = -(probabilities * new).sum(axis=1, keepdims=True)
    bonus: Array = settings.entropy_bonus * probabilities * (new + entropy)
    return (surrogate + bonus) / len(actions)

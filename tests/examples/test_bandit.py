"""The example that truly trains: a plain test file whose bug passes its own assertion and not the gate."""

import importlib.util
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from driftgate.collector import Collector
from driftgate.config.load import load_config
from gate.declarations import parse_declarations
from gate.evaluate import evaluate
from gate.history import History, RunRef, SpecHistory, StoredSeries
from gate.identity import SeriesIdentity
from gate.policy import GatePolicy
from gate.record import parse
from gate.selection import select

FOLDER = Path(__file__).parents[2] / "examples" / "bandit"
TEST_FILE = FOLDER / "test_bandit_ppo.py"
METRICS = ["train/ppo_kl", "rollout/raw_reward", "train/grad_norm"]


@pytest.fixture(scope="module")
def bandit():
    spec = importlib.util.spec_from_file_location("bandit_ppo", FOLDER / "bandit_ppo.py")
    module = sys.modules["bandit_ppo"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del sys.modules["bandit_ppo"]


@pytest.fixture(scope="module")
def specs(tmp_path_factory):
    """What the example declares, defaults of the preset filled in."""
    folder = tmp_path_factory.mktemp("config")
    defaults = load_config(file=None, start=folder, env={}, options={}).defaults
    found, problems = parse_declarations(TEST_FILE.name, TEST_FILE.read_text(), defaults)
    assert problems == ()
    return found


@pytest.fixture(scope="module")
def record_of(bandit, tmp_path_factory):
    """The record that a run with a given seed leaves."""

    def record(seed, **settings):
        directory = tmp_path_factory.mktemp("records")
        collector = Collector(str(directory))
        for update in bandit.train(seed, bandit.Settings(**settings)):
            values = (update.ppo_kl, update.raw_reward, update.grad_norm)
            collector.log(dict(zip(METRICS, values, strict=True)), step=update.step)
        collector.finish()
        (path,) = directory.iterdir()
        return parse(path.read_bytes())

    return record


class Trusted:
    """A history reader over runs that were trusted."""

    def __init__(self, specs, records):
        refs = [RunRef(str(i), datetime.now(UTC), trusted=True, counting=True, valid=True) for i in range(len(records))]
        self._history = History(
            {
                spec.key: SpecHistory(baseline=tuple(_stored(spec, *run) for run in zip(refs, records, strict=True)))
                for spec in specs
            }
        )

    def read_history(self, *_):
        return self._history


def _stored(spec, ref, record):
    selection = select(spec, record)
    return StoredSeries(ref, selection.steps, selection.values, selection.points)


@pytest.fixture(scope="module")
def judge(specs, record_of):
    """Judges a record against a baseline of three healthy runs, the fewest that profile ``balanced`` compares with."""
    reader = Trusted(specs, [record_of(seed) for seed in (1, 2, 3)])
    identity = SeriesIdentity("default", "examples/bandit/test_bandit_ppo.py", "cpu", "stage-a-cpu")
    return lambda record: evaluate(specs, record, identity=identity, policy=GatePolicy("balanced"), reader=reader)


@pytest.mark.parametrize("seed", range(10, 16))
def test_healthy_runs_are_trusted(judge, record_of, seed):
    """Another seed is no reason for an alarm."""
    assert judge(record_of(seed)).outcome == "trusted"


@pytest.mark.parametrize("seed", range(10, 16))
def test_the_bug_is_caught_by_its_kl_at_nearly_every_step(judge, record_of, seed):
    """The same seeds with clipping that never binds: red, and red for the right reason."""
    verdict = judge(record_of(seed, forget_rollout=True))
    assert verdict.outcome == "not_trusted"
    kl = next(spec for spec in verdict.specs if spec.spec.metric_key == "train/ppo_kl")
    assert not kl.trusted
    assert kl.checks["corridor"].facts["outside"] > 20


def test_the_gradient_is_that_of_the_clipped_surrogate(bandit):
    """The derivative by the logits equals finite differences of the loss as it is written in the paper."""
    rng = np.random.default_rng(0)
    settings = bandit.Settings()
    logits, advantages = rng.normal(size=(50, bandit.ACTIONS)), rng.normal(size=50)
    actions, rows = rng.integers(bandit.ACTIONS, size=50), np.arange(50)
    old = _log_softmax(logits)[rows, actions] + rng.normal(scale=0.2, size=50)

    def loss(at):
        log_probs = _log_softmax(at)
        ratio = np.exp(log_probs[rows, actions] - old)
        clipped = np.clip(ratio, 1 - settings.clip, 1 + settings.clip)
        entropy = -(np.exp(log_probs) * log_probs).sum(axis=1)
        return -np.minimum(ratio * advantages, clipped * advantages).mean() - settings.entropy_bonus * entropy.mean()

    slope = bandit._loss_by_logits(_log_softmax(logits), old, actions, advantages, settings)
    for row, column in [(0, 0), (3, 5), (17, 2), (49, 4), (8, actions[8])]:
        nudge = np.zeros_like(logits)
        nudge[row, column] = 1e-6
        assert slope[row, column] == pytest.approx((loss(logits + nudge) - loss(logits - nudge)) / 2e-6, abs=1e-8)


def _log_softmax(logits):
    return logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))


def _run(cwd, records, *options, **env):
    records.mkdir()
    return subprocess.run(
        [sys.executable, *options, str(TEST_FILE)],
        cwd=cwd,
        env=os.environ | {"DRIFTGATE_RECORD_DIR": str(records)} | env,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("options", "env"),
    [((), {}), (("-I", "-W", "error"), {}), ((), {"DRIFTGATE_DEMO_BUG": "1"}), ((), {"DRIFTGATE_DEMO_DRIFT": "0.2"})],
    ids=["plain", "isolated", "bug", "drift"],
)
def test_it_runs_as_a_plain_command_from_anywhere(tmp_path, options, env):
    """Exit 0 with its bug as without, a short log, and a whole record of every metric."""
    done = _run(tmp_path, tmp_path / "records", *options, **env)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("seed ")
    assert done.stdout.endswith("passed\n")
    (path,) = (tmp_path / "records").iterdir()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for metric in METRICS:
        assert [line["series"][0][0] for line in lines if line["metric"] == metric] == list(range(40))


def test_it_fails_when_the_policy_does_not_learn(tmp_path):
    """Negative control: with a learning rate of zero its own assertion fails and the exit code is 1."""
    done = _run(tmp_path, tmp_path / "records", DRIFTGATE_DEMO_DRIFT="-1")
    assert done.returncode == 1
    assert "reward went from" in done.stderr


def test_two_runs_differ(tmp_path):
    """A new seed each run: the printed seeds are not the same."""
    seeds = {_run(tmp_path, tmp_path / name).stdout.splitlines()[0] for name in ("a", "b")}
    assert len(seeds) == 2

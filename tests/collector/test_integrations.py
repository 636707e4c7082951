"""Integrations: keys translated by a dict, the trainer's own step, and one clear line where a library is missing.

The libraries are no dependencies, so their base classes are stood in for by the few members that ours rely on.
"""

import abc
import importlib
import sys
import types

import pytest

from driftgate import collector
from driftgate.integrations import loop

LIBRARIES = {
    "transformers": "transformers",
    "stable_baselines3": "stable-baselines3",
    "lightning": "lightning",
}


@pytest.fixture
def default_collector(records, monkeypatch):
    """The process-wide default collects three metrics into the record directory."""
    monkeypatch.setenv("DRIFTGATE_RECORD_DIR", str(records))
    monkeypatch.setenv("DRIFTGATE_METRICS", '["train/ppo_kl", "rollout/raw_reward", "train/grad_norm"]')
    monkeypatch.setenv("DRIFTGATE_STRICT", "1")
    collector._default.cache_clear()
    yield
    collector._default().finish()
    collector._default.cache_clear()


@pytest.fixture
def load(monkeypatch):
    """Imports an integration anew, with stand-ins for the modules of its library."""

    def load_with(name, **modules):
        for module, members in modules.items():
            path = module.replace("__", ".")
            monkeypatch.setitem(sys.modules, path, types.SimpleNamespace(**members))
        monkeypatch.delitem(sys.modules, f"driftgate.integrations.{name}", raising=False)
        return importlib.import_module(f"driftgate.integrations.{name}")

    yield load_with
    for name in LIBRARIES:
        sys.modules.pop(f"driftgate.integrations.{name}", None)


@pytest.mark.parametrize(
    ("metrics", "names", "renamed"),
    [
        ({"kl": 1, "loss": 2}, {"kl": "train/ppo_kl"}, {"train/ppo_kl": 1, "loss": 2}),
        ({"a": 1, "b": 2}, {"a": "b", "b": "a"}, {"b": 1, "a": 2}),
        ({"train/ppo_kl": 9, "kl": 1}, {"kl": "train/ppo_kl"}, {"train/ppo_kl": 1}),
        ({"kl": 1, "train/ppo_kl": 9}, {"kl": "train/ppo_kl"}, {"train/ppo_kl": 1}),
        ({}, {"kl": "train/ppo_kl"}, {}),
    ],
)
def test_keys_are_translated_and_others_kept(metrics, names, renamed):
    """A translated key wins over an untranslated one of the same name, in whichever order they come."""
    assert loop.rename(metrics, names) == renamed


def test_a_home_made_loop_logs_under_its_own_keys(default_collector, read_lines):
    """The plain function: the loop's keys in, metric keys out, with the loop's step."""
    loop.log({"kl": 0.5, "loss": 2.0}, step=4, names={"kl": "train/ppo_kl"})
    assert read_lines() == [{"metric": "train/ppo_kl", "series": [[4, 0.5]]}]


def test_transformers_records_on_the_first_process_only(default_collector, load, read_lines):
    """on_log takes the trainer's global_step; other ranks and empty logs add nothing."""
    module = load("transformers", transformers={"TrainerCallback": object})
    callback = module.DriftgateCallback()
    first = types.SimpleNamespace(is_world_process_zero=True, global_step=7)
    other = types.SimpleNamespace(is_world_process_zero=False, global_step=7)
    logs = {"kl": 0.5, "reward": 1.0, "grad_norm": 2.0, "epoch": 0.1}
    callback.on_log(None, first, None, logs=logs, model=None)
    callback.on_log(None, other, None, logs=logs, model=None)
    callback.on_log(None, first, None, logs=None)
    assert read_lines() == [
        {"metric": "train/ppo_kl", "series": [[7, 0.5]]},
        {"metric": "rollout/raw_reward", "series": [[7, 1.0]]},
        {"metric": "train/grad_norm", "series": [[7, 2.0]]},
    ]


def test_stable_baselines3_adds_its_writer_once(default_collector, load, read_lines):
    """The callback hooks one writer into the model's logger, also when training starts a second time."""

    class BaseCallback:
        logger = types.SimpleNamespace(output_formats=["human"])

    module = load(
        "stable_baselines3",
        stable_baselines3__common__callbacks={"BaseCallback": BaseCallback},
        stable_baselines3__common__logger={"KVWriter": object},
        stable_baselines3__common={},
        stable_baselines3={},
    )
    for _ in range(2):
        callback = module.DriftgateCallback({"train/approx_kl": "train/ppo_kl"})
        callback._on_training_start()
        assert callback._on_step() is True
    _, writer = BaseCallback.logger.output_formats
    writer.write({"train/approx_kl": 0.5, "time/fps": 3}, {"time/fps": ("stdout",)}, step=256)
    writer.close()
    assert read_lines() == [{"metric": "train/ppo_kl", "series": [[256, 0.5]]}]


def test_lightning_records_metrics_and_no_hyperparameters(default_collector, load, read_lines):
    """All abstract members of the library's Logger are there; metrics carry the trainer's step."""

    class Logger(abc.ABC):
        @property
        @abc.abstractmethod
        def name(self): ...

        @property
        @abc.abstractmethod
        def version(self): ...

        @abc.abstractmethod
        def log_metrics(self, metrics, step=None): ...

        @abc.abstractmethod
        def log_hyperparams(self, params, *args, **kwargs): ...

    module = load(
        "lightning",
        lightning__pytorch__loggers={"Logger": Logger},
        lightning__pytorch__utilities={"rank_zero_only": lambda method: method},
        lightning__pytorch={},
        lightning={},
    )
    logger = module.DriftgateLogger({"reward": "rollout/raw_reward"})
    logger.log_hyperparams({"lr": 0.1})
    logger.log_metrics({"reward": 1.5, "epoch": 0}, step=3)
    assert (logger.name, logger.version) == ("driftgate", 0)
    assert read_lines() == [{"metric": "rollout/raw_reward", "series": [[3, 1.5]]}]


@pytest.mark.parametrize(("name", "package"), LIBRARIES.items())
def test_a_missing_library_is_one_clear_line(load, name, package):
    """Importing an integration without its library says what to install."""
    sys.modules.pop(f"driftgate.integrations.{name}", None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=f"driftgate.integrations.{name} needs .*: pip install {package}"):
            load(name)

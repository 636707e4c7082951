"""The preset miles holds the tables that the documentation promises."""

from pathlib import Path

import pytest

from driftgate.config.load import load_config
from driftgate.config.model import Cadence, Root, Scope, Suite
from gate.declarations import parse_declarations

CONFIG = load_config(file=None, start=Path("/"), env={}, options={})
NEEDS = ("stage-a-cpu",)
SUITES = [
    Suite("stage-a-cpu", "cpu", runner=("ubuntu-latest",)),
    Suite("stage-b-2-gpu-h200", "cuda", "hopper", 2, ("h200", "2gpu"), needs=NEEDS),
    Suite("stage-c-4-gpu-h200", "cuda", "hopper", 4, ("h200", "4gpu"), needs=NEEDS),
    Suite("stage-c-8-gpu-h100", "cuda", "hopper", 8, ("h100", "8gpu"), needs=NEEDS),
    Suite("stage-c-8-gpu-b200", "cuda", "blackwell", 8, ("b200", "8gpu"), needs=NEEDS),
    Suite("stage-c-4-gpu-mi350", "rocm", None, 4, ("self-hosted", "amd", "mi350", "4gpu"), needs=NEEDS),
]
LABELS = [
    "megatron", "model-scripts", "sglang", "fsdp", "short", "long", "ckpt", "lora", "eval", "precision", "ft-short",
    "ft-long", "weight-update", "fully-async", "replay", "qwen35", "mooncake", "miles-plugin", "deploy", "amd",
]  # fmt: skip
KL = {"rel_up": 0.5, "abs_floor_up": 0.02, "rel_down": 0.8, "abs_floor_down": 0.02}
MISMATCH = {"rel_up": 1.0, "abs_floor_up": 0.1, "rel_down": 1.0}
DEFAULTS = {
    "train/grad_norm": ("all", {"rel_up": 0.5, "abs_floor_up": 0.1, "rel_down": 0.8, "abs_floor_down": 0.1}),
    "train/ppo_kl": ("all", KL),
    "train/train_rollout_logprob_abs_diff": ("all", KL),
    "train/train_rollout_kl": ("all", KL),
    "rollout/raw_reward": ("all", {"rel_up": 0.5, "abs_floor_up": 0.05, "rel_down": 0.2, "abs_floor_down": 0.05}),
    "rollout/tito_session_mismatch_rate/v1/assistant_text": ("last", MISMATCH),
    "rollout/tito_session_mismatch_rate/v2/assistant_text": ("last", MISMATCH),
}


def test_the_suites_and_their_generations():
    """Hardware, runner labels and what a suite waits for."""
    assert list(CONFIG.suites.values()) == SUITES
    assert CONFIG.generations == ("hopper", "blackwell")


def test_the_labels_each_say_what_they_cover():
    """The registry is complete, in order, and described."""
    assert list(CONFIG.labels) == LABELS
    assert all(CONFIG.labels.values())


def test_the_cadences():
    """Who enters them, what they run, which write."""
    whole = {"nightly_only": True, "fast_fail": False}
    nightly_scope = Scope("all", ("long", "ft-long"))
    assert list(CONFIG.cadences.values()) == [
        Cadence("regular", events=("pull_request", "workflow_dispatch", "merge_request_event", "web")),
        Cadence("nightly", ("0 15 * * 0-5",), (), ("nightly",), nightly_scope, **whole, writes=True),
        Cadence("weekly", ("0 15 * * 6",), scope=Scope("all"), **whole, writes=True),
        Cadence("release", scope=Scope("all"), **whole, writes=False),
    ]


def test_the_roots():
    """tests/fast runs under pytest on CPU alone; the others declare for themselves."""
    command = ("{python}", "-m", "pytest", "{file}")
    fast = Root("tests/fast", "test_*.py", command, "cpu", "stage-a-cpu", 1.0, ("cuda", "rocm"))
    assert CONFIG.roots == (fast, Root("tests/fast-gpu"), Root("tests/e2e"), Root("tests/ci"))


@pytest.mark.parametrize("metric", DEFAULTS)
def test_the_defaults_table(metric):
    """Steps and constraint of each metric, exactly as written."""
    assert (CONFIG.defaults[metric].steps, CONFIG.defaults[metric].constraint) == DEFAULTS[metric]


def test_every_metric_of_the_defaults_table_can_be_declared_alone_and_is_captured():
    """A declaration names the metric, the table gives the rest."""
    text = "\n".join(f"register_ci_gate(metric_key={metric!r})" for metric in CONFIG.defaults)
    specs, problems = parse_declarations("test_a.py", text, CONFIG.defaults)
    assert not problems
    assert tuple(spec.metric_key for spec in specs) == CONFIG.capture_metrics
    assert set(CONFIG.defaults) == set(DEFAULTS)

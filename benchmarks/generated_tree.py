"""A tree of end-to-end tests as a training framework has them: each file registers itself, declares and launches."""

from __future__ import annotations

from pathlib import Path

LINES = 95
_ROOTS = ("tests/fast", "tests/fast-gpu", "tests/e2e", "tests/ci")
_HOMES = (
    'register_cuda_ci(est_time={time}, suite="stage-c-8-gpu-h100", labels=["megatron"], hardware=["hopper"])',
    'register_cuda_ci(est_time={time}, suite="stage-b-2-gpu-h200", labels=["short"], hardware=["hopper", "blackwell"])',
    'register_rocm_ci(est_time={time}, suite="stage-c-4-gpu-mi350", labels=["amd"])',
    'register_cpu_ci(est_time={time}, suite="stage-a-cpu")',
)
_TEXT = '''"""Trains variant {number} for a few steps and compares what it logs with earlier nights."""

import os
import subprocess
from dataclasses import dataclass, field

import pytest

from driftgate import register_ci_gate, {marker}

{home}
register_ci_gate(metric_key="train/ppo_kl")
register_ci_gate(
    metric_key="rollout/raw_reward",
    steps=[1, 2, 3],
    constraint={{"rel_up": 0.5, "abs_floor_up": 0.1, "rel_down": 0.8, "abs_floor_down": 0.1}},
    limits={{"min": 0.0}},
)

MODEL_NAME = "Qwen3-{number}B"
TIGHT_MEMORY = os.environ.get("TIGHT_MEMORY", "0") == "1"


@dataclass
class Recipe:
    """What the launcher is given."""

    num_rollout: int = 3
    batch_size: int = 8
    max_response_len: int = 1024
    extra: dict[str, str] = field(default_factory=dict)

    def arguments(self) -> list[str]:
        given = [f"--num-rollout={{self.num_rollout}}", f"--rollout-batch-size={{self.batch_size}}"]
        given += [f"--{{name}}={{value}}" for name, value in sorted(self.extra.items())]
        return [*given, f"--rollout-max-response-len={{self.max_response_len}}"]


def prepare(folder: str) -> None:
    """Fetches the weights and the prompts once; later runs find them."""
    for name, kind in (("weights", "model"), ("prompts", "dataset")):
        target = os.path.join(folder, name)
        if not os.path.exists(target):
            subprocess.run(["fetch", kind, MODEL_NAME, "--to", target], check=True)
    subprocess.run(["convert", "--model", MODEL_NAME, "--out", f"{{folder}}/converted"], check=True)


def is_small(recipe: Recipe) -> bool:
    return recipe.num_rollout * recipe.batch_size < 64


def execute(recipe: Recipe) -> None:
    rollout_args = (
        "--prompt-data /data/math/train.parquet "
        "--input-key prompt "
        "--label-key label "
        "--apply-chat-template "
        "--rollout-shuffle "
        "--rm-type deepscaler "
        f"--num-rollout {{3000 if recipe.num_rollout > 10 else recipe.num_rollout}} "
        "--n-samples-per-prompt 8 "
        "--rollout-temperature 0.8 "
        "--global-batch-size 64 "
        "--balance-data "
    )
    perf_args = (
        "--tensor-model-parallel-size 2 "
        "--sequence-parallel "
        "--pipeline-model-parallel-size 1 "
        "--context-parallel-size 2 "
        "--expert-model-parallel-size 1 "
        "--recompute-granularity full "
        "--recompute-method uniform "
        "--recompute-num-layers 1 "
        f"--max-tokens-per-gpu {{2048 if TIGHT_MEMORY else 16384}} "
    )
    optimizer_args = "--optimizer adam --lr 1e-6 --lr-decay-style constant --weight-decay 0.1 --adam-beta1 0.9 "
    subprocess.run(["train", *recipe.arguments(), *(rollout_args + perf_args + optimizer_args).split()], check=True)


@pytest.mark.parametrize("batch_size", [4, 8])
@pytest.mark.parametrize("extra", [{{}}, {{"use-kl-loss": "1", "kl-loss-coef": "0.01"}}])
def test_variant_{number}_trains(tmp_path, batch_size, extra):
    """Nothing crashes, and the numbers are still the numbers."""
    prepare(str(tmp_path))
    recipe = Recipe(batch_size=batch_size, extra=extra)
    execute(recipe)
    assert recipe.num_rollout >= 1


if __name__ == "__main__":
    for proxy in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        os.environ.pop(proxy, None)
    prepare("models")
    execute(Recipe())
'''


def write_tree(repository: Path, files: int) -> None:
    """``files`` test files of 95 lines below the roots of the preset, in a folder that looks like a repository."""
    (repository / ".git").mkdir(parents=True)
    for root in _ROOTS:
        (repository / root).mkdir(parents=True)
    for number in range(files):
        home = _HOMES[number % len(_HOMES)].format(time=60 + number)
        folder = repository / "tests/e2e" / f"group_{number % 20:02d}"
        folder.mkdir(exist_ok=True)
        text = _TEXT.format(number=number, home=home, marker=home.partition("(")[0])
        (folder / f"test_variant_{number:03d}.py").write_text(text, encoding="utf-8")

"""A repository as the miles preset expects one, and plans of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from driftgate.config.load import load_config
from driftgate.harness.plan import Plan, PlanRequest, make_plan
from driftgate.harness.plan_call import plan_output
from driftgate.harness.plan_options import PlanOptions
from driftgate.harness.trigger import Requests, read_trigger

TESTS = {
    "tests/fast/test_metric_naming.py": "",
    "tests/fast/utils/test_arguments.py": "",
    "tests/fast-gpu/test_fp8_kernels.py": 'register_cuda_ci(est_time=60, suite="stage-b-2-gpu-h200", labels=["precision"], hardware=["hopper"])',
    "tests/e2e/megatron/test_qwen3_4B_ppo.py": (
        'register_cuda_ci(est_time=300, suite="stage-c-8-gpu-h100", labels=["megatron"], hardware=["hopper", "blackwell"])\n'
        'register_ci_gate(metric_key="train/ppo_kl")\n'
        'register_ci_gate(metric_key="train/grad_norm")'
    ),
    "tests/e2e/megatron/test_moonlight_16B_A3B.py": (
        'register_cuda_ci(est_time=900, suite="stage-c-8-gpu-h100", labels=["megatron"], hardware=["hopper"])\n'
        'register_rocm_ci(est_time=1200, suite="stage-c-4-gpu-mi350", labels=["amd"])'
    ),
    "tests/e2e/fsdp/test_qwen3_0.6B_fsdp.py": 'register_cuda_ci(est_time=200, suite="stage-c-4-gpu-h200", labels=["fsdp"], hardware=["hopper"], nightly=True)',
    "tests/e2e/long/test_gsm8k_long.py": 'register_cuda_ci(est_time=3000, suite="stage-c-8-gpu-h100", labels=["long"], hardware=["hopper"])',
    "tests/e2e/precision/test_nvfp4.py": 'register_cuda_ci(est_time=500, suite="stage-c-8-gpu-b200", labels=["precision"], hardware=["blackwell"])',
    "tests/e2e/ft/test_rollout_fault.py": 'register_cuda_ci(est_time=400, suite="stage-c-8-gpu-h100", labels=["ft-short"], hardware=["hopper"], disabled="waits for NCCL 2.27")',
    "tests/ci/test_policy.py": 'register_cpu_ci(est_time=5, suite="stage-a-cpu")',
}
HEADER = "from driftgate import register_ci_gate, register_cpu_ci, register_cuda_ci, register_rocm_ci\n"


class Planner:
    """Plans the repository at ``home``; options of the configuration have ``__`` for their dot."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment: dict[str, str] = {}
        for name, text in TESTS.items():
            self.write(name, f"{HEADER}{text}\n")
        (home / ".git").mkdir()

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def config(self, **options: Any) -> Any:
        given = {key.replace("__", "."): value for key, value in options.items()}
        return load_config(file=None, start=self.home, env={}, options=given)

    def plan(self, cadence: str | None = None, *labels: str, event: str | None = None, **request: Any) -> Plan:
        """The plan of one request; ``config`` may be among its fields."""
        config = request.pop("config", None) or self.config()
        trigger = read_trigger(self.environment, Requests(cadence=cadence, labels=labels, event=event))
        return make_plan(PlanRequest(config, trigger, **request))

    def output(self, **options: Any) -> str:
        """What ``driftgate plan`` prints."""
        config = options.pop("config", None) or self.config()
        return plan_output(PlanOptions(**options), config, self.environment)

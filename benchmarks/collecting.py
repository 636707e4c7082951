"""Row 1: ``collector.log()`` of five metrics, early and late in a run."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import Row, median_seconds
from benchmarks.reference import RewritingCollector
from driftgate.collector import Collector

METRICS = {
    "train/grad_norm": 1.25,
    "train/ppo_kl": 0.0012,
    "train/train_rollout_logprob_abs_diff": 0.031,
    "train/train_rollout_kl": 0.004,
    "rollout/raw_reward": 0.5,
}
LATE = 10_000
TARGET_US = 25.0


def rows() -> list[Row]:
    with TemporaryDirectory() as folder:
        ours_early, ours_late = _ours(Path(folder))
        rival_early, rival_late = _rival(Path(folder))
    return [
        Row("log() of 5 metrics, first calls", ours_early, "us", "<= 25 us", ours_early <= TARGET_US, rival_early),
        Row(
            f"log() of 5 metrics after {LATE} calls",
            ours_late,
            "us",
            "<= 25 us, independent of length",
            ours_late <= TARGET_US,
            rival_late,
            f"late / early: driftgate {ours_late / ours_early:.2f}, stand-in {rival_late / rival_early:.0f}",
        ),
        _switched_off(),
    ]


def _ours(folder: Path) -> tuple[float, float]:
    collector = Collector.from_env({"DRIFTGATE_RECORD_DIR": str(folder)})
    early = median_seconds(lambda: collector.log(METRICS, step=1), repeat=500)
    for step in range(LATE):
        collector.log(METRICS, step=step)
    late = median_seconds(lambda: collector.log(METRICS, step=1), repeat=500)
    collector.finish()
    return early * 1e6, late * 1e6


def _rival(folder: Path) -> tuple[float, float]:
    collector = RewritingCollector(folder)
    early = median_seconds(lambda: collector.log(METRICS, 1), repeat=50)
    collector.preload(METRICS, LATE)
    late = median_seconds(lambda: collector.log(METRICS, 1), repeat=9, warm_up=1)
    return early * 1e6, late * 1e6


def _switched_off() -> Row:
    collector = Collector.from_env({})
    batch = 1000

    def many() -> None:
        for _ in range(batch):
            collector.log(METRICS, step=1)

    ours = median_seconds(many, repeat=50) / batch * 1e6
    return Row("log() where collecting is off", ours, "us", "<= 1 us", ours <= 1.0)

"""Where a run comes from: the CI service, the configuration, git and the machine, in this order."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path

from driftgate.config.model import Config
from driftgate.harness.ci_facts import ci_facts, sha
from driftgate.harness.outside_programs import ask
from gate.provenance import Provenance


def read_provenance(environment: Mapping[str, str], config: Config) -> Provenance:
    """Everything that is the same for all tests of one call; asks git and nvidia-smi, each for a few seconds at most.

    Cadence, shard, test attempt and seed are the caller's to add.
    """
    gpu_model, gpu_driver = gpu()
    return replace(
        ci_facts(environment),
        tested_sha=config.provenance.tested_sha or checked_out_sha(config.repository),
        host=socket.gethostname() or None,
        gpu_model=gpu_model,
        gpu_driver=gpu_driver,
        image_digest=config.provenance.image_digest,
        packages=package_versions(config.provenance.packages),
    )


def checked_out_sha(folder: Path) -> str | None:
    """The commit checked out in ``folder``."""
    return sha(ask(("git", "rev-parse", "--verify", "HEAD"), folder))


def gpu() -> tuple[str | None, str | None]:
    """Model and driver of the machine's NVIDIA GPUs, different ones joined by a comma."""
    answer = ask(("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"))
    rows = [row.rpartition(",") for row in (answer or "").splitlines() if "," in row]
    models = dict.fromkeys(model.strip() for model, _, _ in rows)
    drivers = dict.fromkeys(driver.strip() for _, _, driver in rows)
    return ", ".join(models) or None, ", ".join(drivers) or None


def package_versions(names: Sequence[str]) -> dict[str, str]:
    """The versions of those named packages that are installed."""
    versions = {}
    for name in names:
        try:
            versions[name] = metadata.version(name)
        except (metadata.PackageNotFoundError, ValueError):
            continue
    return versions

"""How suites are named so that people know from the name what runs there. A lint, not a rule. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from driftgate.config.files import NO_PRESET
from driftgate.config.model import Config, Suite
from driftgate.harness.plan_notice import PlanNotice
from gate.wording import shown

KIND = "suite_name"
_ON_CPU = re.compile(r"stage-[a-z0-9]+-cpu")
_ON_GPUS = re.compile(r"stage-[a-z0-9]+-(?P<gpus>[1-9][0-9]*)-gpu-[a-z0-9]+")


def suite_name_notices(config: Config) -> tuple[PlanNotice, ...]:
    """One notice for each suite that is not named as its backend and its GPUs ask.

    None where a project starts from empty tables: its names are its own.
    """
    if config.preset == NO_PRESET:
        return ()
    return tuple(PlanNotice(KIND, text) for suite in config.suites.values() for text in _remarks(suite))


def _remarks(suite: Suite) -> Iterator[str]:
    on_gpus = _ON_GPUS.fullmatch(suite.name)
    if suite.backend == "cpu":
        if not _ON_CPU.fullmatch(suite.name):
            yield f"suite {shown(suite.name)} runs on CPUs; such a suite is named stage-<tier>-cpu"
    elif on_gpus is None:
        yield f"suite {shown(suite.name)} runs on GPUs; such a suite is named stage-<tier>-<gpus>-gpu-<hardware>"
    elif int(on_gpus["gpus"]) != suite.gpus:
        yield f"suite {shown(suite.name)} has {suite.gpus} GPUs, but its name says {on_gpus['gpus']}"

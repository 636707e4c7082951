"""The options of ``driftgate plan`` and ``python -m driftgate.plan``: one table for both. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gate.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Option:
    """``metavar`` None: a flag without a value. ``repeated``: may be given several times."""

    flag: str
    help: str
    metavar: str | None = None
    repeated: bool = False


OPTIONS: Mapping[str, Option] = {
    "hw": Option("--hw", "Only suites of this backend: cpu, cuda or rocm.", "NAME"),
    "suite": Option("--suite", "Only what this suite executes.", "NAME"),
    "cadence": Option("--cadence", "regular, nightly, weekly, release or one of your own.", "NAME"),
    "label": Option(
        "--label", "A label as of a pull request, or one of [labels]; may be repeated.", "LABEL", repeated=True
    ),
    "event": Option("--event", "The CI event, where the environment does not say it.", "NAME"),
    "schedule": Option("--schedule", "The cron line that fired, looked up in [cadences].", "CRON"),
    "shard": Option("--shard", "One of n shards of each suite, counted from 0: 0/2 and 1/2.", "i/n"),
    "file": Option("--file", "This test file alone, whatever labels and cadence say.", "FILE"),
    "snapshot": Option("--snapshot", "Read --file as data from this untrusted checkout.", "DIR"),
    "changed_files": Option("--changed-files", "What git diff --name-status -M -z wrote; prunes suites.", "FILE"),
    "match_all_labels": Option("--match-all-labels", "Every label, whatever the cadence's scope."),
    "durations": Option("--durations", "Learned durations from driftgate durations, to balance shards.", "FILE"),
    "explain": Option("--explain", "Say for this test file, rule by rule, why it runs or not.", "FILE"),
    "must_contain": Option(
        "--must-contain", "Fail unless the plan has this test file; may be repeated.", "FILE", repeated=True
    ),
    "github_output": Option("--github-output", "Append the plan's outputs to the file $GITHUB_OUTPUT names."),
}
"""Field of ``PlanOptions`` to option."""

COMMON: Mapping[str, Option] = {
    "db": Option("--db", "Store: sqlite:///history.db, https://HOST, ...; secrets: environment.", "URL"),
    "config_file": Option("--config", "driftgate.toml, instead of the one found from here up.", "FILE"),
    "project": Option("--project", "Project instead of the configured one.", "NAME"),
    "json": Option("--json", "Data for machines on stdout, everything else on stderr."),
}
"""What every command of driftgate has."""


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """One call, as it was given; ``json``: for machines."""

    hw: str | None = None
    suite: str | None = None
    cadence: str | None = None
    label: tuple[str, ...] = ()
    event: str | None = None
    schedule: str | None = None
    shard: str | None = None
    file: Path | None = None
    snapshot: Path | None = None
    changed_files: Path | None = None
    match_all_labels: bool = False
    durations: Path | None = None
    explain: Path | None = None
    must_contain: tuple[Path, ...] = ()
    github_output: bool = False
    json: bool = False


def plan_options(given: Mapping[str, Any], *, json: bool) -> PlanOptions:
    """The options as either command line parsed them: strings, lists of strings, flags, None where not given.

    Raises ConfigError for an empty path: the variable of a workflow that should have held one.
    """
    values = {name: _typed(OPTIONS[name], value) for name, value in given.items() if value not in (None, [])}
    return PlanOptions(**values, json=json)


def _typed(option: Option, value: Any) -> Any:
    if option.repeated:
        return tuple(_single(option, item) for item in value)
    return _single(option, value)


def _single(option: Option, value: Any) -> Any:
    if option.metavar not in ("FILE", "DIR"):
        return value
    if not value:
        raise ConfigError(f"{option.flag}: is empty; give a path, or leave the option out")
    return Path(value)

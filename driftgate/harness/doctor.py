"""Is everything there that a run on this machine needs? Environment, configuration, tests and CI."""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from driftgate.config.model import Config
from driftgate.harness.discovery import read_tree
from driftgate.harness.enforcement import KILL_SWITCH, may_enforce
from driftgate.harness.outside_programs import ask
from driftgate.harness.policy import decide
from driftgate.harness.provenance import checked_out_sha, package_versions
from driftgate.harness.run import RECORDS_FOLDER
from driftgate.harness.trigger import Requests, read_trigger
from gate.errors import ConfigError
from gate.numbers import counted
from store.health import Diagnosis
from store.urls import check_store_url, parse_url

PACKAGES = ("driftgate", "sqlalchemy", "psycopg", "alembic", "numpy", "pandas", "typer", "rich", "orjson", "psutil")
LEAST_FREE_BYTES = 1 << 30


@dataclass(frozen=True, slots=True)
class DoctorRequest:
    """``config_file`` None: none was found."""

    config: Config
    config_file: Path | None
    environment: Mapping[str, str]
    requests: Requests


def examine(request: DoctorRequest) -> Iterator[Diagnosis]:
    """Everything but the store. Nothing is changed."""
    config = request.config
    yield Diagnosis("python", "ok", f"{platform.python_version()}, {sys.executable}, on {platform.system()}")
    yield Diagnosis("packages", "ok", _listed(package_versions(PACKAGES)))
    yield _configuration(request)
    yield _git(config)
    yield _tests(config)
    yield _records(config)
    yield _ci(request)
    yield _enforcement(request)


def _listed(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())


def _configuration(request: DoctorRequest) -> Diagnosis:
    config = request.config
    where = str(request.config_file) if request.config_file else "no file, the preset's values hold"
    told = f"{where}; project {config.project}, preset {config.preset}"
    try:
        check_store_url(config.store.url)
        if config.store.migration_url:
            parse_url(config.store.migration_url)
    except ConfigError as error:
        return Diagnosis("configuration", "fail", f"{told}; {error}", "`driftgate config show store` says whence it is")
    return Diagnosis("configuration", "ok", told)


def _git(config: Config) -> Diagnosis:
    version = ask(("git", "--version"))
    if version is None:
        advice = "install git, or say the commit in DRIFTGATE_TESTED_SHA"
        return Diagnosis("git", "warn", "not found: the tested commit is not known", advice)
    commit = checked_out_sha(config.repository)
    if commit is None:
        advice = "run inside the repository; in a container: git config --global --add safe.directory"
        return Diagnosis("git", "warn", f"{version}, but no commit is checked out in {config.repository}", advice)
    return Diagnosis("git", "ok", f"{version}, {commit[:12]} checked out in {config.repository}")


def _tests(config: Config) -> Diagnosis:
    try:
        tree = read_tree(config)
    except ConfigError as error:
        text = str(error).splitlines()[0]
        return Diagnosis("tests", "warn", text, "`driftgate run FILE` works without; plan and coverage do not")
    if tree.problems:
        mistakes, files = counted(len(tree.problems), "mistake"), counted(len(tree.files), "test file")
        text = f"{mistakes} in {files}, the first: {tree.problems[0]}"
        return Diagnosis("tests", "fail", text, "`driftgate plan` lists all of them")
    gated = sum(bool(file.specs) for file in tree.files)
    return Diagnosis("tests", "ok", f"{counted(len(tree.files), 'test file')}, {gated} with register_ci_gate")


def _records(config: Config) -> Diagnosis:
    folder = config.base / RECORDS_FOLDER
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    try:
        with tempfile.TemporaryDirectory(dir=existing, prefix=".driftgate-doctor-"):
            free = shutil.disk_usage(existing).free
    except OSError as error:
        advice = "change the permissions, or give run --records DIR"
        return Diagnosis("records", "fail", f"{folder} cannot be written: {error.strerror}", advice)
    told = f"{folder} can be written, {free / 2**30:.1f} GiB free"
    if free < LEAST_FREE_BYTES:
        return Diagnosis("records", "warn", told, "make room: a full disk ends tests and the store's writes")
    return Diagnosis("records", "ok", told)


def _ci(request: DoctorRequest) -> Diagnosis:
    trigger = read_trigger(request.environment, request.requests)
    place = "CI" if trigger.in_ci else "no CI"
    facts = {"event": trigger.event, "branch": trigger.branch, "cron": trigger.cron}
    known = "".join(f", {name} {value}" for name, value in facts.items() if value is not None)
    try:
        policy = decide(trigger, request.config)
    except ConfigError as error:
        return Diagnosis("ci", "fail", f"{place}{known}: {str(error).splitlines()[0]}", "give --cadence")
    writes = "writes the baseline" if policy.writes else f"does not write: {policy.reason}"
    return Diagnosis("ci", "ok", f"{place}{known}: cadence {policy.cadence.name}, {writes}")


def _enforcement(request: DoctorRequest) -> Diagnosis:
    enforcement = request.config.enforcement
    try:
        may_enforce("", enforcement, request.environment)
    except ConfigError as error:
        return Diagnosis("enforcement", "fail", str(error), "correct the variable")
    if not enforcement.allow:
        return Diagnosis("enforcement", "ok", "shadow: [enforcement] allow is empty, no verdict fails a job")
    if request.environment.get(KILL_SWITCH, "").strip().lower() == "off":
        return Diagnosis("enforcement", "warn", f"switched off by {KILL_SWITCH}", "unset it when the outage is over")
    return Diagnosis("enforcement", "ok", f"allowed for {', '.join(enforcement.allow)}")

"""Registrations from a test file's ``register_*_ci`` calls, read from its source. Standard library only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from driftgate.config.model import Backend, Config
from driftgate.harness.registration_fields import FieldRules
from gate.calls import MOST_PROBLEMS, ArgumentReader, Signature
from gate.errors import Problem, SourceError
from gate.source import Source, marker_calls, more_problems, parse_source
from gate.wording import listed

MARKER_BACKENDS: dict[str, Backend] = {
    "register_cpu_ci": "cpu",
    "register_cuda_ci": "cuda",
    "register_rocm_ci": "rocm",
}
_PARAMETERS = ("est_time", "suite", "labels", "nightly", "disabled", "hardware", "num_gpus")
_SIGNATURES = {name: Signature(name, _PARAMETERS, positional=2) for name in MARKER_BACKENDS}


@dataclass(frozen=True, slots=True)
class Registration:
    """A test file's place in CI. ``suite`` is its home; ``hardware`` the generations it supports, as declared.

    ``num_gpus`` None: the home suite's. ``disabled`` is the reason, None where enabled. ``implicit``: not declared,
    but given by the default of the file's root.
    """

    backend: Backend
    suite: str
    est_time_s: float
    labels: tuple[str, ...] = ()
    nightly: bool = False
    disabled: str | None = None
    hardware: tuple[str, ...] = ()
    num_gpus: int | None = None
    line: int = 0
    implicit: bool = False


def parse_registrations(
    filename: str, text: str, config: Config
) -> tuple[tuple[Registration, ...], tuple[Problem, ...]]:
    """The file's registrations in file order and all of its mistakes; a call with a mistake gives no registration."""
    try:
        source = parse_source(filename, text)
    except SourceError as error:
        return (), error.problems
    return declared_registrations(source, config)


def declared_registrations(source: Source, config: Config) -> tuple[tuple[Registration, ...], tuple[Problem, ...]]:
    """As ``parse_registrations``, of a file that is parsed already."""
    calls, misuses = marker_calls(source, _SIGNATURES)
    found = list(misuses)
    registrations: list[Registration] = []
    first_line: dict[tuple[str, str], int] = {}
    for call in calls:
        if len(found) >= MOST_PROBLEMS:
            found.append(more_problems(source.filename, call.line))
            break
        reader = ArgumentReader(call)
        registration = _read_registration(reader, config)
        if registration is not None:
            place = (registration.backend, registration.suite)
            if place in first_line:
                reader.complain("", f"registers {registration.suite} again, as line {first_line[place]}; keep one")
            first_line.setdefault(place, call.line)
        if registration is not None and not reader.problems:
            registrations.append(registration)
        found += reader.problems
    return tuple(registrations), tuple(sorted(found, key=lambda problem: problem.line))


def _read_registration(reader: ArgumentReader, config: Config) -> Registration | None:
    """The call as a value, None where its place or time cannot be read; mistakes are the reader's."""
    backend = MARKER_BACKENDS[reader.call.name]
    rules = FieldRules(config, backend)
    est_time_s = reader.require("est_time", rules.est_time, "give the expected seconds: est_time=300")
    suite = reader.require("suite", rules.suite, "name the suite that runs this file")
    read: dict[str, Any] = {
        "labels": reader.read("labels", rules.labels),
        "nightly": reader.read("nightly", rules.nightly),
        "disabled": reader.read("disabled", rules.disabled),
        "hardware": reader.read("hardware", rules.hardware),
        "num_gpus": reader.read("num_gpus", rules.num_gpus),
    }
    _check_required(reader, backend, read, config)
    if est_time_s is None or suite is None:
        return None
    given = {name: value for name, value in read.items() if value is not None}
    registration = Registration(backend, suite, est_time_s, line=reader.call.line, **given)
    _check_home(reader, registration, config)
    return registration


def _check_required(reader: ArgumentReader, backend: Backend, read: Mapping[str, Any], config: Config) -> None:
    if backend != "cpu" and (read["labels"] == () or reader.call.lacks("labels")):
        reader.complain("labels", "a GPU test needs a label that asks for it; give one of [labels]: labels=[...]")
    if backend == "cuda" and reader.call.lacks("hardware"):
        reader.complain("hardware", f"missing; name the generations this test supports: {listed(config.generations)}")


def _check_home(reader: ArgumentReader, registration: Registration, config: Config) -> None:
    """The home suite is on the most preferred generation that the test supports, and has its GPUs."""
    suite = config.suites[registration.suite]
    preferred = [generation for generation in config.generations if generation in registration.hardware]
    if preferred and suite.generation != preferred[0]:
        fitting = [s.name for s in config.suites.values() if s.backend == "cuda" and s.generation == preferred[0]]
        text = f"{suite.name} is on {suite.generation}, but this test's home must be on {preferred[0]}"
        reader.complain("suite", f"{text}, the most preferred it supports; valid: {listed(fitting) or 'none'}")
    if registration.num_gpus is not None and registration.num_gpus > suite.gpus:
        reader.complain("num_gpus", f"{registration.num_gpus} is above the {suite.gpus} GPUs of {suite.name}")

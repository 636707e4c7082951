"""Registrations as the reference design hands them out: no configuration says which suites and labels there are."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from enum import Enum, auto
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from driftgate.compat.sources import read_source, refuse
from driftgate.config.build import build_config
from driftgate.config.files import NO_PRESET
from driftgate.config.model import Config
from driftgate.config.schema import Entry
from driftgate.harness.registration_fields import FieldRules
from driftgate.harness.registrations import MARKER_BACKENDS
from gate.calls import ArgumentReader, Complain, MarkerCall, Signature
from gate.source import marker_calls
from gate.wording import shown

_PARAMETERS = ("est_time", "suite", "labels", "nightly", "disabled", "hardware", "num_gpus")
_SIGNATURES = {name: Signature(name, _PARAMETERS, positional=2) for name in MARKER_BACKENDS}


class HWBackend(Enum):
    """Kinds of hardware."""

    CPU = auto()
    CUDA = auto()
    ROCM = auto()


@dataclass
class CIRegistry:
    """One ``register_*_ci`` call. ``est_time`` in seconds; ``disabled`` is the reason, None where enabled."""

    backend: HWBackend
    filename: str
    est_time: float
    suite: str
    labels: list[str] = field(default_factory=list)
    nightly: bool = False
    disabled: str | None = None
    implicit: bool = False


def ut_parse_one_file(filename: str | PathLike[str]) -> list[CIRegistry]:
    """Every registration at the top level of the file, in file order; any suite and any label will do.

    Raises: OSError (no such file), ValueError (all mistakes of the file, one a line).
    """
    name = fspath(filename)
    calls, misuses = marker_calls(read_source(name), _SIGNATURES)
    readers = [ArgumentReader(call) for call in calls]
    found = [_registry(name, reader) for reader in readers]
    refuse([*misuses, *(problem for reader in readers for problem in reader.problems)])
    return [registry for registry in found if registry is not None]


def only_registry(filename: str) -> CIRegistry:
    """The registration of a file that has exactly one. Raises ValueError for none and for several."""
    found = ut_parse_one_file(filename)
    if len(found) != 1:
        what = "has no register_*_ci() call" if not found else f"has {len(found)} registrations"
        raise ValueError(f"{filename}: {what}; give the one that ran as registry=")
    return found[0]


def backend_name(backend: HWBackend) -> str:
    """As series name it: ``cpu``, ``cuda`` or ``rocm``."""
    return backend.name.lower()


def _registry(filename: str, reader: ArgumentReader) -> CIRegistry | None:
    backend = MARKER_BACKENDS[reader.call.name]
    rules = FieldRules(_nothing_configured(), backend)
    est_time = reader.require("est_time", rules.est_time, "give the expected seconds: est_time=300")
    suite = reader.require("suite", _suite, "name the suite that runs this file")
    labels = reader.read("labels", _labels)
    nightly = reader.read("nightly", rules.nightly)
    disabled = reader.read("disabled", rules.disabled)
    if _given(reader.call, "hardware"):
        reader.read("hardware", _labels)
    if _given(reader.call, "num_gpus"):
        reader.read("num_gpus", rules.num_gpus)
    if est_time is None or suite is None:
        return None
    return CIRegistry(HWBackend[backend.upper()], filename, est_time, suite, labels or [], bool(nightly), disabled)


def _given(call: MarkerCall, parameter: str) -> bool:
    argument = call.arguments.get(parameter)
    return argument is not None and argument.value is not None


@functools.cache
def _nothing_configured() -> Config:
    """The rules for numbers and flags are driftgate's; names of suites and labels are the caller's."""
    return build_config(Path(), Path(), {("preset",): Entry(NO_PRESET, "compat")})


def _suite(value: Any, complain: Complain) -> str:
    if not isinstance(value, str) or not value.strip():
        complain(f"found {shown(value)}; write the suite's name as a non-empty string")
    return str(value)


def _labels(value: Any, complain: Complain) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(label, str) for label in value):
        complain(f"found {shown(value)}; write a list of strings")
        return []
    return value

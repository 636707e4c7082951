"""Reading a baseline file that anybody may have written: whole and valid, or refused with one line."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from driftgate.harness.baseline_file import (
    KIND,
    SCHEMA,
    USES,
    BaselineFile,
    LastTrusted,
    Origin,
    SeriesBaseline,
)
from driftgate.harness.regular_files import NotRegular, opened_folder, read_regular
from gate.errors import DriftgateError
from gate.history import History, RunRef, SpecHistory, StoredSeries
from gate.identity import SeriesIdentity, SpecKey
from gate.provenance import Provenance
from gate.wording import shown

LARGEST_BYTES = 256 << 20
LARGEST_INTEGER = 2**63 - 1
T = TypeVar("T")


def read_baseline_file(path: Path) -> BaselineFile:
    """Raises DriftgateError, one line that names the file, for anything that is not a baseline of this version."""
    document = _document(path)
    try:
        return _file(document)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise _refused(path, f"is no baseline: {what}") from None


def _document(path: Path) -> Mapping[str, Any]:
    try:
        with opened_folder(path.absolute().parent) as folder:
            content = read_regular(path.name, folder, LARGEST_BYTES)
    except NotRegular as error:
        raise _refused(path, f"is {error}") from None
    except (OSError, ValueError) as error:
        raise _refused(path, f"cannot be read ({getattr(error, 'strerror', None) or error})") from None
    if len(content) > LARGEST_BYTES:
        raise _refused(path, f"is above {LARGEST_BYTES >> 20} MiB")
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        raise _refused(path, "is not JSON") from None
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise _refused(path, "is no baseline")
    if document.get("schema") != SCHEMA:
        found = shown(document.get("schema"))
        raise _refused(path, f"is of schema {found}, this driftgate reads {SCHEMA}")
    return document


def _refused(path: Path, what: str) -> DriftgateError:
    return DriftgateError(f"baseline file {path} {what}; export it again: driftgate baseline --export FILE")


def _file(document: Mapping[str, Any]) -> BaselineFile:
    origin = _origin(_table(document["origin"]))
    series: dict[SeriesIdentity, SeriesBaseline] = {}
    for row in map(_table, _list(document["series"])):
        identity = SeriesIdentity(origin.project, *(_text(row[name]) for name in ("test_path", "backend", "suite")))
        if identity in series:
            raise ValueError(f"series {shown(identity.test_path)} stands in it twice")
        series[identity] = _series(row)
    return BaselineFile(origin, series)


def _origin(row: Mapping[str, Any]) -> Origin:
    return Origin(
        project=_text(row["project"]),
        exported_at=_moment(row["exported_at"]),
        history=_integer(row["history"]),
        anchor_runs=_integer(row["anchor_runs"]),
        trust=_text(row["trust"]),
        commit_sha=_optional(_text, row["commit_sha"]),
        ci_run_id=_optional(_integer, row["ci_run_id"]),
        ref=_optional(_text, row["ref"]),
    )


def _series(row: Mapping[str, Any]) -> SeriesBaseline:
    runs = [_run(_table(run)) for run in _list(row["runs"])]
    step_sets = [_steps(steps) for steps in _list(row["step_sets"])]
    specs = {}
    for spec in map(_table, _list(row["specs"])):
        key = SpecKey(*(_text(spec[name]) for name in ("metric_key", "steps_key", "constraint_key")))
        specs[key] = _spec(spec, runs, step_sets)
    return SeriesBaseline(
        history=History(specs, tuple(_at(runs, place) for place in _list(row["recent"]))),
        epoch_id=_optional(_text, row["epoch_id"]),
        last_trusted=_optional(_last_trusted, row["last_trusted"]),
    )


def _spec(spec: Mapping[str, Any], runs: Sequence[RunRef], step_sets: Sequence[NDArray[np.int64]]) -> SpecHistory:
    rows = []
    for row in map(_table, _list(spec["rows"])):
        steps, values = _at(step_sets, row["steps"]), _values(row["values"])
        if steps.size != values.size:
            raise ValueError(f"{steps.size} steps with {values.size} values")
        rows.append(StoredSeries(_at(runs, row["run"]), steps, values, _integer(row["points"])))
    uses = {use: tuple(_at(rows, place) for place in _list(spec[use])) for use in USES}
    return SpecHistory(**uses, epoch_id=_optional(_text, spec["epoch_id"]), anchor_ever=_integer(spec["anchor_ever"]))


def _run(row: Mapping[str, Any]) -> RunRef:
    return RunRef(
        run_id=_text(row["run_id"]),
        created_at=_moment(row["created_at"]),
        trusted=_flag(row["trusted"]),
        counting=_flag(row["counting"]),
        valid=_flag(row["valid"]),
        ci_run_id=_optional(_integer, row["ci_run_id"]),
    )


def _last_trusted(value: Any) -> LastTrusted:
    row = _table(value)
    facts = _table(row["provenance"])
    packages = {_text(name): _text(version) for name, version in _table(facts.get("packages", {})).items()}

    def fact(name: str) -> str | None:
        return _optional(_text, facts.get(name))

    provenance = Provenance(
        tested_sha=fact("tested_sha"),
        ci_sha=fact("ci_sha"),
        ref=fact("ref"),
        cadence=fact("cadence"),
        host=fact("host"),
        gpu_model=fact("gpu_model"),
        gpu_driver=fact("gpu_driver"),
        image_digest=fact("image_digest"),
        packages=packages,
    )
    return LastTrusted(_text(row["run_id"]), provenance)


def _steps(value: Any) -> NDArray[np.int64]:
    steps = [_integer(step, least=-LARGEST_INTEGER) for step in _list(value)]
    if any(later <= earlier for earlier, later in pairwise(steps)):
        raise ValueError("steps do not ascend")
    return np.array(steps, np.int64)


def _values(value: Any) -> NDArray[np.float64]:
    values = _list(value)
    if not all(isinstance(number, float) and math.isfinite(number) for number in values):
        raise ValueError("a value is no finite number")
    return np.array(values, np.float64)


def _at(things: Sequence[T], place: Any) -> T:
    index = _integer(place)
    if index >= len(things):
        raise ValueError(f"place {index} of {len(things)}")
    return things[index]


def _table(value: Any) -> Mapping[str, Any]:
    return _of(dict, value)


def _list(value: Any) -> list[Any]:
    return _of(list, value)


def _text(value: Any) -> str:
    return _of(str, value)


def _flag(value: Any) -> bool:
    return _of(bool, value)


def _of(kind: type[T], value: Any) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"found {shown(value)}, expected a {kind.__name__}")
    return value


def _integer(value: Any, *, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST_INTEGER:
        raise ValueError(f"found {shown(value)}, expected a whole number")
    return value


def _moment(value: Any) -> datetime:
    at = datetime.fromisoformat(_text(value))
    if at.tzinfo is None:
        raise ValueError(f"found {shown(value)}, expected a time with its zone")
    return at.astimezone(UTC)


def _optional(read: Callable[[Any], T], value: Any) -> T | None:
    return None if value is None else read(value)

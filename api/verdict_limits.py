"""How much one request may have judged, and how long a verdict may be: a short question has endless answers else."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from http import HTTPStatus

from fastapi import Response

from api.bodies import MAX_VALUES
from api.problems import Refused
from api.responses import json_response
from gate.record import Record
from gate.spec import GateSpec
from gate.verdict import Verdict
from gate.verdict_json import to_json

MAX_POINTS_READ = 1_000_000
"""Each gate spec reads every point of its metric."""
MAX_VERDICT_BYTES = 64 * 2**20
_ROW_BYTES = 1000
"""About what a coordinate takes beside the keys of its gate spec, which each of them repeats."""


def check_size(specs: Sequence[GateSpec], record: Record) -> None:
    """Raises ValueError where judging ``record`` by ``specs`` is more than one request may ask for."""
    read = coordinates = 0
    for spec in specs:
        series = record.metrics.get(unicodedata.normalize("NFC", spec.metric_key))
        points = 0 if series is None else len(series.values)
        read += points
        listed = len(spec.steps) if isinstance(spec.steps, tuple) else 1
        coordinates += points if spec.steps == "all" else listed
    if coordinates > MAX_VALUES:
        raise ValueError(f"{coordinates} coordinates; one request may have {MAX_VALUES} judged")
    if read > MAX_POINTS_READ:
        raise ValueError(f"declarations that read {read} points together; one request may have {MAX_POINTS_READ} read")


def verdict_response(verdict: Verdict) -> Response:
    """As `driftgate gate --json` prints it. Raises Refused (422) for one of more than `MAX_VERDICT_BYTES`, about."""
    length = 0
    for one in verdict.specs:
        key = one.spec.key
        keys = len(key.metric_key) + len(key.steps_key) + len(key.constraint_key)
        length += one.steps.size * (keys + _ROW_BYTES)
    if length > MAX_VERDICT_BYTES:
        coordinates = sum(one.steps.size for one in verdict.specs)
        text = (
            f"the verdict on {coordinates} coordinates is longer than {MAX_VERDICT_BYTES // 2**20} MiB; "
            "judge fewer at a time, and read a stored run by columns: GET /v1/runs/{run_id}"
        )
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, text)
    return json_response(to_json(verdict))

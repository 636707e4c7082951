"""A verdict without a trace: a record is judged by its declarations against what is stored, and nothing is written."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import APIRouter, Request, Response
from pydantic import Field

from api.bodies import MAX_SPECS, ProvenanceBody, SeriesBody
from api.models.runs import Verdict
from api.projects import own_project
from api.responses import json_response
from api.service import Reading, Service, Store
from api.strict_requests import Strict, StrictRoute
from gate.declarations import literal_specs
from gate.errors import SourceError
from gate.evaluate import evaluate as evaluate_record
from gate.record import Record, load_record
from gate.verdict_json import to_json
from store.checks import check_identity

router = APIRouter(prefix="/v1", tags=["gate"], route_class=StrictRoute)


class Evaluation(Strict):
    """``declarations``: the arguments of `register_ci_gate`, one object each. ``record``: JSON Lines as the collector
    writes them, or ``metrics``: name to its points ``[step, value]``, with null for no step and ``"NaN"``,
    ``"Infinity"``, ``"-Infinity"`` for what JSON has no number for.
    """

    series: SeriesBody
    declarations: list[dict[str, Any]] = Field(max_length=MAX_SPECS)
    record: str | None = None
    metrics: dict[str, list[Any]] | None = None
    provenance: ProvenanceBody = ProvenanceBody()


@router.post("/evaluate", responses={200: {"model": Verdict}}, response_model=None)
def evaluate(asked: Evaluation, request: Request, access: Reading, store: Store) -> Response:
    """The verdict that the gate would give, in the form of `driftgate gate --json`; ``written`` is null."""
    identity = asked.series.identity(own_project(asked.series.project, access))
    check_identity(identity)
    specs, problems = literal_specs("declarations", asked.declarations)
    if problems:
        raise ValueError(str(SourceError(problems)))
    service: Service = request.app.state.service
    verdict = evaluate_record(
        specs,
        _record(asked),
        identity=identity,
        policy=service.settings.policy,
        reader=store,
        provenance=asked.provenance.provenance(),
    )
    service.metrics.verdict(verdict.outcome)
    return json_response(to_json(verdict))


def _record(asked: Evaluation) -> Record:
    if (asked.record is None) == (asked.metrics is None):
        raise ValueError("give one of record and metrics")
    if asked.record is not None:
        return load_record(asked.record.encode())
    lines = (orjson.dumps({"metric": name, "series": points}) for name, points in (asked.metrics or {}).items())
    return load_record(b"\n".join(lines))

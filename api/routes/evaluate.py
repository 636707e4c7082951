"""A verdict without a trace: a record is judged by its declarations against what is stored, and nothing is written."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import APIRouter, Request, Response
from pydantic import Field

from api.bodies import MAX_SPECS, ProvenanceBody, SeriesBody
from api.models.runs import Verdict
from api.projects import own_project
from api.service import Reading, Service, Store
from api.strict_requests import Strict, StrictRoute
from api.verdict_limits import check_size, verdict_response
from gate.declarations import literal_specs
from gate.errors import SourceError
from gate.evaluate import evaluate as evaluate_record
from gate.record import Record, load_record
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
    """The verdict that the gate would give, in the form of `driftgate gate --json`; ``written`` is null.

    At most 100,000 coordinates are judged, and 1,000,000 points read by all declarations; a verdict has at most 64 MiB.
    """
    identity = asked.series.identity(own_project(asked.series.project, access))
    check_identity(identity)
    specs, problems = literal_specs("declarations", asked.declarations)
    if problems:
        raise ValueError(str(SourceError(problems)))
    service: Service = request.app.state.service
    record = _record(asked)
    check_size(specs, record)
    verdict = evaluate_record(
        specs,
        record,
        identity=identity,
        policy=service.settings.policy,
        reader=store,
        provenance=asked.provenance.provenance(),
    )
    service.metrics.verdict(verdict.outcome)
    return verdict_response(verdict)


def _record(asked: Evaluation) -> Record:
    if (asked.record is None) == (asked.metrics is None):
        raise ValueError("give one of record and metrics")
    if asked.record is not None:
        return load_record(asked.record.encode())
    try:
        lines = [orjson.dumps({"metric": name, "series": points}) for name, points in (asked.metrics or {}).items()]
    except orjson.JSONEncodeError:
        raise ValueError("metrics: a point is nested too deeply; write [step, value]") from None
    return load_record(b"\n".join(lines))

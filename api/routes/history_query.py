"""The gate's one read, for those who judge elsewhere."""

from __future__ import annotations

from fastapi import APIRouter, Response

from api.bodies import HistoryQuery
from api.projects import own_project
from api.responses import json_response
from api.service import Reading, Store
from api.strict_requests import StrictRoute
from store.checks import check_identity, check_storable
from store.wire import history_json

router = APIRouter(prefix="/v1", tags=["gate"], route_class=StrictRoute)


@router.post("/history:query", response_model=None)
def query_history(query: HistoryQuery, access: Reading, store: Store) -> Response:
    """Everything that is needed to judge one run of a series. A series or a gate spec that is not known has no past."""
    identity = query.series.identity(own_project(query.series.project, access))
    check_identity(identity)
    keys = [spec.key() for spec in query.specs]
    for key in keys:
        for name in ("metric_key", "steps_key", "constraint_key"):
            check_storable(name, getattr(key, name))
    found = store.read_history(identity, keys, query.limit, query.anchor_runs, query.exclude_ci_run_id)
    return json_response(history_json(found))

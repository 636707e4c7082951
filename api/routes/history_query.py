"""The gate's one read, for those who judge elsewhere."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from api.bodies import HistoryQuery
from api.models.store import KnownHistory
from api.projects import own_project
from api.responses import json_response
from api.service import Reading, Store
from api.strict_requests import StrictRoute
from gate.history import last_trusted_run
from store.checks import check_identity, check_storable
from store.sql_store import SqlMetricHistoryStore
from store.stored import RunFilter
from store.wire import history_json
from store.wire_runs import stored_run_json

router = APIRouter(prefix="/v1", tags=["gate"], route_class=StrictRoute)


@router.post("/history:query", responses={200: {"model": KnownHistory}}, response_model=None)
def query_history(query: HistoryQuery, access: Reading, store: Store) -> Response:
    """Everything that is needed to judge one run of a series. A series or a gate spec that is not known has no past."""
    identity = query.series.identity(own_project(query.series.project, access))
    check_identity(identity)
    keys = [spec.key() for spec in query.specs]
    for key in keys:
        for name in ("metric_key", "steps_key", "constraint_key"):
            check_storable(name, getattr(key, name))
    found = store.read_history(identity, keys, query.limit, query.anchor_runs, query.exclude_ci_run_id)
    document = history_json(found)
    if query.for_gate_call:
        document |= _asked_next(store, identity.project, last_trusted_run(found))
    return json_response(document)


def _asked_next(store: SqlMetricHistoryStore, project: str, last_trusted: str | None) -> dict[str, Any]:
    runs = [] if last_trusted is None else store.list_runs(project, RunFilter(run_id=last_trusted))
    return {
        "last_trusted": stored_run_json(runs[0]) if runs else None,
        "enforcement": store.get_enforcement(project).document(),
    }

"""The application: routes, error shape, limits. One per process; `driftgate serve` starts it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

import driftgate
from api import problems
from api.body_limit import BodyLimit
from api.hosts import Guard, networks
from api.openapi import DescribedApp
from api.redaction import hide_secrets_in_logs
from api.request_log import RequestLog
from api.routes import (
    attempt_writes,
    attempts,
    baselines,
    documents,
    enforcement,
    epoch_actions,
    epochs,
    evaluate,
    health,
    history,
    history_query,
    login,
    marks,
    metrics,
    run_writes,
    runs,
    series,
    store_reads,
    trust_events,
)
from api.safe_headers import SafeHeaders
from api.service import Service
from api.settings import ServiceSettings
from store.opening import open_database

ROUTERS = (
    health.router,
    login.router,
    documents.router,
    series.router,
    attempts.router,
    baselines.router,
    epochs.router,
    history.router,
    runs.router,
    trust_events.router,
    marks.router,
    epoch_actions.router,
    enforcement.router,
    history_query.router,
    run_writes.router,
    evaluate.router,
    attempt_writes.router,
    store_reads.router,
    metrics.router,
)


def create_app(settings: ServiceSettings) -> FastAPI:
    """The service over the store of ``settings``, which is opened here and closed when the application stops.

    Raises: ConfigError, StoreUnavailable, SchemaMismatch (as `store.opening.open_store`).
    """
    proxies = networks(settings.proxies)
    store = open_database(
        settings.database_url,
        one_shot=False,
        trust=settings.trust,
        journal=settings.journal,
        policy=settings.policy,
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        store.close()

    app = DescribedApp(
        title="driftgate",
        version=driftgate.__version__,
        summary="Histories of training metrics: baselines, verdicts, trust.",
        lifespan=lifespan,
        redirect_slashes=False,  # a path that ends in / is another one
        generate_unique_id_function=lambda route: route.name,
        openapi_url=None,  # routes.documents gives it to those who may read
    )
    service = app.state.service = Service(settings, store)
    problems.install(app)
    hide_secrets_in_logs()
    app.add_middleware(BodyLimit)
    app.add_middleware(Guard, settings=settings, proxies=proxies)
    app.add_middleware(RequestLog, metrics=service.metrics)
    app.add_middleware(SafeHeaders)  # the last one added is the outermost
    for router in ROUTERS:
        app.include_router(router)
    return app

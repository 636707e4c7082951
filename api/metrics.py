"""What Prometheus may ask for. Every label has few values: routes as templates, never a path, a test or a run."""

from __future__ import annotations

from typing import Any, get_args

from prometheus_client import CollectorRegistry, Counter, Histogram, Info, PlatformCollector, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

import driftgate
from gate.verdict import Outcome
from store.stored import StoredRun

CONTENT_TYPE = CONTENT_TYPE_LATEST
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OUTCOMES = get_args(Outcome)
_BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """Of one application; two in one process do not see each other's."""

    def __init__(self) -> None:
        kept = self._registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self._requests = Counter("driftgate_requests", "Requests answered, by route template.", labels, registry=kept)
        self._durations = Histogram(
            "driftgate_request_duration_seconds",
            "From the request's first byte to the answer's last.",
            ("method", "route"),
            buckets=_BUCKETS_S,
            registry=kept,
        )
        self._runs = Counter(
            "driftgate_runs_written", "Runs given to be stored, by outcome.", ("outcome",), registry=kept
        )
        self._verdicts = Counter(
            "driftgate_verdicts", "Verdicts that the service reached.", ("verdict",), registry=kept
        )
        self._store_errors = Counter(
            "driftgate_store_errors", "Requests that the store failed.", ("kind",), registry=kept
        )
        Info("driftgate_build", "What runs here.", registry=kept).info({"version": driftgate.__version__})
        ProcessCollector(registry=kept)
        PlatformCollector(registry=kept)

    def request(self, method: str, route: str, status: int, duration_s: float) -> None:
        """``route``: the template, e.g. ``/v1/runs/{run_id}``."""
        method = method if method in _METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._durations.labels(method, route).observe(duration_s)

    def run_stored(self, run: StoredRun) -> None:
        """With its verdict, unless it is a repeat and was judged before."""
        if run.repeat:
            self._runs.labels("repeat").inc()
            return
        self._runs.labels("trusted" if run.trusted else "untrusted").inc()
        self.verdict(run.verdict.get("verdict"))

    def run_in_conflict(self) -> None:
        self._runs.labels("conflict").inc()

    def verdict(self, outcome: Any) -> None:
        self._verdicts.labels(outcome if outcome in _OUTCOMES else "other").inc()

    def store_error(self, error: Exception) -> None:
        self._store_errors.labels(type(error).__name__).inc()

    def text(self) -> bytes:
        """In Prometheus' format, of type `CONTENT_TYPE`."""
        return generate_latest(self._registry)

"""Long listings page by page, as a service gives them. Each call is one statement; see `store.paging`."""

from __future__ import annotations

from store import attempt_rows, epoch_rows, listing, metric_rows, series_listing
from store.checks import check_limit
from store.connections import Connections
from store.contract import Attempt, AttemptFilter, Epoch, RunFilter, SeriesSummary, StoredRun, TrustEvent
from store.metric_rows import MetricQuery, MetricRow
from store.paging import Page, Place
from store.stored import SeriesFilter


class Pages:
    """The listings of one database. ``after``: the `Page.next` of the page before, of the same call.

    Raises: ValueError (no page of this listing ends at ``after``; a limit below 1), StoreUnavailable.
    """

    def __init__(self, connections: Connections) -> None:
        self._read = connections.read

    def series(self, project: str, where: SeriesFilter, limit: int, after: Place | None = None) -> Page[SeriesSummary]:
        """By test path, backend, suite."""
        check_limit(limit)
        return self._read(lambda connection: series_listing.series_page(connection, project, where, limit, after))

    def runs(self, project: str, where: RunFilter, limit: int, after: Place | None = None) -> Page[StoredRun]:
        """Newest first by (created_at, order of arrival). The limit of ``where`` is not looked at."""
        check_limit(limit)
        return self._read(lambda connection: listing.runs_page(connection, project, where, limit, after))

    def attempts(self, project: str, where: AttemptFilter, limit: int, after: Place | None = None) -> Page[Attempt]:
        """The newest start first, whatever the series."""
        check_limit(limit)
        return self._read(lambda connection: attempt_rows.attempts_page(connection, project, where, limit, after))

    def epochs(self, project: str, where: SeriesFilter, limit: int, after: Place | None = None) -> Page[Epoch]:
        """The one started last first, also those that were undone."""
        check_limit(limit)
        return self._read(lambda connection: epoch_rows.epochs_page(connection, project, where, limit, after))

    def trust_events(
        self, project: str, run_id: str | None, limit: int, after: Place | None = None
    ) -> Page[TrustEvent]:
        """The trust log, or its lines on one run, newest first."""
        check_limit(limit)
        return self._read(lambda connection: listing.trust_events_page(connection, project, run_id, limit, after))

    def metric(self, query: MetricQuery, limit: int, after: Place | None = None) -> Page[MetricRow]:
        """Rows of `store.metric_rows`, oldest first: all values of ``limit`` rows, fewer rows where these are many."""
        check_limit(limit)
        return self._read(lambda connection: metric_rows.metric_page(connection, query, limit, after))

"""Which stored series and which metric a name means, and what is said where none is meant."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gate.identity import SeriesIdentity
from gate.wording import listed, nearest, printable, shown
from store.contract import MetricHistoryStore
from store.errors import NotFound


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which numbers of a series are asked for; None does not narrow. The names are what the asker calls the two."""

    metric_key: str | None = None
    step: int | None = None
    metric_name: str = "metric_key"
    step_name: str = "step"


def series_named(
    store: MetricHistoryStore, project: str, test_path: str, *, backend: str | None = None, suite: str | None = None
) -> list[SeriesIdentity]:
    """Every stored series of the test, narrowed by backend and suite. Raises NotFound naming what is stored instead."""
    stored = [summary.identity for summary in store.list_series(project)]
    same_test = [identity for identity in stored if identity.test_path == test_path]
    name = printable(test_path)
    if not same_test:
        known = {identity.test_path for identity in stored}
        raise NotFound(f"no run of {name} is stored in project {printable(project)}{nearest(test_path, known)}")
    wanted = [i for i in same_test if backend in (None, i.backend) and suite in (None, i.suite)]
    if not wanted:
        raise NotFound(f"no run of {name} for that backend and suite; stored: {places(same_test)}")
    return wanted


def places(identities: Sequence[SeriesIdentity]) -> str:
    """Where the series of one test are executed, for a message."""
    return listed(f"{identity.backend} {identity.suite}" for identity in identities)


def no_history(store: MetricHistoryStore, identity: SeriesIdentity, chosen: Chosen) -> NotFound:
    """Why a series that is stored has no value of a metric (at a step)."""
    known = {key.metric_key: None for key in store.list_specs(identity)}
    if chosen.metric_key in known:
        where = f"{short_name(identity)} has a value of {printable(chosen.metric_key)}"
        return NotFound(f"{chosen.step_name}: no run of {where} at step {chosen.step}")
    return no_metric(identity, chosen, known)


def no_metric(identity: SeriesIdentity, chosen: Chosen, known: Collection[str]) -> NotFound:
    """``known``: the metrics that the series has."""
    metric, where = chosen.metric_key, short_name(identity)
    return NotFound(
        f"{chosen.metric_name}: {where} has no {shown(metric)}{nearest(metric, known)}; stored: {listed(known)}"
    )


def short_name(identity: SeriesIdentity) -> str:
    return f"{identity.test_path} in {identity.suite}"

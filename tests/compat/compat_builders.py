"""Runs as the reference design writes them, and a store of somebody's own."""

from __future__ import annotations

from driftgate.compat import MetricHistoryStore, MetricSample, RunIdentity, RunProvenance

IDENTITY = RunIdentity("tests/e2e/test_grpo.py", "cuda", "stage-c-8-gpu-h100")
PROVENANCE = RunProvenance("deadbeef", 42, 1001, 1, "pull_request", "refs/pull/42/merge")
LAST, BAND = '"last"', '{"rel_down":0.2,"rel_up":0.2}'


def sample(value: float, *, metric: str = "m", steps: str = LAST, band: str = BAND, step: int = -1) -> MetricSample:
    return MetricSample(metric, steps, band, step, value)


def write(store, value: float, night: int = 1, **changes) -> str:
    """One run of the night, worth ``value``; returns its id."""
    given = {
        "identity": IDENTITY,
        "provenance": PROVENANCE,
        "created_at": f"2024-06-{night:02}T00:00:00+00:00",
        "trusted": True,
        "values": [sample(value)],
        **changes,
    }
    return store.write_run(*given.values())


def recent(store, of: MetricSample | None = None, *, identity: RunIdentity = IDENTITY, limit: int = 20) -> list[float]:
    of = of or sample(0.0)
    coordinate = (of.metric_key, of.steps_key, of.constraint_key, of.step)
    return store.recent_trusted_values(identity.test_path, identity.backend, identity.suite, *coordinate, limit)


class OwnStore(MetricHistoryStore):
    """Keeps runs in a list; ``asked`` are the coordinates that were asked for."""

    def __init__(self) -> None:
        self.runs: list[tuple[RunIdentity, str, bool, list[MetricSample]]] = []
        self.asked: list[tuple[object, ...]] = []

    def write_run(self, identity, provenance, created_at, trusted, values):  # noqa: ARG002 - the contract
        self.runs.append((identity, created_at, trusted, values))
        return str(len(self.runs))

    def recent_trusted_values(self, *address):
        *series, metric, steps, band, step, limit = address
        self.asked.append(address)
        newest_first = sorted(enumerate(self.runs), key=lambda row: (row[1][1], row[0]), reverse=True)
        return [
            one.value
            for _, (identity, _, trusted, values) in newest_first
            if trusted and identity == RunIdentity(*series)
            for one in values
            if (one.metric_key, one.steps_key, one.constraint_key, one.step) == (metric, steps, band, step)
        ][:limit]

    def mark_untrusted(self, *, run_id=None, github_run_id=None, commit_sha=None):
        raise NotImplementedError

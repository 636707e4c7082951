"""Which declarations a replay of a stored series judges by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from driftgate.config.model import Config
from gate.errors import SourceError
from gate.wording import listed, nearest
from store.errors import NotFound

if TYPE_CHECKING:
    from gate.past import SeriesPast
    from gate.spec import GateSpec


@dataclass(frozen=True, slots=True)
class Declared:
    """``source`` says in words where the declarations stand."""

    specs: tuple[GateSpec, ...]
    source: str

    def check_metric(self, metric: str | None) -> None:
        """Raises NotFound for a metric that is not declared."""
        known = {spec.metric_key: None for spec in self.specs}
        if metric is not None and metric not in known:
            raise NotFound(
                f"--metric: {self.source} has no {metric!r}{nearest(metric, known)}; declared: {listed(known)}"
            )


def declared(series: SeriesPast, test: Path, config: Config) -> Declared:
    """Those of the test file; where it is not here or declares none, those of the newest stored verdict.

    Raises: SourceError (mistakes in the file), NotFound (neither).
    """
    from driftgate.harness.test_files import read_test_file

    if test.is_file():
        found = read_test_file(test, config.repository, config)
        if found.problems:
            raise SourceError(found.problems)
        if found.specs:
            return Declared(found.specs, found.test_path)
    return _stored(series)


def _stored(series: SeriesPast) -> Declared:
    from gate.rejudge import stored_verdict

    for run in reversed(series.runs):
        verdict = stored_verdict(run)
        if verdict is not None and verdict.specs:
            return Declared(tuple(spec.spec for spec in verdict.specs), f"the verdict on run {run.run_id}")
    path = series.identity.test_path
    raise NotFound(f"{path}: no such file here, and no stored verdict to take its declarations from")

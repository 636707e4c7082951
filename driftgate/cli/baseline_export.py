"""``driftgate baseline --export FILE``: baselines for runs that may not reach the store."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from driftgate.cli.output import counted, print_json, say
from driftgate.cli.reports import check_writable
from driftgate.cli.session import Session
from driftgate.cli.targets import series_of
from gate.errors import DriftgateError


def export_to(path: Path, session: Session, test: Path | None, *, backend: str | None, suite: str | None) -> None:
    """Every series that has a counting run, or those of TEST. Raises NotFound for a TEST without runs."""
    from driftgate.harness.baseline_export import ExportRequest, export_baseline
    from driftgate.harness.provenance import read_provenance

    check_writable(path)
    with session.history() as (config, store):
        if test is None:
            stored = [one.identity for one in store.list_series(config.project) if one.counting]
            found = [one for one in stored if backend in (None, one.backend) and suite in (None, one.suite)]
        else:
            found = series_of(store, config, test, backend=backend, suite=suite)
        exporter = read_provenance(os.environ, config)
        request = ExportRequest(config.project, config.gate, config.trust, exporter, datetime.now(UTC))
        content = export_baseline(store, found, request).dumped()
    try:
        path.write_bytes(content)
    except OSError as error:
        raise DriftgateError(f"{path} cannot be written: {error.strerror}") from error
    if session.json:
        print_json({"schema": 1, "file": str(path), "series": len(found), "bytes": len(content)})
    else:
        say(f"{counted(len(found), 'baseline')} written to {path}" if found else f"no baseline yet; {path} is empty")

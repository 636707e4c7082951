"""`evaluate_gate`: the reference's judgement by driftgate's own check of corridors."""

from __future__ import annotations

from os import PathLike, fspath

from driftgate.compat.declarations import parse_ci_gate_specs
from driftgate.compat.merged_record import read_record
from driftgate.compat.registrations import CIRegistry, backend_name, only_registry
from driftgate.compat.results import GateResult
from driftgate.compat.storage import BaselineReader, RunIdentity


def evaluate_gate(
    test_filename: str | PathLike[str],
    merged_record_path: str | PathLike[str],
    store: BaselineReader,
    *,
    registry: CIRegistry | None = None,
    history_limit: int = 20,
) -> GateResult:
    """Judge every gate that the file declares on a merged record. Writes nothing.

    ``registry`` is the registration that ran; without it the file must have exactly one. A store of driftgate answers
    all coordinates in one read; any other is asked for the newest ``history_limit`` values of one after the other.

    Raises: OSError (no such file), ValueError (declarations, registrations or a record that cannot be read), and what
    the store raises.
    """
    test_filename = fspath(test_filename)
    declared = parse_ci_gate_specs(test_filename)
    if registry is None and declared:
        registry = only_registry(test_filename)
    if registry is None:
        return GateResult(test_filename, "", "")
    result = GateResult(registry.filename, backend_name(registry.backend), registry.suite)
    if declared:
        from driftgate.compat.judging import judge

        identity = RunIdentity(result.test_path, result.backend, result.suite)
        result.metrics.extend(judge(declared, read_record(merged_record_path), store, identity, history_limit))
    return result

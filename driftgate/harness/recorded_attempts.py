"""Every attempt of a writing run in the store, by a call of its own: also of tests that never passed."""

from __future__ import annotations

from collections.abc import Sequence

from driftgate.harness.attempts import AttemptResult
from driftgate.harness.history_access import OpenHistory
from driftgate.harness.judgement import reason_of
from gate.identity import SeriesIdentity
from gate.provenance import Provenance
from store.contract import Attempt


def record_attempts(
    identity: SeriesIdentity, attempts: Sequence[AttemptResult], provenance: Provenance, open_history: OpenHistory
) -> tuple[str, ...]:
    """Store the attempts that ended by themselves or by their time, each failed one with the class of its failure.

    Returns why not, one line, where it fails.
    """
    ended = [
        Attempt(
            identity=identity,
            ci_run_id=provenance.ci_run_id,
            ci_run_attempt=provenance.ci_run_attempt,
            test_attempt=attempt.number,
            attempt_class=attempt.failure.name if attempt.failure else attempt.attempt_class,
            duration_s=attempt.duration_s,
            started_at=attempt.started_at,
            exit_code=attempt.exit_code,
        )
        for attempt in attempts
        if attempt.attempt_class != "interrupted"
    ]
    if not ended:
        return ()
    try:
        with open_history() as store:
            store.record_attempts(ended)
    except Exception as error:  # noqa: BLE001 - bookkeeping must not fail a test that passed
        return (f"attempts of {identity.test_path} were not stored: {reason_of(error)}",)
    return ()

"""The one seam where errors become a line on stderr and an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from driftgate.cli.output import say
from driftgate.harness.outcome import JobExit
from gate.errors import DriftgateError


@contextmanager
def translated_errors(*, debug: bool = False) -> Iterator[None]:
    """Turn what driftgate refuses into its message on stderr and ``SystemExit``; ``debug`` lets tracebacks through.

    Anything else is a bug and keeps its traceback.
    """
    try:
        yield
    except KeyboardInterrupt:
        say("driftgate: interrupted")
        raise SystemExit(JobExit.INTERRUPTED) from None
    except DriftgateError as error:
        if debug:
            raise
        for line in str(error).splitlines():
            say(f"driftgate: {line}")
        raise SystemExit(code_of(error)) from None


def code_of(error: DriftgateError) -> JobExit:
    from store.errors import StoreUnavailable

    return JobExit.UNAVAILABLE if isinstance(error, StoreUnavailable) else JobExit.UNUSABLE

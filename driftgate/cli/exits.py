"""Exit codes, and the one seam where errors become a line on stderr and a code."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

from gate.errors import DriftgateError, SourceError


class ExitCode(IntEnum):
    FINE = 0
    TEST_FAILED = 1
    USAGE = 2
    REJECTED = 3
    UNAVAILABLE = 4
    INTERRUPTED = 130


@contextmanager
def translated_errors(*, debug: bool = False) -> Iterator[None]:
    """Turn what driftgate refuses into its message on stderr and ``SystemExit``; ``debug`` lets tracebacks through.

    Anything else is a bug and keeps its traceback.
    """
    try:
        yield
    except KeyboardInterrupt:
        print("driftgate: interrupted", file=sys.stderr)
        raise SystemExit(ExitCode.INTERRUPTED) from None
    except DriftgateError as error:
        if debug:
            raise
        print(f"driftgate: {error}", file=sys.stderr)
        raise SystemExit(code_of(error)) from None


def code_of(error: DriftgateError) -> ExitCode:
    from store.errors import StoreUnavailable

    return ExitCode.UNAVAILABLE if isinstance(error, StoreUnavailable) else ExitCode.USAGE


def problems_json(error: SourceError) -> str:
    """All mistakes of all files in the shape of 60-cli-and-config."""
    errors = [
        {"file": p.file, "line": p.line, "call": p.call, "field": p.field, "text": p.text} for p in error.problems
    ]
    return json.dumps({"schema": 1, "errors": errors})

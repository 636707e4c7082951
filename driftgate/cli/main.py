"""The entry point of the ``driftgate`` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from driftgate.harness.outcome import JobExit


def main() -> None:
    """Check that our own packages are the ones that load, then run the command line."""
    try:
        complaint = _not_text(sys.argv[1:]) or _shadowed()
        if complaint is not None:
            print(f"driftgate: {complaint}", file=sys.stderr)
            raise SystemExit(JobExit.UNUSABLE)
        from driftgate.cli.app import app

        app()
    except KeyboardInterrupt:
        raise SystemExit(JobExit.INTERRUPTED) from None


def _not_text(arguments: Sequence[str]) -> str | None:
    """Names end up in databases and JSON, which hold text alone."""
    for argument in arguments:
        shown = argument.encode("utf-8", "backslashreplace").decode()
        if shown != argument:
            return f"the argument {shown} is not UTF-8; rename the file or write it in UTF-8"
    return None


def _shadowed() -> str | None:
    from driftgate.cli.shadowing import complaint, shadowed_package

    found = shadowed_package()
    return None if found is None else complaint(*found)

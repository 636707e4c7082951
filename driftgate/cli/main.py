"""The entry point of the ``driftgate`` command."""

from __future__ import annotations

import sys

from driftgate.cli.shadowing import complaint, shadowed_package


def main() -> None:
    """Check that our own packages are the ones that load, then run the command line."""
    shadowed = shadowed_package()
    if shadowed is not None:
        print(complaint(*shadowed), file=sys.stderr)
        raise SystemExit(2)
    from driftgate.cli.app import app

    app()

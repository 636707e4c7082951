"""psycopg's pipeline: statements that travel together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def pipeline(driver: Any) -> Iterator[Any]:
    """What is executed inside the block waits for a ``sync`` of what it yields, at the latest for the block's end.

    An error raised inside the block leaves it as it is. psycopg would log the one that follows from it at the end, on
    stderr where nobody has configured logging; here it never learns that there was a first.
    """
    first: BaseException | None = None
    try:
        with driver.pipeline() as opened:
            try:
                yield opened
            except BaseException as error:  # noqa: BLE001 - raised again below
                first = error
    except Exception:
        if first is None:
            raise
    if first is not None:
        raise first

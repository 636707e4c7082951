"""Faults that tests put between the statements of a call."""

from __future__ import annotations

from contextlib import contextmanager

from sqlalchemy import event


@contextmanager
def at_statement(store, number: int, action):
    """Do something just before the ``number``-th statement from now (counted from 1); yields what was reached."""
    seen: list[str] = []

    def before(_connection, _cursor, statement, *_more):
        seen.append(statement)
        if len(seen) == number:
            action()

    engine = store._connections._engine
    event.listen(engine, "before_cursor_execute", before)
    try:
        yield seen
    finally:
        event.remove(engine, "before_cursor_execute", before)


class Broken(Exception):
    """The fault that a test injects."""


def break_off():
    raise Broken

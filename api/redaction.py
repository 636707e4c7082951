"""No secret reaches a log, whatever somebody puts into an address or a library into a message."""

from __future__ import annotations

import logging
import traceback
from typing import Any

from store.secret_text import redacted

LOGGERS = ("uvicorn.access", "uvicorn.error", "driftgate.api", "driftgate.api.requests")
"""A filter sees what is logged under this very name, not under names below it."""


class _HideSecrets(logging.Filter):
    """Changes the record in place. Its arguments stay as many as they are: formatters take them apart.

    A traceback is written here already: a formatter takes the text that it finds, and would else write it in full.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = redacted(str(record.msg))
        if isinstance(record.args, tuple):
            record.args = tuple(map(_hidden, record.args))
        elif record.args:
            record.args = {name: _hidden(value) for name, value in record.args.items()}
        if record.exc_info and record.exc_info[0] is not None:
            record.exc_text = redacted("".join(traceback.format_exception(*record.exc_info)).rstrip("\n"))
        return True


_HIDE = _HideSecrets()


def hide_secrets_in_logs() -> None:
    """For the loggers of this process that tell of requests; harmless to repeat."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(_HIDE)


def _hidden(value: Any) -> Any:
    return redacted(value) if isinstance(value, str) else value

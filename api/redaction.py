"""No secret reaches a log, whatever somebody puts into an address or a library into a message."""

from __future__ import annotations

import logging

from store.secret_text import redacted

LOGGERS = ("uvicorn.access", "uvicorn.error", "driftgate.api")


class _HideSecrets(logging.Filter):
    """Changes the record in place. Its arguments stay as many as they are: formatters take them apart."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = redacted(str(record.msg))
        if isinstance(record.args, tuple):
            record.args = tuple(redacted(one) if isinstance(one, str) else one for one in record.args)
        return True


_HIDE = _HideSecrets()


def hide_secrets_in_logs() -> None:
    """For the loggers of this process that tell of requests; harmless to repeat."""
    for name in LOGGERS:
        logging.getLogger(name).addFilter(_HIDE)

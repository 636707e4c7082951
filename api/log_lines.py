"""The log of a service: one JSON object per line, whatever a request or a library put into it."""

from __future__ import annotations

import json
import logging
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import IO, Any

from store.secret_text import redacted

REQUEST_ID: ContextVar[str | None] = ContextVar("request_id", default=None)
"""Of the request that this task or thread answers."""
FACTS = "facts"
"""Key of ``extra``: a mapping whose entries become keys of the line."""
LOGGERS = ("driftgate.api", "uvicorn.error", "uvicorn.access")


class JsonLines(logging.Formatter):
    """Time, level, logger, message, request id and the record's facts; a traceback as one string. No secrets."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        request_id = REQUEST_ID.get()
        if request_id is not None:
            line["request_id"] = request_id
        line |= getattr(record, FACTS, {})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return redacted(json.dumps(line, default=str))  # in ASCII: some readers end lines at more than a newline


def log_to(stream: IO[str], level: int = logging.INFO) -> None:
    """Send everything that is logged in this process to ``stream``, and nowhere else: of this service and its server
    from ``level`` on, of libraries warnings.
    """
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.handlers = []
        logger.propagate = True
        logger.setLevel(level)

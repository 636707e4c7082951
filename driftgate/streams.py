"""Writing to the standard streams, whoever reads them. Standard library only."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from gate.errors import DriftgateError


def pass_on(data: bytes, stream: TextIO | None) -> None:
    """Bytes on a standard stream, at once. A reader that has gone (``| head``) is no error: the rest is dropped.

    Raises DriftgateError where the stream cannot be written for another reason.
    """
    if stream is None:  # closed by whoever started us
        return
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    except BrokenPipeError:
        _silence(stream)
    except OSError as error:
        _silence(stream)
        raise DriftgateError(f"the output cannot be written: {error.strerror}") from error


def _silence(stream: TextIO) -> None:
    """Lead the descriptor to nothing, so that Python's own flush at its end does not fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def print_text(text: str, stream: TextIO | None = None) -> None:
    """Lines as they are, on stdout unless told otherwise; what its encoding lacks is written as an escape."""
    target = stream or sys.stdout
    pass_on(text.encode(getattr(target, "encoding", None) or "utf-8", "backslashreplace"), target)


def say(text: str) -> None:
    """A line for people, on stderr. It may name what a stranger wrote: ``##[``, which GitHub's runner takes for a
    command wherever it stands in a line, is parted.
    """
    print_text(f"{text}\n".replace("##[", "# #["), sys.stderr)

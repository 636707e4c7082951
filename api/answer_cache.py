"""Answers that are given again as long as nothing has changed that they were made of."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

MAX_BYTES = 16 * 2**20
"""Of all answers together, in each process; a baseline of 500 coordinates takes 0.25 MB."""


class AnswerCache:
    """The answers asked for last. Calls from several threads are safe."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._bytes = 0
        self._answers: OrderedDict[Hashable, tuple[Hashable, bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def answer(self, question: Hashable, marker: Hashable, make: Callable[[], bytes]) -> bytes:
        """The answer to ``question``, made anew unless it was made under the same ``marker``.

        The marker must have been read before, so that what is made is at least as new as it.
        """
        with self._lock:
            known = self._answers.get(question)
            if known is not None and known[0] == marker:
                self._answers.move_to_end(question)
                return known[1]
        made = make()
        with self._lock:
            self._forget(question)
            self._answers[question] = (marker, made)
            self._bytes += len(made)
            while self._bytes > self._max_bytes:
                self._forget(next(iter(self._answers)))
        return made

    def _forget(self, question: Hashable) -> None:
        _, forgotten = self._answers.pop(question, (None, b""))
        self._bytes -= len(forgotten)

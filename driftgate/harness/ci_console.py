"""How a log is marked up for whoever shows it: GitHub, GitLab, or nobody."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Protocol

from driftgate.harness.annotations import Annotation
from driftgate.harness.github_console import GitHubConsole, new_token
from gate.outline import safe


class Console(Protocol):
    """Each call answers with whole lines to be written at the beginning of a line, or with nothing."""

    def opened(self, title: str) -> str:
        """Before the output of an attempt, which ``title`` names."""
        ...

    def closed(self) -> str:
        """After it; nothing where nothing is open."""
        ...

    def annotated(self, annotation: Annotation) -> str: ...


class PlainConsole:
    """Nothing is folded and nothing stands out."""

    def opened(self, title: str) -> str:
        return f"driftgate: {safe(title)}\n"

    def closed(self) -> str:
        return ""

    def annotated(self, annotation: Annotation) -> str:  # noqa: ARG002 - the lines above it say the same
        return ""


class GitLabConsole:
    """Collapsed sections whose names no test can guess, so that none can end them."""

    def __init__(self, clock: Callable[[], float] = time.time, token: Callable[[], str] = new_token) -> None:
        self._clock = clock
        self._new_token = token
        self._name: str | None = None

    def opened(self, title: str) -> str:
        self._name = f"driftgate_{self._new_token()}"
        return f"{self._marker('start', self._name)}[collapsed=true]\r\x1b[0Kdriftgate: {safe(title)}\n"

    def closed(self) -> str:
        name, self._name = self._name, None
        return f"{self._marker('end', name)}\r\x1b[0K\n" if name else ""

    def annotated(self, annotation: Annotation) -> str:  # noqa: ARG002 - GitLab takes these from JUnit reports
        return ""

    def _marker(self, which: str, name: str) -> str:
        return f"\x1b[0Ksection_{which}:{self._clock():.0f}:{name}"


def console_of(environment: Mapping[str, str]) -> Console:
    if environment.get("GITHUB_ACTIONS") == "true":
        return GitHubConsole()
    return GitLabConsole() if environment.get("GITLAB_CI") == "true" else PlainConsole()

"""What a log on GitHub Actions understands: groups, annotations, and output in which no command is obeyed."""

from __future__ import annotations

import secrets
from collections.abc import Callable

from driftgate.harness.annotations import Annotation
from gate.outline import safe


def new_token() -> str:
    """A word that no test can guess."""
    return secrets.token_hex(16)


class GitHubConsole:
    """Between `opened` and `closed` the runner obeys no command but the one that holds the token, and that is random
    for each attempt.
    """

    def __init__(self, token: Callable[[], str] = new_token) -> None:
        self._new_token = token
        self._token: str | None = None

    def opened(self, title: str) -> str:
        """The lines before the output of an attempt."""
        self._token = self._new_token()
        return f"::group::{escaped(safe(title))}\n::stop-commands::{self._token}\n"

    def closed(self) -> str:
        """The lines after it, which begin a line of their own; nothing where nothing is open."""
        token, self._token = self._token, None
        return f"::{token}::\n::endgroup::\n" if token else ""

    def annotated(self, annotation: Annotation) -> str:
        """One line that the runner shows beside the source and on top of the run."""
        facts = {"file": annotation.file, "line": annotation.line, "title": annotation.title}
        properties = ",".join(f"{name}={escaped_property(safe(f'{fact}'))}" for name, fact in facts.items() if fact)
        message = "\n".join(map(safe, annotation.lines))
        return f"::{annotation.level} {properties}::{escaped(message)}\n"


def escaped(text: str) -> str:
    """As the message of a command: it stays one line."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escaped_property(text: str) -> str:
    """As the value of a command's property: it ends neither the value nor the properties."""
    return escaped(text).replace(":", "%3A").replace(",", "%2C")

"""Files with the failed jobs of a CI run, as a workflow's script writes them. Standard library only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gate.errors import ConfigError
from gate.wording import shown

LARGEST_BYTES = 16 << 20
LONGEST_NAME = 1000
_FINE = ("success", "skipped", "neutral")
_FORMS = "give a JSON array of names, GitHub's list of the jobs, or one name a line"


def read_job_names(path: Path, option: str) -> frozenset[str]:
    """The names of the failed jobs in a file: a JSON array of names; GitHub's list of the jobs of a run, one page or an
    array of pages, of which those count that neither succeeded nor were skipped; else one name a line. Maybe none.

    Raises ConfigError, in the name of ``option``, for a file that cannot be read or holds something else.
    """
    text = _text(path, option)
    names = _from_json(text, path, option) if text.lstrip()[:1] in ("[", "{") else text.split("\n")
    found = frozenset(filter(None, (name.strip() for name in names)))
    for name in found:
        if len(name) > LONGEST_NAME:
            raise ConfigError(f"{option}: {path}: the name {shown(name)} is longer than {LONGEST_NAME} characters")
    return found


def _text(path: Path, option: str) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{option}: {path} cannot be read ({error.strerror}); check the path") from None
    if len(data) > LARGEST_BYTES:
        raise ConfigError(f"{option}: {path} is larger than {LARGEST_BYTES} bytes; it holds job names, one a line")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{option}: {path} is not UTF-8; write job names, one a line") from None


def _from_json(text: str, path: Path, option: str) -> list[str]:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise ConfigError(f"{option}: {path} is not valid JSON; {_FORMS}") from None
    pages = value if isinstance(value, list) else [value]
    if all(isinstance(name, str) for name in pages):
        return pages
    jobs = [job for page in pages for job in _jobs(page)]
    if not all(isinstance(job, dict) and isinstance(job.get("name"), str) for job in jobs):
        raise ConfigError(f"{option}: {path} holds {shown(value)}; {_FORMS}")
    return [job["name"] for job in jobs if job.get("conclusion") not in _FINE]


def _jobs(page: Any) -> list[Any]:
    """The jobs of a page of GitHub's answer; what is no such page is no job either."""
    jobs = page.get("jobs") if isinstance(page, dict) else None
    return jobs if isinstance(jobs, list) else [page]

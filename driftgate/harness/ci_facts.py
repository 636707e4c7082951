"""What a CI service says about the job, from its environment variables. What it does not say stays None."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gate.provenance import Provenance
from gate.wording import shown

EVENT_FILE_BYTES = 32 << 20
LARGEST_NUMBER = 2**63 - 1
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_PULL_REF = re.compile(r"refs/pull/([0-9]+)/")


def ci_facts(environment: Mapping[str, str]) -> Provenance:
    """The job's commit, event and ids on GitHub or GitLab; an empty `Provenance` elsewhere."""
    if environment.get("GITHUB_ACTIONS") == "true":
        return _github(environment)
    if environment.get("GITLAB_CI") == "true":
        return _gitlab(environment)
    return Provenance()


@dataclass(frozen=True, slots=True)
class EventFacts:
    """``labels`` of the pull or merge request that started the job; entries that are no text are left out.

    ``unread_labels``: why a GitHub pull request's are not known, empty where they are. ``cron``: the line that started
    the job; only GitHub tells it.
    """

    labels: tuple[str, ...] = ()
    unread_labels: str = ""
    cron: str | None = None


def event_facts(environment: Mapping[str, str]) -> EventFacts:
    """What the event itself says, nothing outside GitHub and GitLab."""
    if environment.get("GITHUB_ACTIONS") == "true":
        return _github_event(environment.get("GITHUB_EVENT_NAME", ""), environment.get("GITHUB_EVENT_PATH"))
    if environment.get("GITLAB_CI") == "true":
        labels = environment.get("CI_MERGE_REQUEST_LABELS", "").split(",")
        return EventFacts(tuple(filter(None, map(str.strip, labels))))
    return EventFacts()


def _github_event(name: str, path: str | None) -> EventFacts:
    event = _event_file(path)
    cron = event.get("schedule")
    rows = _table(event.get("pull_request")).get("labels")
    # A container that was given the variables alone has the path but no file.
    lost = bool(path) and name.startswith("pull_request") and not isinstance(rows, list)
    labels = [_table(row).get("name") for row in rows] if isinstance(rows, list) else []
    return EventFacts(
        labels=tuple(label for label in labels if isinstance(label, str)),
        unread_labels=f"GITHUB_EVENT_PATH: {shown(path)} is no file with a JSON list pull_request.labels"
        if lost
        else "",
        cron=cron if isinstance(cron, str) else None,
    )


def sha(text: Any) -> str | None:
    """A full commit SHA in lower case, or None for anything else, the all-zero one too."""
    found = text.strip().lower() if isinstance(text, str) else ""
    return found if _SHA.fullmatch(found) and found.strip("0") else None


def _github(environment: Mapping[str, str]) -> Provenance:
    name = environment.get("GITHUB_EVENT_NAME", "")
    event = _event_file(environment.get("GITHUB_EVENT_PATH"))
    pull = _table(event.get("pull_request"))
    ref = environment.get("GITHUB_REF") or None
    in_ref = _PULL_REF.match(ref or "")
    issue = _table(event.get("issue"))
    commented = issue if issue.get("pull_request") else {}  # a comment does not say where its pull request is from
    base = _table(pull.get("base")).get("sha") or _table(event.get("merge_group")).get("base_sha")
    return Provenance(
        ci_sha=environment.get("GITHUB_SHA") or None,
        base_sha=sha(base or event.get("before")),
        pr=_number(in_ref[1] if in_ref else (pull or commented).get("number")),
        ci_run_id=_number(environment.get("GITHUB_RUN_ID")),
        ci_run_attempt=_number(environment.get("GITHUB_RUN_ATTEMPT")),
        event=name or None,
        ref=ref,
        fork=_github_fork(pull, is_pull=in_ref is not None or name.startswith("pull_request") or bool(commented)),
    )


def _github_fork(pull: Mapping[str, Any], *, is_pull: bool) -> bool | None:
    if not pull:
        return None if is_pull else False
    head = _table(_table(pull.get("head")).get("repo")).get("full_name")
    base = _table(_table(pull.get("base")).get("repo")).get("full_name")
    return bool(head != base)


def _gitlab(environment: Mapping[str, str]) -> Provenance:
    source = environment.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID")
    base = environment.get("CI_MERGE_REQUEST_DIFF_BASE_SHA") or environment.get("CI_COMMIT_BEFORE_SHA")
    return Provenance(
        ci_sha=environment.get("CI_COMMIT_SHA") or None,
        base_sha=sha(base),
        pr=_number(environment.get("CI_MERGE_REQUEST_IID")),
        ci_run_id=_number(environment.get("CI_PIPELINE_ID")),
        ci_run_attempt=_number(environment.get("CI_JOB_ID")),
        event=environment.get("CI_PIPELINE_SOURCE") or None,
        ref=environment.get("CI_COMMIT_REF_NAME") or None,
        fork=source is not None and source != environment.get("CI_MERGE_REQUEST_PROJECT_ID"),
    )


def _event_file(path: str | None) -> Mapping[str, Any]:
    if not path:
        return {}
    try:
        with Path(path).open("rb") as file:
            return _table(json.loads(file.read(EVENT_FILE_BYTES)))
    except (OSError, ValueError, RecursionError):
        return {}


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int | None:
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not (text.isascii() and text.isdecimal() and len(text) <= 19):
        return None
    number = int(text)
    return number if number <= LARGEST_NUMBER else None

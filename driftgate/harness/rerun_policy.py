"""Whether a nightly pipeline that ended gets its one rerun, or its outcome is posted. Pure; standard library only.

=======================  ==========  ========================  ==============================  =====
conclusion               attempt     started by                decision                        fails
=======================  ==========  ========================  ==============================  =====
failed                   1           schedule                  rerun the failed jobs           no
failed                   1           schedule, rerun refused   post                            yes
failed                   2 and more  schedule                  post; failed and flaky apart    yes
passed                   1           schedule                  nothing                         no
passed                   2 and more  schedule                  post; every failed job flaky    no
cancelled                any         anything                  post                            no
skipped                  any         anything                  nothing                         no
passed, failed           any         a person, or a change     post                            no
=======================  ==========  ========================  ==============================  =====
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from gate.errors import ConfigError
from gate.wording import listed, nearest, shown

Action = Literal["rerun", "post", "none"]

LAST_ATTEMPT = 2
SCHEDULED = "schedule"
WATCHED_EVENTS = (
    "workflow_dispatch", "repository_dispatch", "workflow_run", "push", "pull_request", "pull_request_target",
    "issue_comment", "merge_group", "release", "web", "api", "trigger", "chat", "pipeline", "parent_pipeline",
    "merge_request_event", "external", "external_pull_request_event",
)  # fmt: skip
"""Events of GitHub and GitLab behind which somebody waits for the outcome: never rerun by a machine."""


class Ended(Enum):
    """How a pipeline ended, whatever its CI calls that."""

    PASSED = "passed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


CONCLUSIONS = {
    "success": Ended.PASSED,
    "neutral": Ended.PASSED,
    "failure": Ended.FAILED,
    "failed": Ended.FAILED,
    "timed_out": Ended.FAILED,
    "startup_failure": Ended.FAILED,
    "cancelled": Ended.CANCELLED,
    "canceled": Ended.CANCELLED,
    "stale": Ended.CANCELLED,
    "action_required": Ended.CANCELLED,
    "skipped": Ended.SKIPPED,
}
"""The words of GitHub and of GitLab. What waits for somebody, or waited too long, was not judged: as cancelled."""


@dataclass(frozen=True, slots=True)
class Ending:
    """One attempt of a pipeline that ended.

    ``failed`` are its failed jobs, ``failed_before`` those of the attempt before it, None where that is not known;
    ``refused``: the rerun that `decide_rerun` asked for was refused. Raises ConfigError for an attempt below 1 and for
    an event or a conclusion that no CI has.
    """

    attempt: int
    event: str
    conclusion: str
    failed: frozenset[str] = frozenset()
    failed_before: frozenset[str] | None = None
    refused: bool = False

    def __post_init__(self) -> None:
        if self.attempt < 1:
            raise ConfigError(f"--attempt: found {self.attempt}; attempts are counted from 1")
        _known("--event", self.event, (SCHEDULED, *WATCHED_EVENTS))
        _known("--conclusion", self.conclusion, CONCLUSIONS)

    @property
    def ended(self) -> Ended:
        """``failed`` too where a job of a rerun failed that the CI lets fail: the rerun was to make it pass."""
        ended = CONCLUSIONS[self.conclusion]
        rerun_failed = ended is Ended.PASSED and self.attempt >= LAST_ATTEMPT and self.failed
        return Ended.FAILED if rerun_failed else ended


@dataclass(frozen=True, slots=True)
class RerunDecision:
    """What the notifier does; ``fail``: its own job ends red after that.

    ``failed`` failed in this attempt; ``newly_failing``, some of them, did not fail in the one before. ``flaky`` failed
    there and passed here, nothing else changed. All sorted by name.
    """

    action: Action
    fail: bool
    failed: tuple[str, ...]
    flaky: tuple[str, ...]
    newly_failing: tuple[str, ...]
    reason: str


def decide_rerun(ending: Ending) -> RerunDecision:
    """The table above. Every attempt has its answer, and none after the first is a rerun."""
    action, fail, reason = _act(ending)
    before = ending.failed_before
    compared = ending.attempt >= LAST_ATTEMPT and before is not None
    finished = ending.ended in (Ended.PASSED, Ended.FAILED)  # a job that was cancelled did not pass
    return RerunDecision(
        action=action,
        fail=fail,
        failed=tuple(sorted(ending.failed)),
        flaky=tuple(sorted((before or frozenset()) - ending.failed)) if compared and finished else (),
        newly_failing=tuple(sorted(ending.failed - (before or frozenset()))) if compared else (),
        reason=reason,
    )


def _act(ending: Ending) -> tuple[Action, bool, str]:
    ended = ending.ended
    if ended is Ended.SKIPPED:
        return "none", False, "nothing ran"
    if ended is Ended.CANCELLED:
        return "post", False, f"the pipeline ended {ending.conclusion}: neither its red nor its green is a result"
    if ending.event != SCHEDULED:
        return "post", False, f"started by {ending.event}, not by the schedule: whoever started it decides"
    return _act_on_schedule(ending)


def _act_on_schedule(ending: Ending) -> tuple[Action, bool, str]:
    passed = ending.ended is Ended.PASSED
    if ending.attempt >= LAST_ATTEMPT:
        return "post", not passed, f"attempt {ending.attempt} {'passed' if passed else 'failed: no further rerun'}"
    if passed:
        return "none", False, "passed at the first attempt"
    if ending.refused:
        return "post", True, "the rerun was refused: attempt 1 is the result"
    return "rerun", False, "failed at the first attempt: its failed jobs get one rerun"


def _known(option: str, name: str, valid: tuple[str, ...] | dict[str, Ended]) -> None:
    if name not in valid:
        raise ConfigError(f"{option}: unknown {shown(name)}{nearest(name, valid)}; valid: {listed(valid)}")

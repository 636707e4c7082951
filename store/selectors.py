"""Selectors of marks: one run, or everything of a CI run or of a commit, now and later."""

from __future__ import annotations

from dataclasses import dataclass

from store.checks import check_ci_run_id, check_sha, check_text

STANDING_KINDS = ("ci_run_id", "commit_sha")
"""Selectors that also cover runs that arrive later."""


@dataclass(frozen=True, slots=True)
class Selector:
    """``str()`` is its form in the trust log and in rules, e.g. ``ci_run_id=77``."""

    kind: str
    value: str

    @property
    def standing(self) -> bool:
        return self.kind in STANDING_KINDS

    def __str__(self) -> str:
        return f"{self.kind}={self.value}"


def one_selector(run_id: str | None, ci_run_id: int | None, commit_sha: str | None) -> Selector:
    """Raises ValueError unless exactly one is given, a CI run id that can be one, and a commit in full."""
    given = [value for value in (run_id, ci_run_id, commit_sha) if value is not None]
    if len(given) != 1:
        raise ValueError("give exactly one of run_id, ci_run_id and commit_sha")
    if run_id is not None:
        return Selector("run_id", check_text("run_id", run_id))
    if ci_run_id is not None:
        return Selector("ci_run_id", str(check_ci_run_id(ci_run_id)))
    return Selector("commit_sha", check_sha(str(commit_sha)))


def covering(ci_run_id: int | None, commit_sha: str | None) -> list[str]:
    """The standing selectors that cover such a run, in their written form."""
    facts = zip(STANDING_KINDS, (ci_run_id, commit_sha), strict=True)
    return [str(Selector(kind, str(fact).lower())) for kind, fact in facts if fact is not None]

"""Whether a verdict may fail the job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from driftgate.config.model import Enforcement
from gate.errors import ConfigError
from gate.spec import GateSpec
from gate.verdict import Mode, Verdict

KILL_SWITCH = "DRIFTGATE_ENFORCEMENT"


def may_enforce(test_path: str, enforcement: Enforcement, environment: Mapping[str, str]) -> bool:
    """The configuration allows it for this test and the kill switch is not thrown.

    Raises: ConfigError (the switch says neither on nor off: it must not be thrown in vain).
    """
    switch = environment.get(KILL_SWITCH, "").strip().lower()
    if switch not in {"", "on", "off"}:
        raise ConfigError(f'environment {KILL_SWITCH}: found "{switch}", expected "on" or "off"')
    return switch != "off" and any(_matches(test_path, glob) for glob in enforcement.allow)


def mode_of(specs: Iterable[GateSpec], *, allowed: bool) -> Mode:
    """Enforced iff allowed and some declaration asks for it."""
    return "enforced" if allowed and any(spec.enforce for spec in specs) else "shadow"


def rejects(verdict: Verdict) -> bool:
    """Whether the verdict fails the job: a check failed whose own declaration is enforced."""
    return verdict.mode == "enforced" and any(judged.spec.enforce and not judged.trusted for judged in verdict.specs)


def _matches(test_path: str, glob: str) -> bool:
    """As `fnmatch`, where ``*`` crosses ``/``; ``**/`` also stands for no folder at all."""
    return fnmatchcase(test_path, glob) or fnmatchcase(test_path, glob.replace("**/", ""))

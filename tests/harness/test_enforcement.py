"""When a verdict may fail the job: declaration, allow list and switch must all say so."""

import numpy as np
import pytest

from driftgate.config.model import Enforcement
from driftgate.harness.enforcement import may_enforce, mode_of, rejects
from gate.errors import ConfigError
from gate.identity import SeriesIdentity, SpecKey
from gate.policy import GatePolicy
from gate.spec import Constraint, GateSpec
from gate.verdict import SpecCheck, SpecVerdict, Status, Verdict

PATH = "tests/e2e/sub/test_ppo.py"


@pytest.mark.parametrize(
    ("glob", "allowed"),
    [
        ("tests/e2e/sub/test_ppo.py", True),
        ("tests/**", True),
        ("tests/**/test_*.py", True),
        ("tests/e2e/sub/**/test_*.py", True),
        ("**/test_ppo.py", True),
        ("*", True),
        ("tests/e2e", False),
        ("tests/fast/*", False),
        ("TESTS/**", False),
    ],
)
def test_the_allow_list(glob, allowed):
    """Globs are matched against the whole path; a star crosses folders, two stars may be no folder."""
    assert may_enforce(PATH, Enforcement((glob,)), {}) is allowed


def test_nothing_is_allowed_by_default():
    """An empty allow list enforces nothing."""
    assert not may_enforce(PATH, Enforcement(), {})


@pytest.mark.parametrize(("switch", "allowed"), [("off", False), (" OFF ", False), ("on", True), ("", True)])
def test_the_kill_switch(switch, allowed):
    """The switch takes enforcement away and never grants it."""
    assert may_enforce(PATH, Enforcement(("*",)), {"DRIFTGATE_ENFORCEMENT": switch}) is allowed
    assert not may_enforce(PATH, Enforcement(), {"DRIFTGATE_ENFORCEMENT": switch})


def test_a_mistyped_switch_is_an_error():
    """Somebody who throws the switch must not find out later that it was ignored."""
    with pytest.raises(ConfigError, match='DRIFTGATE_ENFORCEMENT: found "of", expected "on" or "off"'):
        may_enforce(PATH, Enforcement(("*",)), {"DRIFTGATE_ENFORCEMENT": "of"})


def spec(metric, *, enforce):
    return GateSpec(SpecKey(metric, '"all"', "{}"), "all", Constraint(), enforce=enforce)


def verdict(mode, *judged):
    specs = tuple(
        SpecVerdict(declared, *(np.empty(0) for _ in range(3)), {}, {"corridor": SpecCheck(status)}, 0)
        for declared, status in judged
    )
    return Verdict("not_trusted", SeriesIdentity("p", PATH, "cpu", "s"), GatePolicy(), specs=specs, mode=mode)


def test_one_enforced_declaration_makes_the_mode():
    """The mode is enforced iff it is allowed and some declaration asks for it."""
    shadow, enforced = spec("a", enforce=False), spec("b", enforce=True)
    assert mode_of([shadow, enforced], allowed=True) == "enforced"
    assert mode_of([shadow, enforced], allowed=False) == "shadow"
    assert mode_of([shadow], allowed=True) == "shadow"
    assert mode_of([], allowed=True) == "shadow"


@pytest.mark.parametrize("status", [Status.FAIL, Status.ERROR])
def test_only_an_enforced_declaration_fails_the_job(status):
    """A failing check of a declaration that is not enforced stays a remark."""
    shadow, enforced = spec("a", enforce=False), spec("b", enforce=True)
    assert rejects(verdict("enforced", (shadow, Status.PASS), (enforced, status)))
    assert not rejects(verdict("enforced", (shadow, status), (enforced, Status.OUTSIDE)))
    assert not rejects(verdict("shadow", (enforced, status)))

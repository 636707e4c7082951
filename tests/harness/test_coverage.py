"""Which series are fed, by the rules of the plan, and which have gone quiet."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from driftgate.config.load import load_config
from driftgate.harness.coverage import Clock, coverage, feeding_cadences
from driftgate.harness.registrations import Registration
from driftgate.harness.test_files import TestFile
from gate.identity import SeriesIdentity, SpecKey
from gate.spec import Constraint, GateSpec
from store.contract import SeriesSummary

NOW = datetime(2026, 6, 1, tzinfo=UTC)
CLOCK = Clock(NOW, timedelta(days=10))
SPEC = GateSpec(SpecKey("m", '"all"', "{}"), "all", Constraint())
BIG = "stage-c-8-gpu-h100"


@pytest.fixture
def config(tmp_path):
    def load(text=""):
        (tmp_path / "driftgate.toml").write_text(text)
        return load_config(file=None, start=tmp_path, env={}, options={})

    return load


def cuda(**more):
    return Registration("cuda", BIG, 300.0, **({"labels": ("megatron",), "hardware": ("hopper",)} | more))


def file(*registrations, name="tests/e2e/test_a.py", specs=(SPEC,)):
    return TestFile(Path(name), name, registrations, specs, ())


def summary(name="tests/e2e/test_a.py", *, days=1, backend="cuda", suite=BIG, runs=30, streak=0):
    last = None if days is None else NOW - timedelta(days=days)
    return SeriesSummary(
        SeriesIdentity("default", name, backend, suite),
        runs,
        runs - streak,
        "r",
        last,
        last_trusted=True,
        untrusted_streak=streak,
    )


def kinds(found):
    return [[finding.kind for finding in one.findings] for one in found]


@pytest.mark.parametrize(
    ("registration", "fed_by"),
    [
        (cuda(), ("nightly", "weekly")),
        (cuda(nightly=True), ("nightly", "weekly")),
        (cuda(labels=("long",)), ("weekly",)),
        (cuda(labels=("long", "megatron")), ("nightly", "weekly")),
        (cuda(disabled="flaky since June"), ()),
        (Registration("cpu", "stage-a-cpu", 1.0), ("nightly", "weekly")),
        (Registration("cpu", "stage-a-cpu", 1.0, labels=("ft-long",)), ("weekly",)),
        (Registration("rocm", "stage-c-4-gpu-mi350", 1.0, labels=("amd",)), ("nightly", "weekly")),
    ],
)
def test_which_cadences_feed_a_registration(config, registration, fed_by):
    """Those that are scheduled and write, by their scope and by nightly=True; no pull request's label counts."""
    (one,) = coverage([file(registration)], None, config(), CLOCK)
    assert one.fed_by == fed_by
    assert [finding.kind for finding in one.findings] == ([] if fed_by else ["unfed"])


@pytest.mark.parametrize(
    ("text", "feeding"),
    [
        ("", ["nightly", "weekly"]),
        ("[cadences.weekly]\nwrites = false", ["nightly"]),
        ("[cadences.release]\nwrites = true", ["nightly", "weekly"]),
        ("[cadences.nightly]\nwrites = false\n[cadences.weekly]\nwrites = false", []),
        ('preset = "none"\n[cadences.night]\nwrites = true\n[cadences.review]\nevents = ["push"]', ["night"]),
    ],
)
def test_which_cadences_are_scheduled_and_write(config, text, feeding):
    """Those with cron lines; where a CI keeps its cron lines to itself, every one that writes."""
    assert [cadence.name for cadence in feeding_cadences(config(text))] == feeding


def test_why_a_series_is_not_fed(config):
    """The plan's own reason for each cadence, said once where it is the same for all."""
    weekly_off = config("[cadences.weekly]\nwrites = false")
    (one,) = coverage([file(cuda(labels=("long",)))], None, weekly_off, CLOCK)
    assert one.findings[0].text.startswith("not in nightly: cadence nightly leaves out long")
    (one,) = coverage([file(cuda(disabled="broken\nmodel"))], None, config(), CLOCK)
    assert one.findings[0].text == "not in nightly, weekly: it is disabled: 'broken\\nmodel'"
    none_writes = config("[cadences.nightly]\nwrites = false\n[cadences.weekly]\nwrites = false")
    (one,) = coverage([file(cuda())], None, none_writes, CLOCK)
    assert "no cadence writes" in one.findings[0].text


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (None, ["never_run"]),
        (summary(days=None, runs=0), ["never_run"]),
        (summary(days=10), []),
        (summary(days=11), ["silent"]),
        (summary(streak=4), []),
        (summary(streak=5), ["starved"]),
        (summary(days=40, streak=30), ["silent", "starved"]),
        (summary(days=-1), []),
    ],
)
def test_what_the_store_tells_of_a_declared_series(config, stored, expected):
    """Never run, silent, starved, or fine."""
    found = coverage([file(cuda())], [] if stored is None else [stored], config(), CLOCK)
    assert kinds(found) == [expected]


def test_a_series_that_nobody_feeds_is_not_called_silent(config):
    """One reason is enough: quiet is what it must be."""
    assert kinds(coverage([file(cuda(disabled="x"))], [summary(days=99)], config(), CLOCK)) == [["unfed"]]
    assert kinds(coverage([file(cuda(disabled="x"))], [], config(), CLOCK)) == [["unfed"]]


@pytest.mark.parametrize(
    ("files", "why"),
    [
        ([], "no file of that name"),
        ([file(cuda(), specs=())], "no register_ci_gate any more"),
        ([file(Registration("cpu", "stage-a-cpu", 1.0))], "registered for cpu stage-a-cpu"),
    ],
)
def test_a_stored_series_that_is_gone(config, files, why):
    """The file, its declarations or its registration for this place; with the day of the last run."""
    gone = next(one for one in coverage(files, [summary()], config(), CLOCK) if one.identity == summary().identity)
    (finding,) = gone.findings
    assert (finding.kind, why in finding.text, finding.text.endswith("last run on 2026-05-31")) == ("gone", True, True)


def test_attempts_alone_make_no_series(config):
    """A test without declarations has attempts in the store, and nothing to be fed."""
    assert coverage([file(cuda(), specs=())], [summary(days=None, runs=0)], config(), CLOCK) == ()
    assert coverage([file(cuda(), specs=())], None, config(), CLOCK) == ()


def test_every_series_is_told_in_order(config):
    """A file at two suites is two series; sorted, fine ones too."""
    amd = Registration("rocm", "stage-c-4-gpu-mi350", 1.0, labels=("amd",))
    files = [file(cuda(), name="tests/e2e/test_b.py"), file(amd, cuda())]
    found = coverage(files, None, config(), CLOCK)
    assert [(one.identity.test_path[-4:], one.identity.backend) for one in found] == [
        ("a.py", "cuda"),
        ("a.py", "rocm"),
        ("b.py", "cuda"),
    ]

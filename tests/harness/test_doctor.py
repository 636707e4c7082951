"""Environment, configuration and CI as ``driftgate doctor`` sees them, and databases that do not answer."""

import shutil
import threading
from types import SimpleNamespace

import pytest

from driftgate.config.load import load_config
from driftgate.harness import doctor
from driftgate.harness.doctor import DoctorRequest, examine
from driftgate.harness.doctor_store import answered_within, examine_store
from driftgate.harness.trigger import Requests
from store.health import Diagnosis

SCHEDULE = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_EVENT_NAME": "schedule",
    "GITHUB_REF": "refs/heads/main",
}


@pytest.fixture
def found(tmp_path):
    """What is said of a folder with this configuration, by subject."""

    def ask(text="", environment=None, requests=Requests()):  # noqa: B008 - a frozen value
        (tmp_path / "driftgate.toml").write_text(text)
        config = load_config(file=None, start=tmp_path, env={}, options={})
        request = DoctorRequest(config, tmp_path / "driftgate.toml", environment or {}, requests)
        return {one.subject: one for one in examine(request)}

    return ask


def test_every_subject_is_told(found, tmp_path):
    """Python, packages, configuration, git, tests, records, CI, enforcement; nothing is made by looking."""
    subjects = found()
    assert set(subjects) == {"python", "packages", "configuration", "git", "tests", "records", "ci", "enforcement"}
    assert "driftgate 0" in subjects["packages"].text
    assert str(tmp_path / "driftgate.toml") in subjects["configuration"].text
    assert [path.name for path in tmp_path.iterdir()] == ["driftgate.toml"]


@pytest.mark.parametrize(
    ("environment", "requests", "state", "words"),
    [
        ({}, Requests(), "ok", "no CI: cadence regular, does not write"),
        ({}, Requests(cadence="nightly"), "ok", "no CI: cadence nightly, writes the baseline"),
        (SCHEDULE, Requests(cron="0 15 * * 0-5"), "ok", "CI, event schedule, branch main: cadence nightly, writes"),
        (
            SCHEDULE | {"GITHUB_REF": "refs/heads/x"},
            Requests(cadence="nightly"),
            "ok",
            "does not write: the branch is x",
        ),
        (SCHEDULE, Requests(), "fail", "give --schedule or --cadence"),
        ({"CI": "true"}, Requests(cadence="nightly"), "ok", "CI: cadence nightly, does not write: the event"),
    ],
)
def test_what_the_policy_decides(found, environment, requests, state, words):
    """CI detected or not, the cadence, and whether this run would write, or why not."""
    ci = found(environment=environment, requests=requests)["ci"]
    assert (ci.state, words in ci.text) == (state, True), ci


@pytest.mark.parametrize(
    ("text", "environment", "state", "words"),
    [
        ("", {}, "ok", "shadow"),
        ('[enforcement]\nallow = ["tests/*"]', {}, "ok", "allowed for tests/*"),
        ('[enforcement]\nallow = ["tests/*"]', {"DRIFTGATE_ENFORCEMENT": "off"}, "warn", "switched off"),
        ("", {"DRIFTGATE_ENFORCEMENT": "maybe"}, "fail", "DRIFTGATE_ENFORCEMENT"),
    ],
)
def test_enforcement(found, text, environment, state, words):
    """Shadow, allowed, switched off, or a switch that says neither."""
    diagnosis = found(text, environment)["enforcement"]
    assert (diagnosis.state, words in diagnosis.text) == (state, True)


def test_missing_roots_are_a_warning(found):
    """`run FILE` needs none."""
    assert (found()["tests"].state, "[discovery] roots" in found()["tests"].text) == ("warn", True)


def test_test_files(found, tmp_path):
    """Counted where they are right; a mistake fails, and is shown."""
    tree = tmp_path / "tests"
    tree.mkdir()
    (tree / "test_a.py").write_text('import driftgate\nregister_cpu_ci(est_time=1, suite="stage-a-cpu")\n')
    config = '[discovery]\nroots = ["tests"]'
    assert (found(config)["tests"].state, "1 test file, 0 with" in found(config)["tests"].text) == ("ok", True)
    (tree / "test_b.py").write_text("")
    diagnosis = found(config)["tests"]
    assert (diagnosis.state, "1 mistake in 2 test files" in diagnosis.text) == ("fail", True)
    assert "tests/test_b.py" in diagnosis.text


def test_without_git(found, monkeypatch):
    """The tested commit is not known: a warning."""
    monkeypatch.setattr(doctor, "ask", lambda *_: None)
    assert (found()["git"].state, "not found" in found()["git"].text) == ("warn", True)


def test_a_folder_that_is_no_repository(found):
    """Nor is it here."""
    assert (found()["git"].state, "no commit is checked out" in found()["git"].text) == ("warn", True)


def test_records_that_cannot_be_written(found, tmp_path):
    """A file stands where the folder should be; root writes everywhere else."""
    (tmp_path / ".driftgate").mkdir()
    (tmp_path / ".driftgate" / "records").write_text("")
    assert (found()["records"].state, "cannot be written" in found()["records"].text) == ("fail", True)


def test_a_disk_that_is_nearly_full(found, monkeypatch):
    """A warning before a night is lost."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=2**29))
    assert (found()["records"].state, "0.5 GiB free" in found()["records"].text) == ("warn", True)


@pytest.mark.parametrize("key", ["store.url", "store.migration_url"])
@pytest.mark.parametrize("url", ["mysql://ci:s3cret@h/x", "postgresql://ci:s3cret@h:12x/x"])
def test_a_url_that_nobody_can_use(tmp_path, key, url):
    """A failure of the configuration that does not repeat the URL: it may be secret."""
    config = load_config(file=None, start=tmp_path, env={}, options={key: url})
    found = {one.subject: one for one in examine(DoctorRequest(config, None, {}, Requests()))}
    assert found["configuration"].state == "fail"
    assert "s3cret" not in str(found)


def test_a_database_that_never_answers():
    """What came before is told; the wait ends, and whatever it waited for is left behind."""
    release = threading.Event()

    def question():
        yield Diagnosis("database", "ok", "connected")
        release.wait(60)

    first, late = answered_within(0.05, question)
    release.set()
    assert (first.text, late.state, late.text) == ("connected", "fail", "no further answer within 0.05 s")


def test_a_doctor_that_fails_itself():
    """A bug becomes a line, not a traceback."""

    def question():
        raise RuntimeError("two\nlines")
        yield

    (only,) = answered_within(5, question)
    assert (only.state, only.text) == ("fail", "RuntimeError: two lines")


def test_pooled_endpoints(tmp_path):
    """Without a direct endpoint for schema changes it is a warning; with one both are looked at."""

    def subjects(url, direct=None):
        env = {"DRIFTGATE_DATABASE_URL": url} | ({"DRIFTGATE_MIGRATION_URL": direct} if direct else {})
        config = load_config(file=None, start=tmp_path, env=env, options={})
        return {one.subject: one for one in examine_store(config, 2)}

    pooled = "postgresql://ci:s3cret@127.0.0.1:6432/none"
    found = subjects(pooled)
    assert (found["pooler"].state, "DRIFTGATE_MIGRATION_URL" in found["pooler"].advice) == ("warn", True)
    found = subjects(pooled, "postgresql://ci:s3cret@127.0.0.1:1/none")
    assert "pooler" not in found
    assert (found["database"].state, found["migration database"].state) == ("fail", "fail")
    assert "s3cret" not in str(found)
    assert "environment DRIFTGATE_DATABASE_URL" in found["store"].text


def test_a_driver_that_quotes_a_password(tmp_path):
    """It is hidden wherever it stands."""
    url = "postgresql://ci:s3cret@127.0.0.1:1/none?sslmode=s3cret&sslpassword=other5ecret"
    config = load_config(file=None, start=tmp_path, env={"DRIFTGATE_DATABASE_URL": url}, options={})
    found = [one for one in examine_store(config, 2) if one.subject == "database"]
    assert found[0].state == "fail"
    assert "***" in found[0].text
    assert all(secret not in str(found) for secret in ("s3cret", "other5ecret"))

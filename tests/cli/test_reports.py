"""The report of ``run`` as Markdown: what comes first, what is in it, what it withstands."""

import os

import pytest

LOG = "driftgate.log({{'train/loss': {}}}, step=0)"


def report(person, *files, options=("--cadence", "nightly", "--continue-on-error")):
    person.call("run", *files, *options, "--report-md", "r.md")
    return (person.home / "r.md").read_text()


def test_red_first(person):
    """A failed test, then one the gate minds, then the quiet ones, in table and sections alike."""
    person.test(LOG.format(1.0), name="test_a_quiet.py")
    person.test(LOG.format(1.0), name="test_b_moved.py")
    report(person, "test_b_moved.py")
    person.test(LOG.format(9.0), name="test_b_moved.py")
    person.test("sys.exit(1)", name="test_c_failed.py")
    text = report(person, "test_a_quiet.py", "test_b_moved.py", "test_c_failed.py")
    assert text.startswith("## driftgate: 1 failed, 1 not trusted, 2 passed\n")
    places = [text.index(f"| `test_{name}.py`") for name in ("c_failed", "b_moved", "a_quiet")]
    assert places == sorted(places)
    assert text.index("### FAILED: `test_c_failed.py`") < text.index("### NOT TRUSTED: `test_b_moved.py`")
    assert "fail (exit code 1" in text
    assert "gate: NOT TRUSTED (1 of 1 compared)" in text


def test_nothing_is_left_out(person):
    """Skipped tests with their reason, those not run, and why nothing was written."""
    disabled = 'from driftgate import register_rocm_ci\nregister_rocm_ci(est_time=1, suite="stage-c-4-gpu-mi350", labels=["amd"], disabled="flaky | see 12")'
    person.test("sys.exit(1)", name="test_a.py")
    person.test(f"{disabled}\n{LOG.format(1.0)}", name="test_b.py")
    text = report(person, "test_a.py", "test_b.py", options=())
    assert "### Not run\n\n- `test_b.py` in `stage-a-cpu`\n" in text
    assert "- `test_b.py` in `stage-c-4-gpu-mi350`: `disabled: flaky | see 12`\n" in text
    assert "nothing was written: `cadence regular never writes`" in text


def test_what_a_test_says_is_no_markup(person):
    """A name with bars, ticks and tags stays one cell of code."""
    person.test(LOG.format(1.0), name="test_<b>|`x`.py")
    text = report(person, "test_<b>|`x`.py")
    (row,) = [line for line in text.splitlines() if line.startswith("| ") and "stage-a-cpu" in line]
    assert row.replace("\\|", "").count("|") == 5
    assert "| ``test_<b>\\|`x`.py`` | `stage-a-cpu` |" in row


def test_as_text_the_numbers_of_a_table_have_no_negative_zero(person):
    """Equal values have the sd 0, and a corridor that begins at zero begins at 0."""
    person.test()
    for _ in range(2):
        person.judge(0.1)
    _, *cells = person.call("baseline", "test_a.py").out.splitlines()[-1].split()
    assert cells == ["2", "0.1", "0", "0", "0.2"]


def summary(person, clean, *args):
    """What a step adds to its job summary, and its exit code."""
    path = person.home / "summary.md"
    clean.setenv("GITHUB_STEP_SUMMARY", str(path))
    before = path.read_text() if path.exists() else ""
    answer = person.call(*args)
    return path.read_text().removeprefix(before), answer


def test_a_job_summary_is_written_unasked(person, clean):
    """In a step of GitHub Actions, besides --report-md, by run and by the hook, each after what is there."""
    person.test(LOG.format(1.0))
    text, answer = summary(person, clean, "run", "test_a.py", "--report-md", "r.md")
    assert (answer.code, text) == (0, (person.home / "r.md").read_text())
    text, _ = summary(person, clean, "gate", "test_a.py", "--records", person.record(1.0))
    assert text.startswith("\n### gate: TRUSTED (0 of 1 compared)\n")


def test_a_job_summary_named_as_report_is_written_once(person, clean):
    """Whoever asks for it by name gets it once, and what was there before stays."""
    person.test(LOG.format(1.0))
    (person.home / "summary.md").write_text("before\n")
    text, _ = summary(person, clean, "run", "test_a.py", "--report-md", "summary.md")
    assert text.startswith("\n## driftgate: 1 passed\n")
    assert text.count("## driftgate:") == 1
    assert (person.home / "summary.md").read_text().startswith("before\n")


@pytest.mark.parametrize(
    ("prepare", "reason"),
    [
        (lambda path: path.mkdir(), "it is no regular file"),
        (lambda path: path.write_bytes(b"x" * 999_500), "it is full (999500 bytes)"),
        (os.mkfifo, "it is no regular file"),
    ],
)
def test_a_job_summary_that_cannot_be_written_changes_nothing(person, clean, prepare, reason):
    """It is told, and the exit code is the tests'."""
    person.test(LOG.format(1.0))
    path = person.home / "there"
    prepare(path)
    clean.setenv("GITHUB_STEP_SUMMARY", str(path))
    answer = person.call("run", "test_a.py")
    assert (answer.code, answer.lines) == (0, [f"driftgate: the job summary {path} was not written: {reason}"])


@pytest.mark.parametrize(
    ("record", "marks"),
    [
        ("trusted", []),
        (
            "rejected",
            ["::warning file=test_a.py,line=5,title=not trusted in stage-a-cpu::gate: NOT TRUSTED (1 of 1 compared)"],
        ),
        ("missing", ["::warning file=test_a.py,line=1,title=not judged in stage-a-cpu::gate: NOT JUDGED (record "]),
    ],
)
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_the_hook_marks_what_the_gate_minds(record, marks, options, person, clean):
    """In a step of GitHub Actions, beside the declaration; elsewhere, and where all is well, nothing."""
    person.test()
    person.judge(1.0)
    folder = person.home / "none" if record == "missing" else person.record(1.0 if record == "trusted" else 9.0)
    call = ("gate", "test_a.py", "--records", folder, *options)
    assert "::" not in person.call(*call).err
    clean.setenv("GITHUB_ACTIONS", "true")
    found = [line for line in person.call(*call, "--cadence", "regular").lines if line.startswith("::")]
    assert [line[: len(mark)] for line, mark in zip(found, marks, strict=True)] == marks


def test_junit(person):
    """On request, by run and by the hook."""
    person.test(LOG.format(1.0))
    person.call("run", "test_a.py", "--junit", "out/j.xml")
    text = (person.home / "out/j.xml").read_text()
    assert '<testsuites name="driftgate" tests="2" failures="0" errors="0" skipped="0"' in text
    person.call("gate", "test_a.py", "--records", person.record(1.0), "--junit", "out/k.xml")
    assert 'name="gate: test_a.py"' in (person.home / "out/k.xml").read_text()
    assert person.call("run", "test_a.py", "--junit", "/proc/no/j.xml").code == 2

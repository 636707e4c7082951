"""Every route that reads: real answers against the documented models, and the same as the command line prints."""

import csv
import io
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from itertools import count
from threading import Event, Semaphore

import pandas as pd
import pytest
from typer.testing import CliRunner

from api.models.attempts import AttemptList
from api.models.baselines import Baselines
from api.models.epochs import EpochList
from api.models.history import History
from api.models.runs import RunDetails, RunList, Verdict
from api.models.series import SeriesList
from api.models.trust_events import TrustLog
from api.routes import baselines as baselines_route
from api.routes import history as history_route
from driftgate.cli.app import app
from driftgate.harness import test_files
from store.contract import Attempt

SERIES = {"test_path": "tests/test_ppo.py", "backend": "cuda", "suite": "nightly-8-gpu"}
LOSS = SERIES | {"metric_key": "loss"}


@pytest.fixture
def ids(store, judging, build):
    """Six nights: a level, a step to another that the gate does not trust; a mark, an epoch, two attempts."""
    found = judging.nights(store, [1.0, 1.02, 0.98, 1.5, 1.5, 1.5])
    store.mark_untrusted(**build.BY, run_id=found[1])
    store.start_epoch(judging.IDENTITY, from_run=found[4], reason="new optimizer", actor="on duty")
    store.record_attempts([attempt(judging, 1, "assertion"), attempt(judging, 2, "pass")])
    return found


def attempt(judging, number, how):
    return Attempt(judging.IDENTITY, number, 1, 1, how, 12.5, judging.START + timedelta(days=number), exit_code=0)


@pytest.fixture
def get(client):
    """A read that goes well."""

    def ask(path, **query):
        answer = client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer

    return ask


@pytest.fixture
def printed(settings, store, monkeypatch):
    """What the command line prints under --json of the same store."""
    monkeypatch.setattr(test_files, "series_path", lambda test, _: str(test))

    def call(*words):
        done = CliRunner().invoke(app, [*words, "--json", "--db", settings.database_url, "--project", "default"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    return call


READS = [
    ("/v1/series", {}, SeriesList, 1),
    ("/v1/runs", {}, RunList, 6),
    ("/v1/baselines", SERIES, Baselines, 1),
    ("/v1/history", LOSS, History, 18),
    ("/v1/epochs", {}, EpochList, 1),
    ("/v1/attempts", {}, AttemptList, 2),
    ("/v1/trust-events", {}, TrustLog, 4),
]


@pytest.mark.usefixtures("ids")
@pytest.mark.parametrize(("path", "query", "model", "rows"), READS)
def test_an_answer_is_as_documented(get, path, query, model, rows):
    """Every key is named in its model, and every value is of its kind."""
    answer = get(path, **query)
    model.model_validate_json(answer.content)
    assert [len(found) for found in answer.json().values() if isinstance(found, list)] == [rows]


def test_a_run_and_its_verdict_are_as_documented(ids, get):
    """Of a trusted run, a marked one, and one that was judged again."""
    for run_id in (ids[0], ids[1], ids[5]):
        RunDetails.model_validate_json(get(f"/v1/runs/{run_id}").content)
        Verdict.model_validate_json(get(f"/v1/runs/{run_id}/verdict").content)


@pytest.mark.parametrize(("path", "query", "model"), [(path, query, model) for path, query, model, *_ in READS])
def test_an_empty_store_is_as_documented(get, client, path, query, model):
    """No rows, or 404 for a series that is not there."""
    answer = client.get(path, params=query)
    if query:
        assert (answer.status_code, answer.json()["detail"]) == (
            404,
            "no run of tests/test_ppo.py is stored in project default",
        )
    else:
        model.model_validate_json(answer.content)


def test_the_command_line_prints_the_same(ids, get, printed):
    """But for the cursor, which only pages have."""

    def page(path, **query):
        return {key: value for key, value in get(path, **query).json().items() if key != "next_cursor"}

    test = SERIES["test_path"]
    assert page("/v1/runs") == printed("runs", "list")
    assert page("/v1/epochs") == printed("epoch", "list")
    assert page(f"/v1/runs/{ids[1]}") == printed("runs", "show", ids[1])
    assert page("/v1/baselines", **SERIES) == printed("baseline", test)
    assert page("/v1/baselines", **LOSS, step=1) == printed("baseline", test, "--metric", "loss", "--step", "1")
    assert page("/v1/history", **LOSS) == printed("history", test, "--metric", "loss")
    verdict = page(f"/v1/runs/{ids[3]}/verdict")
    replayed = printed("runs", "replay", ids[0])
    assert set(verdict) == set(replayed) - {"replay"}


class TestSeries:
    def test_how_a_series_fares(self, get, store, judging):
        """The last verdict, the counts, and what to look at."""
        found = judging.nights(store, [1.0] * 3 + [5.0] * 5)
        (row,) = get("/v1/series").json()["series"]
        assert (row["runs"], row["counting"], row["untrusted_streak"]) == (8, 3, 5)
        assert (row["last_run_id"], row["last_trusted"], row["last_verdict"]) == (found[-1], False, "not_trusted")
        assert row["warnings"][0]["kind"] == "starved"
        assert row["warnings"][0]["text"] == "its last 5 runs are all untrusted"

    def test_a_band_warning_stands_in_the_list(self, get, store, judging):
        """As the verdict on the last run has it; `starved` is told as of today and not from there."""
        noise = [1.0, 1.09, 0.92, 1.06, 0.95, 1.02, 0.98, 1.07, 0.94, 1.01, 1.0]
        judging.nights(store, noise)
        (row,) = get("/v1/series").json()["series"]
        assert [warning["kind"] for warning in row["warnings"]] == ["band_too_tight"]
        assert row["warnings"][0]["metric_key"] == "loss"

    @pytest.mark.usefixtures("ids")
    def test_filters(self, get):
        """By name, and by a part of the path."""
        assert len(get("/v1/series", search="PPO").json()["series"]) == 1
        assert get("/v1/series", search="grpo").json()["series"] == []
        assert get("/v1/series", suite="other").json()["series"] == []


class TestBaselines:
    def test_columns(self, ids, get):
        """Newest run first, only runs of the epoch that count; the corridor around their mean."""
        (spec,) = get("/v1/baselines", **SERIES).json()["specs"]
        assert (spec["metric_key"], spec["steps"], spec["n"]) == ("loss", [0, 1, 2], [2, 2, 2])
        assert (spec["runs"], spec["values"]) == ([ids[5], ids[4]], [[1.5] * 3] * 2)
        assert (spec["mean"], spec["sd"], spec["anchor_mean"]) == ([1.5] * 3, [0.0] * 3, [None] * 3)
        assert (spec["lo"], spec["hi"]) == ([1.4] * 3, [1.6] * 3)

    def test_a_limit(self, ids, get):
        """So many values of each coordinate."""
        (spec,) = get("/v1/baselines", **SERIES, limit=1).json()["specs"]
        assert (spec["runs"], spec["n"]) == ([ids[5]], [1, 1, 1])

    def test_what_changes_is_seen_at_once(self, ids, get, store, judging, build):
        """An answer from memory is given only while it is true: a run, a mark, an epoch undone."""

        def runs():
            return get("/v1/baselines", **SERIES).json()["specs"][0]["runs"]

        assert runs() == runs() == [ids[5], ids[4]]
        newest = judging.night(store, 7, 1.5).run_id
        assert runs() == [newest, ids[5], ids[4]]
        store.mark_untrusted(**build.BY, run_id=ids[5])
        assert runs() == [newest, ids[4]]
        epoch = store.list_epochs("default")[0].epoch_id
        store.undo_epoch(project="default", epoch_id=epoch, reason="no", actor="me")
        assert runs() == [newest, ids[2], ids[0]]

    @pytest.mark.usefixtures("ids")
    def test_too_many_coordinates(self, get, client, monkeypatch):
        """Refused with what to do; narrowed, it is answered."""
        monkeypatch.setattr(baselines_route, "MAX_COORDINATES", 2)
        answer = client.get("/v1/baselines", params=SERIES)
        assert answer.status_code == 422
        assert answer.json()["detail"] == ("3 coordinates; one answer has at most 2: narrow it by metric_key or step")
        assert get("/v1/baselines", **SERIES, step=1).json()["specs"][0]["steps"] == [1]

    def test_no_infinity_goes_out(self, get, store, build):
        """A corridor of values near the largest number there is: null."""
        for number in (1, 2):
            store.write_run(build.run(number, build.values({0: 1.7e308}, build.key("huge", rel_up=1e10))))
        answer = get("/v1/baselines", **SERIES)
        assert answer.json()["specs"][0]["hi"] == [None]
        assert not {b"NaN", b"Infinity"} & set(answer.content.replace(b",", b" ").split())

    def test_keys_that_no_declaration_makes(self, get, store, build):
        """Another writer's run has a baseline and no corridor."""
        store.write_run(build.run(1, build.values({0: 1.0}, replace(build.key(), constraint_key="garbage"))))
        (spec,) = get("/v1/baselines", **SERIES).json()["specs"]
        assert (spec["mean"], spec["lo"], spec["hi"]) == ([1.0], [None], [None])


NOT_THERE = [
    (
        "/v1/baselines",
        {"test_path": "tests/test_pp.py"},
        "no run of tests/test_pp.py is stored in project default (did",
    ),
    ("/v1/baselines", {"suite": "other"}, "for that backend and suite; stored: cuda nightly-8-gpu"),
    (
        "/v1/baselines",
        {"metric_key": "los"},
        "metric_key: tests/test_ppo.py in nightly-8-gpu has no 'los' (did you mean",
    ),
    ("/v1/baselines", {"step": 7}, "step: no trusted run of tests/test_ppo.py in nightly-8-gpu has a value at step 7"),
    ("/v1/history", {"test_path": "x"}, "no run of x is stored in project default"),
    ("/v1/history", {"metric_key": "los"}, "has no 'los' (did you mean 'loss'?); stored: loss"),
    ("/v1/history", {"step": 7}, "step: no run of tests/test_ppo.py in nightly-8-gpu has a value of loss at step 7"),
]


@pytest.mark.parametrize(("path", "change", "detail"), NOT_THERE)
def test_what_is_not_there(ids, client, path, change, detail):
    """404, with what there is instead; also when it is asked for again."""
    query = (LOSS if path.endswith("history") else SERIES) | change
    for _ in range(2):
        answer = client.get(path, params=query)
        assert answer.status_code == 404
        assert detail in answer.json()["detail"]


class TestHistory:
    def test_since(self, ids, get):
        """Runs created then or later; after the last one there is nothing, which is no error."""
        rows = get("/v1/history", **LOSS, step=0, since="2024-01-06T02:00:00+02:00").json()["values"]
        assert [row["run_id"] for row in rows] == ids[4:]
        assert get("/v1/history", **LOSS, since="2030-01-01T00:00:00Z").json()["values"] == []

    @pytest.mark.usefixtures("ids")
    def test_csv(self, get):
        """The same values as in JSON, under a line of names."""
        answer = get("/v1/history", **LOSS, format="csv")
        assert answer.headers["content-type"] == "text/csv; charset=utf-8"
        rows = list(csv.DictReader(io.StringIO(answer.text)))
        expected = get("/v1/history", **LOSS).json()["values"]
        assert [(row["run_id"], int(row["step"]), float(row["value"])) for row in rows] == [
            (row["run_id"], row["step"], row["value"]) for row in expected
        ]
        assert list(rows[0]) == list(expected[0])

    def test_a_cell_is_no_formula(self, get, store, build):
        """A text that begins as one is quoted; a negative number stays a number."""
        facts = {"tested_sha": "=1+1"}
        for start in "=+-@":
            key = replace(build.key(), steps_key=f"{start}cmd")
            store.write_run(build.run(ord(start), build.values({-1: -0.5}, key), facts=facts))
        rows = list(csv.reader(io.StringIO(get("/v1/history", **LOSS, format="csv").text)))
        cells = {cell for row in rows[1:] for cell in row if cell[:1] in "=+-@"}
        assert cells == {"-1", "-0.5"}
        assert {row[2] for row in rows[1:]} == {"'=cmd", "'+cmd", "'-cmd", "'@cmd"}
        assert {row[8] for row in rows[1:]} == {"'=1+1"}

    @pytest.mark.usefixtures("ids")
    def test_parquet(self, get):
        """The same values as in JSON, with their types."""
        answer = get("/v1/history", **LOSS, format="parquet")
        frame = pd.read_parquet(io.BytesIO(answer.content))
        rows = get("/v1/history", **LOSS).json()["values"]
        assert frame["value"].tolist() == [row["value"] for row in rows]
        assert (str(frame["step"].dtype), str(frame["created_at"].dt.tz)) == ("int64", "UTC")

    @pytest.mark.usefixtures("ids")
    def test_parquet_without_pyarrow(self, client, monkeypatch):
        """One line that says what to install."""
        monkeypatch.setattr(history_route, "find_spec", lambda _: None)
        answer = client.get("/v1/history", params=LOSS | {"format": "parquet"})
        assert answer.status_code == 422
        assert answer.json()["detail"].endswith("pip install 'driftgate[parquet]'")

    @pytest.mark.parametrize("kind", ["csv", "parquet"])
    def test_the_pages_of_a_file(self, ids, client, kind):
        """Linked until the last one; together every value once."""
        path, query, parts = "/v1/history", LOSS | {"format": kind, "limit": 4}, []
        while path is not None:
            answer = client.get(path, params=query)
            read = pd.read_csv if kind == "csv" else pd.read_parquet
            parts.append(read(io.BytesIO(answer.content)))
            path, query = answer.links.get("next", {}).get("url"), None
        whole = pd.concat(parts)
        assert [len(part) for part in parts] == [12, 6]
        assert whole["run_id"].tolist() == [run_id for run_id in ids for _ in range(3)]


class TestRuns:
    @pytest.mark.parametrize(
        ("query", "nights"),
        [
            ({}, [6, 5, 4, 3, 2, 1]),
            ({"trusted": "false"}, [4, 2]),
            ({"ci_run_id": 3}, [3]),
            ({"limit": 2}, [6, 5]),
            ({"suite": "other"}, []),
            ({"commit_sha": "a" * 40}, []),
            (SERIES | {"trusted": "true"}, [6, 5, 3, 1]),
        ],
    )
    def test_filters(self, ids, get, query, nights):
        """Newest first."""
        found = [run["run_id"] for run in get("/v1/runs", **query).json()["runs"]]
        assert found == [ids[night - 1] for night in nights]

    def test_a_verdict_in_full(self, ids, get):
        """Coordinate by coordinate, with what became of the run."""
        verdict = get(f"/v1/runs/{ids[3]}/verdict").json()
        assert (verdict["verdict"], len(verdict["coordinates"])) == ("not_trusted", 3)
        assert verdict["written"] == {"run_id": ids[3], "trusted": False, "repeat": False, "reason": None}
        check = verdict["coordinates"][0]["checks"]["corridor"]
        assert (check["status"], check["n"], check["mean"]) == ("fail", 3, 1.0)

    def test_a_run_without_a_verdict(self, client, store, build):
        """Is there; its verdict is not."""
        run_id = store.write_run(replace(build.run(1), verdict={})).run_id
        assert client.get(f"/v1/runs/{run_id}").status_code == 200
        answer = client.get(f"/v1/runs/{run_id}/verdict")
        assert answer.status_code == 404
        assert answer.json()["detail"].startswith(f"run {run_id} was stored without a verdict")


def test_pages_while_runs_are_written(ids, client, store, build):
    """A writer who never stops, with runs newer, older and in between: what was there at the start comes once."""
    stop, written = Event(), Semaphore(0)

    def write():
        for number in count(100):
            if stop.is_set():
                return
            store.write_run(build.run(number, hours=number % 150))
            written.release()

    with ThreadPoolExecutor() as threads:
        writer = threads.submit(write)
        seen, query = [], {"limit": 1}
        while not set(ids) <= set(seen) and query["limit"]:
            written.acquire()
            page = client.get("/v1/runs", params=query).json()
            seen += [run["run_id"] for run in page["runs"]]
            query = {"limit": page["next_cursor"] and 3, "cursor": page["next_cursor"]}
        stop.set()
        writer.result()
    assert len(seen) == len(set(seen))
    assert [run_id for run_id in seen if run_id in ids] == ids[::-1]


def test_attempts_and_trust_events_by_filter(ids, get):
    """By what they were and whom they concern."""
    assert [one["ci_run_id"] for one in get("/v1/attempts", attempt_class="pass").json()["attempts"]] == [2]
    assert [one["ci_run_id"] for one in get("/v1/attempts", since="2024-01-03T00:00:00Z").json()["attempts"]] == [2]
    lines = get("/v1/trust-events", run_id=ids[1]).json()["trust_events"]
    assert [(line["action"], line["actor"], line["run_id"]) for line in lines] == [
        ("mark_untrusted", "on duty", ids[1])
    ]

"""Moving from the reference design: one history, read and written through both."""

import json
import os
from dataclasses import replace

import compat_builders as build
import pytest
from typer.testing import CliRunner

from driftgate.cli.app import app
from driftgate.compat import (
    RECORD_DIR_ENV,
    CiHistoryBackend,
    MetricSample,
    NeonMetricHistoryStore,
    RunIdentity,
    SQLiteMetricHistoryStore,
    evaluate_gate,
)

TEST = "tests/e2e/test_grpo.py"
SOURCE = """\
from driftgate.compat import register_ci_gate, register_cuda_ci

register_cuda_ci(600, "stage-c-8-gpu-h100", labels=["short"], hardware=["hopper"])
register_ci_gate(metric_key="train/ppo_kl")
register_ci_gate(metric_key="rollout/raw_reward", steps="last", constraint={"rel_up": 0.5, "rel_down": 0.5})
"""
OUTSIDE = ("GITHUB_", "GITLAB_", "CI", "DRIFTGATE_", "NEON_")


class Project:
    """A repository with one test, its history at ``url``, and two ways to it."""

    def __init__(self, folder, url):
        self.folder, self.url = folder, url
        self._nights = 0

    def store(self):
        """As the reference's user opens it."""
        if self.url.startswith("sqlite"):
            return SQLiteMetricHistoryStore(self.folder / "history.db")
        return NeonMetricHistoryStore(self.url)

    def driftgate(self, *arguments):
        """The answer of the command line, which must go well."""
        done = CliRunner().invoke(app, [*arguments, "--db", self.url, "--json"])
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    def record(self, *kl, reward=0.5):
        """The record directory of a training that logs through the reference's backend."""
        self._nights += 1
        folder = self.folder / f"record-{self._nights}"
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv(RECORD_DIR_ENV, str(folder))
            backend = CiHistoryBackend()
            backend.init(None)
        for step, value in enumerate(kl):
            backend.log({"train/ppo_kl": value, "rollout/raw_reward": reward}, step=step)
        backend.finish()
        return folder

    def judge_there(self, store, *kl):
        """One night as the reference's harness does it: judge, then write what was judged."""
        (path,) = self.record(*kl).iterdir()
        result = evaluate_gate(TEST, str(path), store)
        samples = [MetricSample(r.metric_key, r.steps_key, r.constraint_key, r.step, r.current) for r in result.metrics]
        identity = RunIdentity(result.test_path, result.backend, result.suite)
        build.write(store, 0.0, self._nights, identity=identity, trusted=result.trusted, values=samples)
        return result

    def judge_here(self, *kl):
        """One night by driftgate, written."""
        return self.driftgate("gate", TEST, "--records", str(self.record(*kl)), "--cadence", "nightly")


@pytest.fixture(params=["sqlite", "postgres"])
def project(request, tmp_path, monkeypatch):
    for name in [name for name in os.environ if name.startswith(OUTSIDE)]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / TEST
    path.parent.mkdir(parents=True)
    path.write_text(SOURCE)
    if request.param == "postgres":
        return Project(tmp_path, request.getfixturevalue("postgres_url"))
    return Project(tmp_path, f"sqlite:///{tmp_path / 'history.db'}")


def test_what_was_written_there_is_read_here(project):
    """Runs, baseline and judgement of driftgate's own commands rest on the nights of before."""
    with project.store() as store:
        assert [project.judge_there(store, 0.1, 0.2).trusted for _ in range(3)] == [True] * 3
        assert not project.judge_there(store, 0.1, 0.9).trusted
    runs = project.driftgate("runs", "list", TEST)["runs"]
    assert [run["trusted"] for run in runs] == [False, True, True, True]
    assert {run["provenance"]["tested_sha"] for run in runs} == {"deadbeef"}
    specs = {spec["metric_key"]: spec for spec in project.driftgate("baseline", TEST)["specs"]}
    assert (specs["train/ppo_kl"]["steps"], specs["train/ppo_kl"]["n"]) == ([0, 1], [3, 3])
    assert (specs["rollout/raw_reward"]["steps"], specs["rollout/raw_reward"]["mean"]) == ([-1], [0.5])
    verdict = project.judge_here(0.1, 0.9)
    assert (verdict["verdict"], verdict["compared"]) == ("not_trusted", 3)


def test_what_was_written_here_is_read_there(project):
    """`evaluate_gate` judges against nights that driftgate stored, coordinate by coordinate."""
    for _ in range(2):
        assert project.judge_here(0.1, 0.2)["verdict"] == "trusted"
    with project.store() as store:
        result = project.judge_there(store, 0.1, 0.9)
    assert [(row.step, row.baseline_n, row.historical_status.value) for row in result.metrics] == [
        (0, 2, "pass"),
        (1, 2, "fail"),
        (-1, 2, "pass"),
    ]


def test_marks_reach_across(project):
    """An operator of either side takes a run out of the other's baseline, and driftgate can put it back."""
    samples = [build.sample(1.0)]
    with project.store() as store:
        ids = [
            build.write(store, 0.0, night, identity=replace(build.IDENTITY, test_path=TEST), values=samples)
            for night in (1, 2)
        ]
        project.driftgate("mark-untrusted", "--run-id", ids[0], "--reason", "wrong image")
        identity = replace(build.IDENTITY, test_path=TEST)
        assert build.recent(store, identity=identity) == [1.0]
        assert store.mark_untrusted(commit_sha="deadbeef") == 1
        assert build.recent(store, identity=identity) == []
        project.driftgate("mark-trusted", "--run-id", ids[1], "--reason", "it was fine")
        assert build.recent(store, identity=identity) == [1.0]


def test_an_epoch_begins_on_both_sides(project):
    """After an intended change was accepted, the reference's gate starts cold too."""
    with project.store() as store:
        project.judge_there(store, 0.1, 0.2)
        project.driftgate("epoch", "start", TEST, "--reason", "new kernel")
        result = project.judge_there(store, 5.0, 5.0)
    assert {row.historical_status.value for row in result.metrics} == {"inactive"}


def test_keys_that_no_declaration_made_are_shown_too(project):
    """The reference's store takes any text for them: driftgate shows the values, without a corridor."""
    identity = replace(build.IDENTITY, test_path=TEST)
    with project.store() as store:
        build.write(store, 0.0, identity=identity, values=[build.sample(2.0, metric="m", steps="last", band="band")])
    (spec,) = project.driftgate("baseline", TEST)["specs"]
    assert (spec["mean"], spec["lo"], spec["hi"]) == ([2.0], [None], [None])
    project.driftgate("history", TEST, "--metric", "m")

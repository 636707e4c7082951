"""`CiHistoryBackend`: what the reference's tracking backend does, with driftgate's collector."""

import json
import math

import pytest

from driftgate.compat import RECORD_DIR_ENV, TARGET_METRIC_KEYS, CiHistoryBackend, parse_merged_record

THEIR_VARIABLE = "MILES_CI_GATE_RECORD_DIR"


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    for name in (RECORD_DIR_ENV, THEIR_VARIABLE, "DRIFTGATE_METRICS", "DRIFTGATE_STRICT"):
        monkeypatch.delenv(name, raising=False)


def _backend():
    backend = CiHistoryBackend()
    backend.init(object(), primary=False, group="x")
    return backend


def _only_file(folder):
    (path,) = folder.glob("*.jsonl")
    return path


def test_kept_metrics_are_recorded(tmp_path, monkeypatch):
    """Every point of the kept metrics and nothing else; the directory is made."""
    monkeypatch.setenv(RECORD_DIR_ENV, str(tmp_path / "new"))
    backend = _backend()
    for step in range(2):
        backend.log({"train/grad_norm": step + 0.5, "train/pg_loss": 9.0, "train/step": step}, step=step, commit=True)
    backend.log({"rollout/raw_reward": math.nan})
    backend.finish()
    found = parse_merged_record(str(_only_file(tmp_path / "new")))
    assert found["train/grad_norm"] == [[0, 0.5], [1, 1.5]]
    assert set(found) == {"train/grad_norm", "rollout/raw_reward"} <= set(TARGET_METRIC_KEYS)


def test_a_record_is_complete_without_finish(tmp_path, monkeypatch):
    """Each line is whole JSON as soon as it was logged."""
    monkeypatch.setenv(RECORD_DIR_ENV, str(tmp_path))
    _backend().log({"train/grad_norm": 1.0}, 0)
    assert json.loads(_only_file(tmp_path).read_text()) == {"metric": "train/grad_norm", "series": [[0, 1.0]]}


@pytest.mark.parametrize("value", [[0.1], "0.1", None, True, {}])
def test_a_bad_value_is_a_type_error_and_nothing_of_the_call_is_kept(tmp_path, monkeypatch, value):
    """As there, it raises where the author sees it."""
    monkeypatch.setenv(RECORD_DIR_ENV, str(tmp_path))
    backend = _backend()
    with pytest.raises(TypeError, match="train/ppo_kl"):
        backend.log({"train/grad_norm": 1.0, "train/ppo_kl": value}, step=0)
    backend.log({"train/grad_norm": 2.0}, step=1)
    assert parse_merged_record(str(_only_file(tmp_path))) == {"train/grad_norm": [[1, 2.0]]}


def test_a_bad_value_of_a_metric_that_is_not_kept_does_not_matter(tmp_path, monkeypatch):
    """It is not looked at."""
    monkeypatch.setenv(RECORD_DIR_ENV, str(tmp_path))
    _backend().log({"other": [1]}, step=0)
    assert not list(tmp_path.iterdir())


def test_nothing_happens_without_a_directory(tmp_path, monkeypatch):
    """Training outside of CI, and a backend that was never initialised."""
    monkeypatch.chdir(tmp_path)
    for backend in (_backend(), CiHistoryBackend()):
        backend.log({"train/grad_norm": "x"}, step=0)
        backend.finish()
    assert not list(tmp_path.iterdir())


def test_every_instance_has_a_file_of_its_own(tmp_path, monkeypatch):
    """Two in one process do not mix."""
    monkeypatch.setenv(RECORD_DIR_ENV, str(tmp_path))
    for backend in (_backend(), _backend()):
        backend.log({"train/grad_norm": 1.0}, 0)
    assert len(list(tmp_path.glob("*.jsonl"))) == 2


def test_the_variable_of_the_reference_is_honoured(tmp_path, monkeypatch):
    """A harness that has not moved yet still finds a record; driftgate's own variable goes first."""
    monkeypatch.setenv(THEIR_VARIABLE, str(tmp_path / "theirs"))
    _backend().log({"train/grad_norm": 1.0}, 0)
    monkeypatch.setenv(RECORD_DIR_ENV, str(tmp_path / "ours"))
    _backend().log({"train/grad_norm": 2.0}, 0)
    assert parse_merged_record(str(_only_file(tmp_path / "theirs"))) == {"train/grad_norm": [[0, 1.0]]}
    assert parse_merged_record(str(_only_file(tmp_path / "ours"))) == {"train/grad_norm": [[0, 2.0]]}


def test_the_harness_may_ask_for_other_metrics(tmp_path, monkeypatch):
    """`driftgate run` does so for what a test declares."""
    monkeypatch.setenv(RECORD_DIR_ENV, str(tmp_path))
    monkeypatch.setenv("DRIFTGATE_METRICS", '["mine"]')
    _backend().log({"mine": 1.0, "train/grad_norm": 2.0}, 0)
    assert parse_merged_record(str(_only_file(tmp_path))) == {"mine": [[0, 1.0]]}

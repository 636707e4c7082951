"""The files of an attempt become one record, whatever else lies in the folder."""

import json
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.harness import merge as merge_module
from driftgate.harness.merge import MERGED_NAME, merge_attempt, write_merged
from gate.errors import RecordError
from gate.record import load_record


def line(metric, *points):
    return json.dumps({"metric": metric, "series": [list(point) for point in points]}) + "\n"


def points_of(record, metric):
    series = record.metrics[metric]
    return list(zip(series.steps, series.values, strict=True))


def test_files_of_any_name_are_merged_by_step(tmp_path):
    """Every *.jsonl counts; series are concatenated in order of file name and sorted by step, None last."""
    (tmp_path / "b.jsonl").write_text(line("m", (2, 20.0), (None, 9.0), (0, 1.0)))
    (tmp_path / "a.jsonl").write_text(line("m", (2, 2.0)) + line("n", (0, 5.0)))
    (tmp_path / "notes.txt").write_text("no record")
    record = merge_attempt(tmp_path)
    assert points_of(record, "m") == [(0, 1.0), (2, 2.0), (2, 20.0), (None, 9.0)]
    assert points_of(record, "n") == [(0, 5.0)]
    assert (record.damaged, record.notes) == (None, ())


def test_torn_and_garbage_lines(tmp_path):
    """A torn last line is noted, a garbage line makes the record damaged; the good lines stay."""
    (tmp_path / "torn.jsonl").write_text(line("m", (0, 1.0)) + '{"metric": "m", "ser')
    assert points_of(merge_attempt(tmp_path), "m") == [(0, 1.0)]
    assert "torn.jsonl" in merge_attempt(tmp_path).notes[0]
    (tmp_path / "bad.jsonl").write_bytes(b"\x00\xffgarbage\n" + line("m", (1, 2.0)).encode())
    record = merge_attempt(tmp_path)
    assert "bad.jsonl" in record.damaged
    assert points_of(record, "m") == [(0, 1.0), (1, 2.0)]


def test_what_is_not_a_regular_file_is_refused(tmp_path):
    """Links are not followed, FIFOs not waited for, sockets and folders not opened; each is named."""
    secret = tmp_path / "secret"
    secret.write_text(line("leak", (0, 1.0)))
    folder = tmp_path / "attempt-1"
    folder.mkdir()
    (folder / "link.jsonl").symlink_to(secret)
    (folder / "dangling.jsonl").symlink_to("nowhere")
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "folder.jsonl").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "s.jsonl"))
        record = merge_attempt(folder)
    assert record.metrics == {}
    assert record.notes == (
        "dangling.jsonl: refused, a symbolic link",
        "folder.jsonl: refused, a directory",
        "link.jsonl: refused, a symbolic link",
        "pipe.jsonl: refused, a FIFO",
        "s.jsonl: refused, a socket or device",
    )
    assert record.damaged is None


def test_too_much_is_damage(tmp_path, monkeypatch):
    """What is over a limit is not read and not forgotten: the record is damaged."""
    (tmp_path / "a.jsonl").write_text(line("m", (0, 1.0)))
    (tmp_path / "b.jsonl").write_text(line("m", *((step, 1.0) for step in range(100))))
    monkeypatch.setattr(merge_module, "FILE_BYTES", 100)
    assert merge_attempt(tmp_path).damaged == "b.jsonl: not read, larger than the 100 bytes left for it"
    assert points_of(merge_attempt(tmp_path), "m") == [(0, 1.0)]
    monkeypatch.setattr(merge_module, "MOST_FILES", 1)
    assert merge_attempt(tmp_path).damaged == "2 files, more than the 1 that are read"


def test_a_missing_or_unreadable_folder(tmp_path):
    """Nothing to read is an error of one line; an empty folder is an empty record."""
    with pytest.raises(RecordError, match=r"record directory .*gone: cannot be read: No such file"):
        merge_attempt(tmp_path / "gone")
    (tmp_path / "file").touch()
    with pytest.raises(RecordError, match="Not a directory"):
        merge_attempt(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    assert merge_attempt(tmp_path / "empty").metrics == {}


def test_an_unreadable_file_is_not_passed_over(tmp_path, monkeypatch):
    """A record of which a part cannot be read is not judged as if it were whole."""

    def denied(name, _folder, _limit):
        raise PermissionError(13, "Permission denied", name)

    (tmp_path / "a.jsonl").touch()
    monkeypatch.setattr(merge_module, "read_regular", denied)
    with pytest.raises(RecordError, match=r"a\.jsonl: cannot be read: Permission denied"):
        merge_attempt(tmp_path)


@given(st.lists(st.tuples(st.none() | st.integers(0, 9), st.floats()), max_size=12))
def test_the_merged_file_reads_back(tmp_path_factory, points):
    """What is written is the record, bit by bit, and merging again does not count it twice."""
    folder = tmp_path_factory.mktemp("attempt")
    marked = {repr(float("nan")): "NaN", "inf": "Infinity", "-inf": "-Infinity"}
    (folder / "a.jsonl").write_text(line("m", *((step, marked.get(repr(value), value)) for step, value in points)))
    record = merge_attempt(folder)
    target = write_merged(record, folder)
    assert repr(load_record(target.read_bytes())) == repr(record)
    assert repr(merge_attempt(folder)) == repr(record)
    assert sorted(path.name for path in folder.iterdir()) == ["a.jsonl", MERGED_NAME]


def test_a_planted_link_is_replaced(tmp_path):
    """A link at the merged file's name does not lead the writer elsewhere."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = tmp_path / "attempt-1"
    folder.mkdir()
    (folder / MERGED_NAME).symlink_to(victim)
    target = write_merged(merge_attempt(folder), folder)
    assert victim.read_text() == "precious"
    assert not target.is_symlink()


def test_a_failed_write_leaves_nothing(tmp_path, monkeypatch):
    """No half record and no temporary file stay behind when the disk is full."""

    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(merge_module.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_merged(merge_attempt(tmp_path), tmp_path)
    assert list(Path(tmp_path).iterdir()) == []


def test_a_missing_folder_is_named_once(tmp_path, monkeypatch):
    """A relative path is told as it was given."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RecordError) as refused:
        merge_attempt(Path("records", "a1"))
    assert str(refused.value) == "record directory records/a1: cannot be read: No such file or directory"

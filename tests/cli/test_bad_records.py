"""Record directories as crashes, disks and strangers leave them."""

import json
import os

import pytest

GOOD = json.dumps({"metric": "train/loss", "series": [[0, 1.0], [1, 1.0]]}) + "\n"


def judged(person, folder):
    """Console and JSON on the same directory; shadow, so exit 0."""
    person.test()
    text = person.call("gate", "test_a.py", "--records", folder)
    data = person.call("gate", "test_a.py", "--records", folder, "--json")
    assert (text.code, data.code) == (0, 0)
    assert "Traceback" not in text.err
    return text.out, data.json


def kinds(verdict):
    return {warning["kind"] for warning in verdict["warnings"]}


def test_garbage(person):
    """A line that is no record makes the record damaged: an ERROR, told in words."""
    folder = person.write("records/r/1.jsonl", GOOD + "garbage\n" + GOOD.replace("loss", "kl")).parent
    text, found = judged(person, folder)
    assert (found["verdict"], "damaged_record" in kinds(found)) == ("not_trusted", True)
    assert found["specs"][0]["checks"]["selection"]["status"] == "error"
    assert "gate: NOT TRUSTED" in text
    assert "next: an error is about the record" in text


def test_a_torn_line(person):
    """What a killed process wrote last is dropped and noted; the rest is judged."""
    folder = person.write("records/r/1.jsonl", GOOD + '{"metric": "train/lo').parent
    text, found = judged(person, folder)
    assert (found["verdict"], found["coordinates_total"]) == ("trusted", 2)
    assert "record_note" in kinds(found)
    assert "warning: record_note" in text


def test_a_symlink(person):
    """A link is refused and told of, whatever it points at."""
    person.write("elsewhere.jsonl", GOOD)
    folder = person.write("records/r/1.jsonl", GOOD).parent
    (folder / "2.jsonl").symlink_to(person.home / "elsewhere.jsonl")
    _, found = judged(person, folder)
    assert found["coordinates_total"] == 2
    assert any("2.jsonl" in warning["text"] for warning in found["warnings"])


def test_a_fifo(person):
    """A pipe that nobody writes to does not hang the gate."""
    folder = person.write("records/r/1.jsonl", GOOD).parent
    os.mkfifo(folder / "2.jsonl")
    _, found = judged(person, folder)
    assert any("2.jsonl" in warning["text"] for warning in found["warnings"])


def test_binary_and_empty_files(person):
    """Bytes that are no text are garbage, an empty file is nothing."""
    folder = person.write("records/r/1.jsonl", bytes(range(256)) * 20).parent
    person.write("records/r/2.jsonl", "")
    assert judged(person, folder)[1]["verdict"] == "not_trusted"


def test_a_record_that_is_a_file(person):
    """NOT JUDGED with the path, as a missing directory is."""
    person.write("records/file", GOOD)
    text, found = judged(person, person.home / "records" / "file")
    assert (found["verdict"], text.startswith("gate: NOT JUDGED (")) == ("not_judged", True)
    assert "file" in found["reason"]


@pytest.mark.parametrize("name", ["train/other", "train/loss/extra"])
def test_a_metric_that_was_not_logged(person, name):
    """An ERROR that says which metric is missing."""
    folder = person.write("records/r/1.jsonl", GOOD.replace("train/loss", name)).parent
    text, found = judged(person, folder)
    assert found["verdict"] == "not_trusted"
    assert "train/loss" in text

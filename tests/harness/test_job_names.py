"""Files with the names of jobs."""

import json

import pytest

from driftgate.harness.job_names import read_job_names
from gate.errors import ConfigError


def read(tmp_path, content):
    path = tmp_path / "failed"
    path.write_bytes(content)
    return sorted(read_job_names(path, "--failed"))


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (b"", []),
        (b"\n\n", []),
        (b"a\nb\n", ["a", "b"]),
        (b"a\r\nb", ["a", "b"]),
        (b"  gpu (h100, 8gpu) \na\na\n", ["a", "gpu (h100, 8gpu)"]),
        (b'["b", "a", ""]\n', ["a", "b"]),
        (b"[]", []),
        (b"\xef\xbb\xbfa\n", ["a"]),
        ("nächtlich\x85b".encode(), ["nächtlich\x85b"]),
    ],
)
def test_lines_and_json_are_read(tmp_path, content, names):
    """One name a line, or a JSON array; each name once."""
    assert read(tmp_path, content) == names


@pytest.mark.parametrize("pages", [False, True])
def test_githubs_own_answer_is_read(tmp_path, pages):
    """Of its jobs those that neither succeeded nor were skipped; one page, or several."""
    ends = ("success", "failure", "cancelled", "timed_out", "skipped", "neutral", "startup_failure", None)
    page = {"total_count": len(ends), "jobs": [{"name": f"job {end}", "conclusion": end} for end in ends]}
    more = {"jobs": [{"name": "b", "conclusion": "failure"}, {"name": "c", "conclusion": "success"}]}
    failed = ["job None", "job cancelled", "job failure", "job startup_failure", "job timed_out"]
    names = read(tmp_path, json.dumps([page, more] if pages else page).encode())
    assert names == (["b", *failed] if pages else failed)


def test_a_run_without_jobs_failed_none(tmp_path):
    """GitHub's empty list is no mistake."""
    assert read(tmp_path, b'[{"total_count": 0, "jobs": []}]') == []


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[1]", "holds [1]; give a JSON array of names, GitHub's list of the jobs, or one name a line"),
        (b'{"message": "Not Found"}', "holds {'message': 'Not Found'}; give a JSON array"),
        (b'{"jobs": [{"name": 1}]}', "holds {'jobs': [{'name': 1}]}"),
        (b'{"jobs": {"a": 1}}', "holds {'jobs': {'a': 1}}"),
        (b'["a", null]', "holds ['a', None]"),
        (b'["a"', "is not valid JSON"),
        (b"[" * 200_000, "is not valid JSON"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"a" * 1001, "is longer than 1000 characters"),
        (b"a\n" * 9_000_000, "is larger than 16777216 bytes"),
    ],
    ids=range(10),
)
def test_anything_else_is_refused_in_one_line(tmp_path, content, words):
    """It names the option, the file and what to write."""
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, content)
    message = str(caught.value)
    assert message.startswith("--failed: ")
    assert words in message
    assert "\n" not in message
    assert len(message) < 400


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_file_that_cannot_be_read_is_refused(tmp_path, name):
    """A missing file, or a folder."""
    with pytest.raises(ConfigError, match=r"--failed: .* cannot be read"):
        read_job_names(tmp_path / name, "--failed")

"""Files with the names of jobs."""

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


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[1]", "holds [1]; write a JSON array of names, or one name a line"),
        (b'{"jobs": []}', "holds {'jobs': []}; write a JSON array"),
        (b'["a", null]', "holds ['a', None]"),
        (b'["a"', "is not valid JSON"),
        (b"[" * 200_000, "is not valid JSON"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"a" * 1001, "is longer than 1000 characters"),
        (b"a\n" * 600_000, "is larger than 1048576 bytes"),
    ],
    ids=range(8),
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

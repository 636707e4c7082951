"""No file says where it was written or where packages came from."""

import re
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
FORBIDDEN = {
    "address of a package registry": r"index[-_]url|pythonhosted|://pypi|//[\w.-]*registry|find-links",
    "path of one machine": r"/(?:root|work|home/\w+|Users/\w+)/",
    "private key": r"-----BEGIN [A-Z ]*PRIVATE KEY",
}


def _tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    paths = [CHECKOUT / name for name in listed.split("\0") if name]
    return [path for path in paths if path.is_file() and path != Path(__file__)]


@pytest.mark.parametrize("pattern", FORBIDDEN.values(), ids=FORBIDDEN)
def test_no_file_holds(pattern):
    """Nothing in the repository matches."""
    found = [
        f"{path.relative_to(CHECKOUT)}: {match[0]}"
        for path in _tracked()
        for match in re.finditer(pattern, path.read_text(encoding="utf-8", errors="replace"))
    ]
    assert not found


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("address of a package registry", "--extra-index-url https://example.org/simple"),
        ("path of one machine", 'open("/home/somebody/history.db")'),
        ("private key", "-----BEGIN RSA PRIVATE KEY-----"),
    ],
)
def test_the_patterns_find_what_they_are_for(name, text):
    """Each pattern matches an example of its kind."""
    assert re.search(FORBIDDEN[name], text)


def test_constraints_pin_exactly_and_say_nothing_else():
    """Each line is a name, a version and at most a marker."""
    line = re.compile(r"[a-z0-9-]+==[\w.+]+( ; .+)?")
    lines = (CHECKOUT / "constraints.txt").read_text().splitlines()
    assert [text for text in lines if not line.fullmatch(text)] == []

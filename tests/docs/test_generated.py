"""What is generated from the code is what the code says today."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    subprocess.run([sys.executable, CHECKOUT / "docs" / "generate.py", "--into", folder], check=True)
    return folder


@pytest.mark.parametrize("name", ["reference/cli.md", "reference/config.md", "reference/http.md"])
def test_the_reference_is_up_to_date(name, generated):
    """`make docs` would change nothing."""
    assert (generated / name).read_text() == (CHECKOUT / "docs" / name).read_text(), "run `make docs` and commit"


def test_nothing_else_is_generated(generated):
    """The list above names every generated page."""
    assert len([path for path in generated.rglob("*") if path.is_file()]) == 3


def test_the_picture_shows_a_verdict():
    """The picture of the README is well-formed and shows that a passing test was not trusted."""
    root = ET.parse(CHECKOUT / "docs" / "images" / "verdict.svg").getroot()  # noqa: S314 - our own file
    words = "".join(root.itertext()).replace("\xa0", " ")
    assert "test passed" in words
    assert "NOT TRUSTED" in words

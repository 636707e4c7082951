"""The documentation as the reader sees it: pages, and the marked code blocks in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
_BLOCK = re.compile(
    r"^(?P<indent> *)(?:<!-- (?P<mark>[^>]*?) -->\n(?P=indent))?```(?P<language>\w*)\n(?P<text>.*?)^(?P=indent)```$",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Block:
    """A fenced block. ``mark`` is what the comment right above it says: ``run``, ``output``, ``file: NAME`` ..."""

    language: str
    mark: str
    text: str

    @property
    def kind(self) -> str:
        return self.mark.partition(":")[0]

    @property
    def detail(self) -> str:
        return self.mark.partition(":")[2].strip()


def pages() -> list[Path]:
    """Every page of the documentation, as paths relative to the checkout."""
    found = [*CHECKOUT.glob("*.md"), *CHECKOUT.glob("docs/**/*.md")]
    return sorted(path.relative_to(CHECKOUT) for path in found)


def blocks_of(page: Path) -> list[Block]:
    text = (CHECKOUT / page).read_text(encoding="utf-8")
    return [Block(match["language"], match["mark"] or "", _dedented(match)) for match in _BLOCK.finditer(text)]


def _dedented(match: re.Match[str]) -> str:
    """Without the indentation of the fence: a block in a list."""
    return re.sub(f"^{match['indent']}", "", match["text"], flags=re.MULTILINE)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """``page`` is every page; ``story`` every page that has blocks to run."""
    if "page" in metafunc.fixturenames:
        metafunc.parametrize("page", pages(), ids=str)
    if "story" in metafunc.fixturenames:
        stories = [page for page in pages() if any(block.kind in ("run", "file") for block in blocks_of(page))]
        metafunc.parametrize("story", stories, ids=str)


@pytest.fixture
def blocks(request) -> list[Block]:
    """The blocks of this test's page or story."""
    names = request.fixturenames
    return blocks_of(request.getfixturevalue("page" if "page" in names else "story"))

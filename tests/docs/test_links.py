"""Links inside the documentation lead somewhere."""

import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
LINK = re.compile(r"\]\((?!https?:)(?P<target>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")


def _anchors(page):
    """As GitHub makes them from headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _broken(page):
    for match in LINK.finditer((CHECKOUT / page).read_text(encoding="utf-8")):
        target = (CHECKOUT / page).parent / match["target"] if match["target"] else CHECKOUT / page
        if not target.exists() or (match["anchor"] and match["anchor"] not in _anchors(target)):
            yield match[0]


def test_links_of_a_page_lead_to_files_and_headings(page):
    """Every relative link names a file that is there, and a heading in it."""
    assert not list(_broken(page))


def test_every_page_of_docs_can_be_reached_from_the_readme():
    """Following links from README.md finds all of docs/."""
    found, waiting = set(), [CHECKOUT / "README.md"]
    while waiting:
        page = waiting.pop()
        found.add(page)
        targets = [(page.parent / m["target"]).resolve() for m in LINK.finditer(page.read_text(encoding="utf-8"))]
        waiting += [target for target in targets if target.suffix == ".md" and target not in found]
    assert set(CHECKOUT.glob("docs/**/*.md")) <= found

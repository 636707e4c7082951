"""Where the tables are kept: RESULTS.md whole, and the documentation's page between markers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "RESULTS.md"
STATISTICS = HERE.parents[1] / "docs" / "explanation" / "statistics.md"


def fill(page: str, tables: Mapping[str, str]) -> str:
    """``page`` with each ``<!-- measured: NAME -->`` ... ``<!-- end -->`` holding that table. Raises KeyError."""

    def replaced(found: re.Match[str]) -> str:
        return f"{found[1]}\n\n{tables[found[2]]}\n\n{found[3]}"

    return re.sub(r"(<!-- measured: (\w+) -->).*?(<!-- end -->)", replaced, page, flags=re.DOTALL)


def results_page(heading: str, titles: Mapping[str, str], tables: Mapping[str, str]) -> str:
    parts = [f"## {titles[name]}\n\n{text}\n" for name, text in tables.items()]
    return "\n".join([f"# Results of `python -m benchmarks.detection`\n\n{heading}\n", *parts])

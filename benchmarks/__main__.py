"""``make bench``: print the table; with ``--save`` keep it in benchmarks/RESULTS.md."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import collecting, judging, planning, postgres, serving
from benchmarks.measure import as_markdown, machine, progress

RESULTS = Path(__file__).with_name("RESULTS.md")


def main() -> None:
    rows = []
    for part in (collecting, judging, planning, postgres, serving):
        progress(f"measuring: {part.__name__.removeprefix('benchmarks.')} ...")
        rows += part.rows()
    text = f"{machine()}; {datetime.now(UTC):%Y-%m-%d}\n\n{as_markdown(rows)}\n"
    print(text)
    if "--save" in sys.argv[1:]:
        RESULTS.write_text(f"# Results of `make bench`\n\n{text}", encoding="utf-8")
    missed = [row.what for row in rows if row.met is False]
    if missed:
        progress("missed: " + "; ".join(missed))
        raise SystemExit(1)


if __name__ == "__main__":
    main()

"""Writes the generated parts of the documentation: ``python docs/generate.py [--into DIR] [--picture]``.

``make docs`` runs it; a test compares what it would write with what is committed. The picture shows a real run of the
demo, whose numbers differ from run to run, so it is made anew only when asked for.
"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from _generate import cli, config, http, picture

DOCS = Path(__file__).parent


def main() -> None:
    parser = ArgumentParser(description="Write the generated parts of the documentation.")
    parser.add_argument("--into", type=Path, default=DOCS, help="folder to write to, instead of docs/")
    parser.add_argument("--picture", action="store_true", help="run the demo and make the picture of its verdict anew")
    arguments = parser.parse_args()
    pages = {"reference/cli.md": cli.page(), "reference/config.md": config.page(), "reference/http.md": http.page()}
    if arguments.picture:
        pages["images/verdict.svg"] = picture.of_the_demo()
    for name, text in pages.items():
        target = arguments.into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

"""``driftgate init``: a commented configuration and one example test."""

from __future__ import annotations

from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from driftgate.cli.output import print_json, say
from driftgate.cli.session import Session, command
from gate.errors import ConfigError

TEMPLATES = {"driftgate.toml": "driftgate.toml", "tests/e2e/test_driftgate_example.py": "example_test.py"}
"""Where each file goes, and the template it comes from (``driftgate/cli/templates``)."""


@command
def init(
    session: Session,
    *,
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", show_default=False, help="Default: here.")] = Path(),
) -> None:
    """Write a commented driftgate.toml and one example test. Never overwrites a file.

    Example: driftgate init && driftgate run tests/e2e/test_driftgate_example.py --cadence nightly
    """
    existing = [target for target in TEMPLATES if (folder / target).exists()]
    if existing:
        raise ConfigError(f"{folder / existing[0]} exists already; move it away or edit it: nothing was written")
    written = _write_all(folder)
    if session.json:
        print_json({"schema": 1, "written": [str(path) for path in written]})
        return
    for path in written:
        say(f"wrote {path}")
    say(f"try: driftgate run {written[1]} --cadence nightly")


def _write_all(folder: Path) -> list[Path]:
    """All of the files or, where one cannot be written, none."""
    with ExitStack() as undo:
        written = []
        for target, template in TEMPLATES.items():
            written.append(_write(folder / target, template))
            undo.callback(written[-1].unlink, missing_ok=True)
        undo.pop_all()
        return written


def _write(path: Path, template: str) -> Path:
    text = files("driftgate.cli").joinpath("templates", template).read_text(encoding="utf-8")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror}; nothing was written") from error
    return path

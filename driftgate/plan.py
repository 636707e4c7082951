"""``python -m driftgate.plan``: the same as ``driftgate plan``, for a bare CI runner. Standard library only.

Nothing needs to be installed: ``python -I -S driftgate/plan.py`` of a checkout works, too.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    # As a file we are in no package, and `python -m` looks first in the working folder, where a project may have a
    # folder named gate. Once our packages are loaded, their parts are found through them.
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    __import__("driftgate")
    __import__("gate")
    del sys.path[0]

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from driftgate.config.load import load_config
from driftgate.config.model import Config
from driftgate.harness.outcome import JobExit
from driftgate.harness.plan_call import plan_output
from driftgate.harness.plan_json import json_line, problems_json
from driftgate.harness.plan_options import COMMON, OPTIONS, Option, plan_options
from driftgate.streams import print_text, say
from gate.errors import DriftgateError, SourceError

PROGRAM = "python -m driftgate.plan"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the plan. The exit code is 0, or 2 for whatever cannot be planned."""
    given = vars(parser().parse_args(arguments))
    common = {name: given.pop(name) for name in COMMON}
    try:
        print_text(plan_output(plan_options(given, json=common["json"]), _config(common), os.environ))
    except DriftgateError as error:
        if common["json"] and isinstance(error, SourceError):
            print_text(json_line(problems_json(error)))
        for line in str(error).splitlines():
            say(f"driftgate: {line}")
        return JobExit.UNUSABLE
    return JobExit.FINE


def parser() -> argparse.ArgumentParser:
    """Made of the table that ``driftgate plan`` is made of."""
    made = _Parser(prog=PROGRAM, description="Which tests would run where, and why.", allow_abbrev=False)
    for name, option in {**OPTIONS, **COMMON}.items():
        made.add_argument(option.flag, dest=name, help=option.help, **_form(option))
    return made


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(JobExit.UNUSABLE, f"driftgate: {message}; see {PROGRAM} --help\n")


def _form(option: Option) -> Mapping[str, Any]:
    if option.metavar is None:
        return {"action": "store_true"}
    return {"metavar": option.metavar, "action": "append" if option.repeated else "store"}


def _config(common: Mapping[str, Any]) -> Config:
    file = common["config_file"]
    options = {"store.url": common["db"], "project": common["project"]}
    return load_config(file=None if file is None else Path(file), start=Path.cwd(), env=os.environ, options=options)


if __name__ == "__main__":
    sys.exit(main())

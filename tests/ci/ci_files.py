"""The files that CI services read, as data: workflows, the action, the pipeline. Loaded by ``conftest.py``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

CHECKOUT = Path(__file__).parents[2]
ACTION = CHECKOUT / "action.yml"
WORKFLOWS = sorted((CHECKOUT / "examples/github").glob("*.yml"))
GITLAB = CHECKOUT / "examples/gitlab-cpu"
OUR_ACTION = "your-organisation/driftgate@"
_SHELL_WORDS = {"&&", "||", "|", ";", ">", ">>", "<", "<<<", "then", "do", "if", "(", ")"}


def load(path: Path) -> Any:
    """YAML 1.2, in which the key ``on`` is a string."""
    return YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Step:
    """A step and where it stands."""

    where: str
    job: Mapping[str, Any]
    step: Mapping[str, Any]

    @property
    def script(self) -> str:
        return str(self.step.get("run", ""))

    @property
    def uses(self) -> str:
        return str(self.step.get("uses", ""))

    @property
    def inputs(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.step.get("with", {})
        return found


def jobs_of(path: Path) -> dict[str, Any]:
    jobs: dict[str, Any] = load(path)["jobs"]
    return jobs


def steps_of(path: Path) -> Iterator[Step]:
    """The steps of a workflow, or of the action."""
    document = load(path)
    jobs = document.get("jobs") or {"action": document.get("runs", {})}
    for name, job in jobs.items():
        for index, step in enumerate(job.get("steps", ())):
            yield Step(f"{path.name} {name} step {index + 1}", job, step)


@dataclass(frozen=True)
class Call:
    """One call of the command line in a script, as its words."""

    where: str
    command: tuple[str, ...]
    options: tuple[str, ...]


def calls_in(where: str, script: str, commands: Mapping[str, Any]) -> Iterator[Call]:
    """Every ``driftgate COMMAND ... --option`` of a shell script; the commands of ``commands`` may be nested."""
    joined = re.sub(r"\\\n\s*", " ", script)
    for line in (line for line in joined.splitlines() if "driftgate " in line):
        words = shlex.split(line.replace("(", " ( ").replace(")", " ) "), comments=True)
        for index, word in enumerate(words):
            if word == "driftgate" and (index == 0 or words[index - 1] in {*_SHELL_WORDS, "exec"}):
                yield _call(where, _until_end(words[index + 1 :]), commands)


def _until_end(words: list[str]) -> list[str]:
    end = next((index for index, word in enumerate(words) if word in _SHELL_WORDS), len(words))
    return words[:end]


def _call(where: str, words: list[str], commands: Mapping[str, Any]) -> Call:
    command: list[str] = []
    while words and words[0] in commands:
        command.append(words[0])
        commands = commands[words[0]] or {}
        words = words[1:]
    return Call(
        where, tuple(command), tuple(word.partition("=")[0] for word in words if word.startswith("--") and word != "--")
    )

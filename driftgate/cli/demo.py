"""``driftgate demo``: the whole loop on real (tiny) training, in a folder of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from driftgate.cli.output import print_json
from driftgate.cli.session import Session, command
from driftgate.cli.shadowing import distribution_root
from driftgate.harness.outcome import JobExit
from gate.errors import ConfigError, DriftgateError

if TYPE_CHECKING:
    from driftgate.harness.run import TestReport

TEST = Path("examples", "bandit", "test_bandit_ppo.py")
BUG = "DRIFTGATE_DEMO_BUG"
CI_MARKS = ("GITHUB_ACTIONS", "GITLAB_CI", "CI")
CONFIG = """\
# Written by `driftgate demo`; the folder is made anew each time.
[gate]
profile = "balanced"

[store]
url = "sqlite:///history.db"
"""


@command
def demo(
    session: Session,
    *,
    nights: Annotated[
        int, typer.Option("--nights", min=4, max=200, help="Healthy nightly runs before the bug comes in.")
    ] = 8,
    folder: Annotated[Path, typer.Option("--folder", help="Where it works; made anew each time.")] = Path(
        ".driftgate", "demo"
    ),
) -> None:
    """The whole loop on real, tiny training. A policy learns night after night, then with a bug in its trainer.

    Example: driftgate demo
    """
    from gate.report import text_report
    from gate.verdict_json import to_json

    _prepare(folder)
    night = _Nights(folder, quiet=session.json)
    night.say(f"{nights} nightly runs of {TEST}, a policy trained with PPO on this CPU, a new seed each:\n")
    for number in range(1, nights + 1):
        night.run(f"night {number:2}", {})
    night.say("\nThe next commit breaks the trainer a little. The test's own checks still pass:\n")
    report = night.run(f"night {nights + 1:2}", {BUG: "1"})
    night.say("\n" + text_report(report.judgement.verdict))
    night.say(_next_steps(folder, report))
    if session.json:
        print_json(to_json(report.judgement.verdict))
    if report.judgement.verdict.outcome != "not_trusted":
        raise DriftgateError("the demo should have ended with NOT TRUSTED, and did not")
    raise typer.Exit(JobExit.FINE)


def _prepare(folder: Path) -> None:
    """A fresh folder with the example, a configuration and no history."""
    if folder.exists() and not (folder / "driftgate.toml").is_file() and any(folder.iterdir()):
        raise ConfigError(f"{folder} holds something else than a demo; give another --folder")
    try:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(_example(), folder / TEST.parent, ignore=shutil.ignore_patterns("__pycache__"))
        (folder / "driftgate.toml").write_text(CONFIG, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"cannot prepare {folder}: {error.strerror or error}") from error


def _example() -> Path:
    """The example as installed with the package, or in the checkout of an editable install."""
    root = distribution_root()
    candidates = (root / "driftgate" / "_examples" / "bandit", root / TEST.parent)
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    raise ConfigError(f"the example is missing from this installation (looked in {candidates[0]}); install it again")


class _Nights:
    """Runs the test through the harness as a scheduled CI job would, and tells each night in a line."""

    def __init__(self, folder: Path, *, quiet: bool) -> None:
        from driftgate.config.load import load_config

        self._folder = folder
        self._quiet = quiet
        config = load_config(file=folder / "driftgate.toml", start=folder, env={}, options={})
        self._config = replace(config, repository=folder.absolute())  # whatever repository the folder lies in

    def say(self, text: str) -> None:
        if not self._quiet:
            print(text, flush=True)

    def run(self, name: str, switches: Mapping[str, str]) -> TestReport:
        """One night. Raises DriftgateError where the test itself did not pass, naming its log."""
        from driftgate.harness.run import RunRequest, run_files
        from driftgate.harness.trigger import Requests

        log = self._folder / f"{name.replace(' ', '-')}.log"
        environment = {key: value for key, value in os.environ.items() if key not in CI_MARKS} | dict(switches)
        request = RunRequest(
            files=(self._folder / TEST,),
            config=self._config,
            environment=environment,
            requests=Requests(cadence="nightly"),
        )
        with log.open("wb") as output:
            result = run_files(request, partial(_write, output), _Silent())
        if result.interrupted:
            raise KeyboardInterrupt
        (report,) = result.tests
        if not report.passed:
            raise DriftgateError(f"{name}: the test did not pass ({report.attempts[-1].detail}); its output: {log}")
        self.say(f"  {name}: test passed in {report.duration_s:.1f} s; {_short(report)}")
        return report


def _write(file: BinaryIO, data: bytes) -> None:
    file.write(data)


class _Silent:
    """The demo tells its own story."""

    def started(self, *_: object) -> None: ...

    def attempt_started(self, *_: object) -> None: ...

    def attempt_ended(self, *_: object) -> None: ...

    def test_ended(self, *_: object) -> None: ...


def _short(report: TestReport) -> str:
    from gate.outline import headline

    verdict = report.judgement.verdict
    cold = " - a cold start: the baseline is being seeded" if verdict.trusted and not verdict.compared else ""
    return headline(verdict) + cold


def _next_steps(folder: Path, report: TestReport) -> str:
    config = f"--config {folder / 'driftgate.toml'}"
    written = report.judgement.verdict.written
    shown = f"\n  driftgate runs show {written.run_id} {config}" if written else ""
    return f"""\
The test passed, and the gate says NOT TRUSTED: these numbers will not enter the baseline.
The database is {folder / "history.db"}. Look around:
  driftgate baseline {TEST} --metric train/ppo_kl {config}
  driftgate runs list {config}{shown}
Then start with your own test: driftgate init"""
